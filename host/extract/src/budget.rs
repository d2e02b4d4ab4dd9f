//! What one object may cost: the work of putting variables in, and the variables that its containers have.
//!
//! Each script and each container has a bound of its own too; an object can have thousands of them.

use std::cell::Cell;
use std::rc::Rc;

use crate::text::Traced;

/// Most work that all expansions in one object do: bytes put in, with [`cost`] for the pieces.
const MAX_WORK: usize = 16 * 1024 * 1024;
/// Most variables that all containers of one object have together, inherited ones counted at each container.
const MAX_VARIABLES: usize = 200_000;
/// Most words of commands and arguments that all containers of one object have together. Each is kept with its place, at some 150 bytes,
/// and an object of etcd has room for 400,000 of them.
const MAX_WORDS: usize = 20_000;

/// What putting in a piece costs beyond its bytes, and what each of its marks costs.
const PIECE: usize = 16;

/// The work of putting in a text: its bytes, the piece as such and its marks, so that a list of empty texts ends too.
pub(crate) fn cost(text: &Traced) -> usize {
    text.text.len() + PIECE * (1 + text.marks.len())
}

/// What is left for one object. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Rc<Left>);

#[derive(Debug)]
struct Left {
    work: Cell<usize>,
    variables: Cell<usize>,
    dropped: Cell<usize>,
    words: Cell<usize>,
    unread: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self(Rc::new(Left {
            work: Cell::new(MAX_WORK),
            variables: Cell::new(MAX_VARIABLES),
            dropped: Cell::new(0),
            words: Cell::new(MAX_WORDS),
            unread: Cell::new(0),
        }))
    }
}

impl Budget {
    /// Takes work off; what is asked for last may go over the bound.
    pub(crate) fn spend(&self, work: usize) {
        self.0.work.set(self.0.work.get().saturating_sub(work));
    }

    /// No work is left.
    pub(crate) fn spent(&self) -> bool {
        self.0.work.get() == 0
    }

    /// Whether there is room for so many more variables; they are counted as left out when there is not.
    pub(crate) fn admits(&self, variables: usize) -> bool {
        if let Some(left) = self.0.variables.get().checked_sub(variables) {
            self.0.variables.set(left);
            return true;
        }
        self.0.dropped.set(self.0.dropped.get() + variables);
        false
    }

    /// Whether there is room for one more word; it is counted as left out when there is not.
    pub(crate) fn admits_word(&self) -> bool {
        if let Some(left) = self.0.words.get().checked_sub(1) {
            self.0.words.set(left);
            return true;
        }
        self.0.unread.set(self.0.unread.get() + 1);
        false
    }

    /// What was left out, in sentences.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let dropped = self.0.dropped.get();
        let variables = (dropped > 0).then(|| {
            format!(
                "the containers have more than {MAX_VARIABLES} variables together; {dropped} of them, inherited ones included, are not read"
            )
        });
        let unread = self.0.unread.get();
        let words = (unread > 0)
            .then(|| format!("the containers have more than {MAX_WORDS} words of commands and arguments together; {unread} are not read"));
        let work = self
            .spent()
            .then(|| "putting variables in makes more text than is read; names and scripts behind that are not expanded".to_owned());
        variables.into_iter().chain(words).chain(work).collect()
    }
}
