//! Walking an object while counting what is touched.
//!
//! Lists and maps of a [`Tree`] are chains, so the tenth element costs ten steps. Whatever a guest asks for is paid from a budget of
//! [`Steps`]: neither epochs nor fuel see the time that the host spends on a guest's behalf.

use aibom_facts::pointer::Pointer;
use aibom_facts::tree::{Kind, NodeId, Tree};

/// Nodes that may still be touched.
#[derive(Debug)]
pub(crate) struct Steps {
    left: u64,
    taken: u64,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfSteps;

impl Steps {
    pub(crate) fn new(budget: u64) -> Self {
        Self { left: budget, taken: 0 }
    }

    pub(crate) fn take(&mut self, steps: u64) -> Result<(), OutOfSteps> {
        self.taken = self.taken.saturating_add(steps);
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        if left.is_some() { Ok(()) } else { Err(OutOfSteps) }
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }
}

/// Member of an object, `null` ones included.
pub(crate) fn member(tree: &Tree, node: NodeId, key: &str, steps: &mut Steps) -> Result<Option<NodeId>, OutOfSteps> {
    for (name, child) in tree.members(node) {
        steps.take(1)?;
        if name == key {
            return Ok(Some(child));
        }
    }
    Ok(None)
}

/// Member of an object; none for `null`.
pub(crate) fn get(tree: &Tree, node: NodeId, key: &str, steps: &mut Steps) -> Result<Option<NodeId>, OutOfSteps> {
    Ok(member(tree, node, key, steps)?.filter(|child| !tree.is_null(*child)))
}

fn step(tree: &Tree, node: NodeId, token: &str, steps: &mut Steps) -> Result<Option<NodeId>, OutOfSteps> {
    match tree.kind(node) {
        Kind::Object => member(tree, node, token, steps),
        Kind::Array => {
            // RFC 6901: digits without leading zeros.
            let index = if token == "0" {
                0
            } else if token.starts_with(|c: char| matches!(c, '1'..='9')) && token.bytes().all(|b| b.is_ascii_digit()) {
                let Ok(index) = token.parse::<u64>() else { return Ok(None) };
                index
            } else {
                return Ok(None);
            };
            for (at, child) in (0u64..).zip(tree.items(node)) {
                steps.take(1)?;
                if at == index {
                    return Ok(Some(child));
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Descendant by an RFC 6901 pointer, `null` ones included; none when absent or when the text is no pointer.
pub(crate) fn resolve(tree: &Tree, node: NodeId, pointer: &str, steps: &mut Steps) -> Result<Option<NodeId>, OutOfSteps> {
    let Ok(pointer) = Pointer::parse(pointer) else { return Ok(None) };
    let mut current = node;
    for token in pointer.tokens() {
        match step(tree, current, &token, steps)? {
            Some(child) => current = child,
            None => return Ok(None),
        }
    }
    Ok(Some(current))
}

/// The longest prefix of a pointer that resolves.
pub(crate) fn nearest(tree: &Tree, pointer: &str, steps: &mut Steps) -> Result<Pointer, OutOfSteps> {
    let mut found = Pointer::root();
    let mut current = tree.root();
    if let Ok(pointer) = Pointer::parse(pointer) {
        for token in pointer.tokens() {
            let Some(child) = step(tree, current, &token, steps)? else { break };
            current = child;
            found = found.child(&token);
        }
    }
    Ok(found)
}

/// Descendants by a pointer in which `*` stands for every member or element, in object order, without `null` ones.
pub(crate) fn select(tree: &Tree, node: NodeId, pattern: &str, steps: &mut Steps) -> Result<Vec<NodeId>, OutOfSteps> {
    let Ok(pattern) = Pointer::parse(pattern) else { return Ok(Vec::new()) };
    // Level by level: every level keeps the order of the one before, so the result is in object order without recursion.
    let mut level = vec![node];
    for token in pattern.tokens() {
        let mut next = Vec::new();
        for node in level {
            if token == "*" {
                for child in tree.children(node) {
                    steps.take(1)?;
                    next.push(child);
                }
            } else if let Some(child) = step(tree, node, &token, steps)? {
                next.push(child);
            }
        }
        level = next;
    }
    level.retain(|node| !tree.is_null(*node));
    Ok(level)
}

/// First element of a list whose member `key` is the text `value`.
pub(crate) fn find(tree: &Tree, node: NodeId, key: &str, value: &str, steps: &mut Steps) -> Result<Option<NodeId>, OutOfSteps> {
    for item in tree.items(node) {
        steps.take(1)?;
        if let Some(member) = get(tree, item, key, steps)?
            && tree.text(member) == Some(value)
        {
            return Ok(Some(item));
        }
    }
    Ok(None)
}

/// A lower bound of the bytes of a node's compact JSON: the text in it, and two bytes for each node.
pub(crate) fn measure(tree: &Tree, node: NodeId, steps: &mut Steps) -> Result<usize, OutOfSteps> {
    let mut bytes = 0;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        steps.take(1)?;
        bytes += 2 + tree.scalar(node).map_or(0, str::len);
        match tree.kind(node) {
            Kind::Object => {
                for (key, child) in tree.members(node) {
                    bytes += key.len();
                    open.push(child);
                }
            }
            Kind::Array => open.extend(tree.items(node)),
            _ => {}
        }
    }
    Ok(bytes)
}
