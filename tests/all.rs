//! Whole-program tests; one module per area.

mod engine;
