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

/// A lower bound, but for one byte, of the size of a node's compact JSON: the text in it, and what separates its nodes.
pub(crate) fn measure(tree: &Tree, node: NodeId, steps: &mut Steps) -> Result<usize, OutOfSteps> {
    let mut bytes = 0;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        steps.take(1)?;
        bytes += 1 + tree.scalar(node).map_or(0, str::len);
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

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = r#"{
        "a": {"b": [1, null, {"c": "x", "d/e": {"~": true}}], "": "empty key"},
        "list": [{"name": "one", "v": 1}, {"name": "two"}, {"name": null}, 7, {"v": 2}],
        "null": null
    }"#;

    const PATTERNS: [&str; 14] = [
        "",
        "/a",
        "/a/b/1",
        "/a/b/2/d~1e/~0",
        "/a/",
        "/list/0/name",
        "/list/*/name",
        "/list/*",
        "/*",
        "/*/*",
        "/*/*/*",
        "/null",
        "/list/00",
        "/a/b/4294967296",
    ];

    #[test]
    fn walking_finds_what_the_tree_finds() {
        let tree = Tree::from_json(OBJECT.as_bytes()).unwrap();
        for index in 0..u32::try_from(tree.len()).unwrap() {
            let node = tree.node(index).unwrap();
            for pattern in PATTERNS.into_iter().chain(["no pointer", "/~", "/list/-1", "/list/+1", "/list/-"]) {
                let steps = &mut Steps::new(1_000);
                assert_eq!(resolve(&tree, node, pattern, steps).unwrap(), tree.resolve(node, pattern), "{pattern} from {index}");
                assert_eq!(select(&tree, node, pattern, steps).unwrap(), tree.select(node, pattern, usize::MAX), "{pattern} from {index}");
            }
            for key in ["a", "name", "", "null", "d/e"] {
                let steps = &mut Steps::new(1_000);
                assert_eq!(member(&tree, node, key, steps).unwrap(), tree.member(node, key));
                assert_eq!(get(&tree, node, key, steps).unwrap(), tree.get(node, key));
                assert_eq!(find(&tree, node, "name", "two", steps).unwrap(), tree.find(node, "name", "two"));
            }
            assert!(measure(&tree, node, &mut Steps::new(1_000)).unwrap() <= tree.json(node).len() + 1, "a lower bound, {index}");
        }
    }

    #[test]
    fn the_nearest_place_is_the_longest_prefix_that_resolves() {
        let tree = Tree::from_json(OBJECT.as_bytes()).unwrap();
        let nearest = |pointer| nearest(&tree, pointer, &mut Steps::new(1_000)).unwrap().as_str().to_owned();
        assert_eq!(nearest("/a/b/2/d~1e/~0"), "/a/b/2/d~1e/~0");
        assert_eq!(nearest("/a/b/2/d~1e/none/more"), "/a/b/2/d~1e");
        assert_eq!(nearest("/null/x"), "/null");
        assert_eq!([nearest("/none"), nearest("no pointer")], ["", ""]);
    }

    #[test]
    fn every_node_that_is_touched_is_paid_for() {
        let tree = Tree::from_json(format!("[{}0]", "0,".repeat(99)).as_bytes()).unwrap();
        let cost = |walk: &dyn Fn(&mut Steps)| {
            let mut steps = Steps::new(1_000);
            walk(&mut steps);
            steps.taken()
        };
        assert_eq!(cost(&|steps| assert!(resolve(&tree, tree.root(), "/99", steps).unwrap().is_some())), 100);
        assert_eq!(cost(&|steps| assert_eq!(select(&tree, tree.root(), "/*", steps).unwrap().len(), 100)), 100);
        assert_eq!(cost(&|steps| assert!(find(&tree, tree.root(), "a", "b", steps).unwrap().is_none())), 100);
        assert_eq!(cost(&|steps| assert!(measure(&tree, tree.root(), steps).is_ok())), 101);
        let short = &mut Steps::new(50);
        assert_eq!(resolve(&tree, tree.root(), "/99", short), Err(OutOfSteps));
        assert_eq!(short.take(1), Err(OutOfSteps), "what is used up stays used up");
    }
}
