//! The last filter before text leaves the process.
