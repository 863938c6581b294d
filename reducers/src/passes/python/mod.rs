//! Passes that know the language alone, one file each.

pub(crate) mod drop_annotations;
pub(crate) mod drop_arguments;
pub(crate) mod drop_async;
pub(crate) mod drop_blank_lines;
pub(crate) mod drop_clauses;
pub(crate) mod drop_comments;
pub(crate) mod drop_comprehension_clauses;
pub(crate) mod drop_decorators;
pub(crate) mod drop_defaults;
pub(crate) mod drop_definitions;
pub(crate) mod drop_docstrings;
pub(crate) mod drop_elements;
pub(crate) mod drop_operands;
pub(crate) mod drop_optional_parts;
pub(crate) mod drop_parameters;
pub(crate) mod drop_patterns;
pub(crate) mod drop_punctuation;
pub(crate) mod drop_stars;
pub(crate) mod drop_statements;
pub(crate) mod drop_string_parts;
pub(crate) mod drop_targets;
pub(crate) mod drop_type_parameters;
pub(crate) mod drop_unused_imports;
pub(crate) mod drop_with_items;
pub(crate) mod flatten_classes;
pub(crate) mod flatten_dataclasses;
pub(crate) mod flatten_else;
pub(crate) mod flatten_instances;
pub(crate) mod flatten_methods;
pub(crate) mod hoist_expressions;
pub(crate) mod hoist_statements;
pub(crate) mod inline_attributes;
pub(crate) mod inline_functions;
pub(crate) mod inline_generators;
pub(crate) mod inline_managers;
pub(crate) mod inline_parameters;
pub(crate) mod inline_variables;
pub(crate) mod inline_wrappers;
pub(crate) mod join_lines;
pub(crate) mod merge_classes;
pub(crate) mod merge_displays;
pub(crate) mod replace_expressions;
pub(crate) mod shrink_literals;
pub(crate) mod unpack_displays;
pub(crate) mod unroll_loops;
pub(crate) mod unwrap_blocks;
pub(crate) mod wrap_lines;
pub(crate) mod write_classes;

/// The longest string, in characters, that is not made shorter: many are names of columns, keys or
/// files, which mean something else when they are shorter, and a reader gains nothing.
const SHORT: usize = 12;
