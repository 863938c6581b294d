//! Questions about a program: its statements as a tree, the calls in it, which statements depend on
//! which. Goes by names, so every answer is a guess that a candidate run confirms. Knows nothing of
//! PyTorch. Called by passes, the engine and the judge.

pub mod aborted;
pub mod annotated;
pub(crate) mod assignments;
pub mod calls;
pub mod caught;
pub mod class_statements;
pub mod cpython;
pub mod decided_otherwise;
pub mod definite_bindings;
pub mod dependence_check;
pub(crate) mod dependence_graph;
pub mod dependents;
pub mod differing_numbers;
pub mod endless;
pub mod filters;
pub mod handed_on;
pub mod hints;
pub mod keywords;
pub mod library_paths;
pub mod lost_values;
pub mod names;
pub mod namespaces;
pub mod near_keys;
pub mod number_rows;
pub mod observation;
pub mod omissions;
pub mod own_classes;
pub mod own_operators;
pub mod package_classes;
pub mod package_functions;
pub mod polarity;
pub mod preconditions;
pub mod printed;
pub mod producers;
pub mod protocols;
pub mod quoted_lines;
pub mod received;
pub mod receiving;
pub(crate) mod recorded_calls;
pub mod registrations;
pub mod repeated_calls;
pub mod results;
pub mod same_sides;
pub(crate) mod slice;
pub(crate) mod special_names;
pub(crate) mod statement_tree;
pub(crate) mod statements;
pub mod tied_constants;
pub mod truth_tests;
mod type_shapes;
pub mod unchecked;
pub mod watch;
pub mod without_side_effects;

pub use statement_tree::failing;
