//! One file per pass; [`crate::registry`] puts them in order.

pub(crate) mod drop_annotations;
pub(crate) mod drop_arguments;
pub(crate) mod drop_blank_lines;
pub(crate) mod drop_clauses;
pub(crate) mod drop_comments;
pub(crate) mod drop_decorators;
pub(crate) mod drop_definitions;
pub(crate) mod drop_docstrings;
pub(crate) mod drop_elements;
pub(crate) mod drop_parameters;
pub(crate) mod drop_statements;
pub(crate) mod drop_unexecuted;
pub(crate) mod drop_unused_imports;
pub(crate) mod hoist_expressions;
pub(crate) mod inline_functions;
pub(crate) mod inline_variables;
pub(crate) mod jump_to_failure;
pub(crate) mod keep_slice;
pub(crate) mod merge_classes;
pub(crate) mod replace_expressions;
pub(crate) mod shrink_literals;
pub(crate) mod unwrap_blocks;
