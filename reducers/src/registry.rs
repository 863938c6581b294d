//! The ordered list of passes. A new pass is one file, the `mod` line of its room, and one line
//! here.

use crate::{
    pass::{Pass, Stage},
    passes::{python, torch, trace},
};

/// All passes, in the order in which they run.
pub static PASSES: &[&Pass] = &[
    &torch::lower_backends::LOWER_BACKENDS,
    &torch::use_cpu::USE_CPU,
    &torch::leave_distributed::LEAVE_DISTRIBUTED,
    &torch::scale_dimensions::SCALE_DIMENSIONS,
    &trace::extract_failure::EXTRACT_FAILURE,
    &trace::extract_operation::EXTRACT_OPERATION,
    &trace::extract_backward::EXTRACT_BACKWARD,
    &trace::extract_compiled::EXTRACT_COMPILED,
    &trace::extract_comparison::EXTRACT_COMPARISON,
    &trace::extract_submodule_call::EXTRACT_SUBMODULE_CALL,
    &trace::keep_slice::KEEP_SLICE,
    &trace::return_at_failure::RETURN_AT_FAILURE,
    &trace::drop_unexecuted::DROP_UNEXECUTED,
    &python::drop_comments::DROP_COMMENTS,
    &python::drop_docstrings::DROP_DOCSTRINGS,
    &python::drop_annotations::DROP_ANNOTATIONS,
    &python::drop_unused_imports::DROP_UNUSED_IMPORTS,
    &python::drop_statements::DROP_STATEMENTS,
    &python::drop_definitions::DROP_DEFINITIONS,
    &torch::return_early::RETURN_EARLY,
    &python::inline_options::INLINE_OPTIONS,
    &python::unwrap_blocks::UNWRAP_BLOCKS,
    &python::drop_clauses::DROP_CLAUSES,
    &python::drop_parameters::DROP_PARAMETERS,
    &python::inline_parameters::INLINE_PARAMETERS,
    &python::inline_wrappers::INLINE_WRAPPERS,
    &python::flatten_dataclasses::FLATTEN_DATACLASSES,
    &python::flatten_methods::FLATTEN_METHODS,
    &python::flatten_classes::FLATTEN_CLASSES,
    &python::drop_type_parameters::DROP_TYPE_PARAMETERS,
    &python::drop_with_items::DROP_WITH_ITEMS,
    &python::drop_async::DROP_ASYNC,
    &torch::drop_submodules::DROP_SUBMODULES,
    &torch::unwrap_calls::UNWRAP_CALLS,
    &python::unroll_loops::UNROLL_LOOPS,
    &python::inline_functions::INLINE_FUNCTIONS,
    &python::inline_generators::INLINE_GENERATORS,
    &python::inline_managers::INLINE_MANAGERS,
    &python::merge_classes::MERGE_CLASSES,
    &python::write_classes::WRITE_CLASSES,
    &python::flatten_instances::FLATTEN_INSTANCES,
    &torch::unwrap_modules::UNWRAP_MODULES,
    &python::replace_expressions::REPLACE_EXPRESSIONS,
    &python::hoist_statements::HOIST_STATEMENTS,
    &python::drop_targets::DROP_TARGETS,
    &python::drop_optional_parts::DROP_OPTIONAL_PARTS,
    &python::drop_decorators::DROP_DECORATORS,
    &python::drop_elements::DROP_ELEMENTS,
    &python::unpack_displays::UNPACK_DISPLAYS,
    &python::drop_arguments::DROP_ARGUMENTS,
    &python::drop_defaults::DROP_DEFAULTS,
    &python::drop_operands::DROP_OPERANDS,
    &python::drop_comprehension_clauses::DROP_COMPREHENSION_CLAUSES,
    &python::drop_patterns::DROP_PATTERNS,
    &python::drop_string_parts::DROP_STRING_PARTS,
    &python::hoist_expressions::HOIST_EXPRESSIONS,
    &python::drop_stars::DROP_STARS,
    &python::inline_variables::INLINE_VARIABLES,
    &python::merge_displays::MERGE_DISPLAYS,
    &python::inline_attributes::INLINE_ATTRIBUTES,
    &python::shrink_literals::SHRINK_LITERALS,
    &torch::plain_tensors::PLAIN_TENSORS,
    &torch::shrink_dimensions::SHRINK_DIMENSIONS,
    &torch::use_float32::USE_FLOAT32,
    &python::flatten_else::FLATTEN_ELSE,
    &python::join_lines::JOIN_LINES,
    &python::wrap_lines::WRAP_LINES,
    &python::drop_punctuation::DROP_PUNCTUATION,
    &python::drop_blank_lines::DROP_BLANK_LINES,
];

/// The pass with a name.
pub fn find(id: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.id == id).copied()
}

/// The passes of a stage.
pub fn of_stage(passes: &[&'static Pass], stage: Stage) -> Vec<&'static Pass> {
    passes
        .iter()
        .filter(|pass| pass.stage == stage)
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_stand_in_the_order_of_their_stages_under_names_of_their_own() {
        assert!(PASSES.is_sorted_by_key(|pass| pass.stage));
        for pass in PASSES {
            assert!(
                std::ptr::eq(find(pass.id).unwrap(), *pass),
                "two passes are named {}",
                pass.id
            );
            assert!(pass.summary().ends_with(['.', ':']), "{}", pass.summary());
        }
    }
}
