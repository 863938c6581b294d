//! The reduction passes of minrepro.
