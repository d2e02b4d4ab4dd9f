//! Variables of one container, and the expansion that Kubernetes itself does.
//!
//! Lists are given lowest precedence first; an entry replaces an earlier one of the same name. `$(NAME)` in a value is replaced by
//! what stands before it, in a command or argument by the final value; `$$` is a literal `$`; an unknown name stays as it is written.
//! The value of a variable whose name says that it is a secret is never looked at.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use aibom_facts::object::Locator;
use aibom_facts::redact::Redactor;
use aibom_facts::report::Problem;
use aibom_facts::tree::{Kind, NodeId, Tree};

use crate::budget::{Budget, cost};
use crate::dummy;
use crate::maps::FastMap;
use crate::text::{Traced, Unknown, Via};

/// One variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Its value after expansion; unknown as a whole when it is supplied by a reference.
    pub(crate) value: Traced,
    /// Place of the value, the reference, or the entry when it has neither.
    pub(crate) at: Locator,
    /// The name says that it is a secret; `value` is empty then.
    pub(crate) secret: bool,
}

/// A whole map or secret that becomes variables.
#[derive(Clone, Debug)]
pub(crate) struct From {
    pub(crate) why: &'static str,
    pub(crate) at: Locator,
    pub(crate) name: String,
}

/// Most bytes that all expansions of one container may put in; names that come after stay as written.
const MAX_EXPANSION: usize = 4 * 1024 * 1024;

/// The environment of a container.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    /// What the object of the container may still cost.
    pub(crate) budget: Budget,
    spent: Cell<usize>,
    /// The lists of lowest precedence, which containers share: a copy for each of them would be the product of two sizes.
    base: Option<Rc<Env>>,
    variables: Vec<Variable>,
    index: FastMap<String, usize>,
    pub(crate) from: Vec<From>,
    /// Those of its own variables whose literal value says nothing: empty, or a word in place of a key.
    dummies: HashSet<String>,
}

impl Env {
    /// An environment without variables in an object that may still cost so much.
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
    }

    /// An environment that begins with what another one defines itself, if the object may have so many more. The maps and secrets of
    /// the other one (`from`) are not inherited.
    pub(crate) fn on(base: &Rc<Self>) -> Self {
        let shared = base.budget.admits(base.variables.len()).then(|| Rc::clone(base));
        Self { base: shared, ..Self::new(&base.budget) }
    }

    /// Adds the entries of a list, as far as the object may have more.
    pub(crate) fn add_list(&mut self, tree: &Tree, object: u32, list: NodeId, problems: &mut Vec<Problem>) {
        let above = tree.pointer(list);
        let locate = |node| Locator { object, pointer: tree.pointer_in(list, &above, node) };
        if tree.kind(list) != Kind::Array {
            if !tree.is_null(list) {
                problems.push(Problem { at: locate(list), message: "env is not a list; its variables are not read".to_owned() });
            }
            return;
        }
        for entry in tree.items(list) {
            let Some(name) = tree.get(entry, "name").and_then(|node| tree.text(node)).filter(|name| !name.is_empty()) else {
                problems.push(Problem { at: locate(entry), message: "a variable without a name is not read".to_owned() });
                continue;
            };
            if !self.budget.admits(1) {
                continue;
            }
            let secret = Redactor::is_secret_name(name);
            let is_reference = tree.get(entry, "valueFrom").is_some();
            let (value, at) = if let Some(reference) = tree.get(entry, "valueFrom") {
                let (unknown, node) = value_from(tree, object, reference);
                (Traced::unknown_text(format!("$({name})"), unknown), locate(node))
            } else if let Some(node) = tree.get(entry, "value") {
                let at = locate(node);
                let value = if secret { secret_text(name, &at) } else { self.expand(tree.value(node).unwrap_or_default()) };
                (value, at)
            } else {
                (Traced::default(), locate(entry))
            };
            let literal = (!is_reference).then(|| tree.get(entry, "value").and_then(|node| tree.value(node)).unwrap_or_default());
            if literal.is_some_and(|text| self.says_nothing(text)) {
                self.dummies.insert(name.to_owned());
            } else {
                self.dummies.remove(name);
            }
            self.set(Variable { name: name.to_owned(), value, at, secret });
        }
    }

    /// Adds one variable; it replaces an earlier one of its name.
    pub(crate) fn set(&mut self, variable: Variable) {
        self.index.insert(variable.name.clone(), self.variables.len());
        self.variables.push(variable);
    }

    /// Adds an `envFrom` list, or a text that names a secret.
    pub(crate) fn add_from(&mut self, tree: &Tree, object: u32, node: NodeId) {
        let locate = |node| Locator { object, pointer: tree.pointer(node) };
        if let Some(name) = tree.text(node) {
            self.from.push(From { why: "secret", at: locate(node), name: name.to_owned() });
        }
        for entry in tree.items(node) {
            for (key, why) in [("configMapRef", "configmap"), ("secretRef", "secret")] {
                if let Some(reference) = tree.get(entry, key) {
                    let name = tree.get(reference, "name").and_then(|node| tree.text(node)).unwrap_or_default();
                    self.from.push(From { why, at: locate(reference), name: name.to_owned() });
                }
            }
        }
    }

    /// The effective variable of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Variable> {
        match self.index.get(name) {
            Some(index) => Some(&self.variables[*index]),
            None => self.base.as_ref()?.get(name),
        }
    }

    /// Whether a variable is there but its literal value says nothing. This is all that is ever asked about the value of a secret.
    pub(crate) fn is_dummy(&self, name: &str) -> bool {
        match (&self.base, self.index.contains_key(name)) {
            (Some(base), false) => base.is_dummy(name),
            _ => self.dummies.contains(name),
        }
    }

    /// A literal says nothing, or repeats a variable that says nothing.
    fn says_nothing(&self, text: &str) -> bool {
        let repeated = text.trim().strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
        match repeated {
            Some(name) => self.get(name).is_none() || self.is_dummy(name),
            None => dummy::is_dummy(text),
        }
    }

    /// The effective variables, in order of definition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Variable> {
        let base = self.base.iter().flat_map(|base| base.own()).filter(|variable| !self.index.contains_key(&variable.name));
        base.chain(self.own())
    }

    /// Those that it defines itself.
    fn own(&self) -> impl Iterator<Item = &Variable> {
        self.variables
            .iter()
            .enumerate()
            .filter(|(index, variable)| self.index.get(&variable.name) == Some(index))
            .map(|(_, variable)| variable)
    }

    /// The value of a variable with its origin, or why there is none.
    pub(crate) fn value(&self, name: &str) -> Option<Traced> {
        let variable = self.get(name)?;
        Some(variable.value.clone().through(Via { name: variable.name.clone(), at: variable.at.clone() }))
    }

    /// Why a name that no list defines is unknown: a map or secret whose keys become variables, if there is one.
    pub(crate) fn missing(&self, name: &str, at: &Locator) -> Unknown {
        let from = self.from.iter().find(|from| from.why == "configmap").or_else(|| self.from.first());
        match from {
            Some(from) => Unknown { why: from.why, at: from.at.clone(), reference: from.name.clone() },
            None => Unknown { why: "undefined-variable", at: at.clone(), reference: name.to_owned() },
        }
    }

    /// Expands `$(NAME)`. Names that are not defined stay as written, which is what Kubernetes does with them.
    pub(crate) fn expand(&self, text: &str) -> Traced {
        let mut out = Traced::default();
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            out.push(&rest[..dollar]);
            rest = &rest[dollar..];
            if let Some(after) = rest.strip_prefix("$$") {
                out.push("$");
                rest = after;
                continue;
            }
            // Only as far as a name reaches, so that a run of openers is read once.
            let name = rest.strip_prefix("$(").and_then(|inner| {
                let length = inner.bytes().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))?;
                inner[length..].strip_prefix(')').map(|after| (&inner[..length], after))
            });
            let found = name
                .filter(|_| self.spent.get() < MAX_EXPANSION && !self.budget.spent())
                .and_then(|(name, after)| Some((self.value(name)?, after)));
            if let Some((value, after)) = found {
                self.spent.set(self.spent.get() + cost(&value));
                self.budget.spend(cost(&value));
                out.append(&value);
                rest = after;
            } else {
                out.push("$");
                rest = &rest[1..];
            }
        }
        out.push(rest);
        out
    }
}

/// What stands for the value of a variable whose name says that it is a secret.
pub(crate) fn secret_text(name: &str, at: &Locator) -> Traced {
    Traced::unknown_text(format!("$({name})"), Unknown { why: "secret", at: at.clone(), reference: name.to_owned() })
}

/// The reference of a `valueFrom`, and the node that is it.
fn value_from(tree: &Tree, object: u32, node: NodeId) -> (Unknown, NodeId) {
    let text = |node, key: &str| tree.get(node, key).and_then(|node| tree.scalar(node)).unwrap_or_default().to_owned();
    let make = |why, node, reference: String| (Unknown { why, at: Locator { object, pointer: tree.pointer(node) }, reference }, node);
    for (key, why, name) in [
        ("secretKeyRef", "secret", "name"),
        ("configMapKeyRef", "configmap", "name"),
        ("fieldRef", "field", "fieldPath"),
        ("resourceFieldRef", "field", "resource"),
    ] {
        if let Some(reference) = tree.get(node, key) {
            return make(why, reference, text(reference, name));
        }
    }
    make("field", node, String::new())
}

/// `Search__ModelId`, as programs in .NET write it, in the spelling of most variables: `SEARCH_MODEL_ID`.
pub(crate) fn upper_snake(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        if c != '_' || before != '_' {
            out.push(c.to_ascii_uppercase());
        }
        before = c;
    }
    Cow::Owned(out.replace("OPEN_AI", "OPENAI"))
}

#[cfg(test)]
#[path = "env/tests.rs"]
mod tests;
