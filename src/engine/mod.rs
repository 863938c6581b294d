//! The reduce loop.
