//! Package URLs.
