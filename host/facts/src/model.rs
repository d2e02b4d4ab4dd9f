//! Model references as manifests write them.

use serde::{Deserialize, Serialize};

/// What names a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ModelReference {
    /// A repository on the Hugging Face hub, `owner/name`.
    Hub {
        /// Owner.
        owner: String,
        /// Repository name.
        name: String,
    },
    /// A location with a scheme other than the hub's.
    Uri(String),
    /// A path in a file system.
    Path(String),
    /// A name in another catalogue, or one without owner: `gpt2`, `llama3:8b`, an NGC name.
    Name(String),
}
