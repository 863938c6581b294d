//! The ordered list of passes. Adding a pass is its file and one line here.

use crate::{
    pass::{Pass, Stage},
    passes::{
        python::{
            drop_annotations::DROP_ANNOTATIONS, drop_arguments::DROP_ARGUMENTS,
            drop_async::DROP_ASYNC, drop_blank_lines::DROP_BLANK_LINES, drop_clauses::DROP_CLAUSES,
            drop_comments::DROP_COMMENTS, drop_comprehension_clauses::DROP_COMPREHENSION_CLAUSES,
            drop_decorators::DROP_DECORATORS, drop_defaults::DROP_DEFAULTS,
            drop_definitions::DROP_DEFINITIONS, drop_docstrings::DROP_DOCSTRINGS,
            drop_elements::DROP_ELEMENTS, drop_operands::DROP_OPERANDS,
            drop_optional_parts::DROP_OPTIONAL_PARTS, drop_parameters::DROP_PARAMETERS,
            drop_patterns::DROP_PATTERNS, drop_punctuation::DROP_PUNCTUATION,
            drop_stars::DROP_STARS, drop_statements::DROP_STATEMENTS,
            drop_string_parts::DROP_STRING_PARTS, drop_targets::DROP_TARGETS,
            drop_type_parameters::DROP_TYPE_PARAMETERS, drop_unused_imports::DROP_UNUSED_IMPORTS,
            drop_with_items::DROP_WITH_ITEMS, flatten_classes::FLATTEN_CLASSES,
            flatten_dataclasses::FLATTEN_DATACLASSES, flatten_else::FLATTEN_ELSE,
            flatten_instances::FLATTEN_INSTANCES, flatten_methods::FLATTEN_METHODS,
            hoist_expressions::HOIST_EXPRESSIONS, hoist_statements::HOIST_STATEMENTS,
            inline_attributes::INLINE_ATTRIBUTES, inline_functions::INLINE_FUNCTIONS,
            inline_generators::INLINE_GENERATORS, inline_parameters::INLINE_PARAMETERS,
            inline_variables::INLINE_VARIABLES, inline_wrappers::INLINE_WRAPPERS,
            join_lines::JOIN_LINES, merge_classes::MERGE_CLASSES, merge_displays::MERGE_DISPLAYS,
            replace_expressions::REPLACE_EXPRESSIONS, return_early::RETURN_EARLY,
            shrink_literals::SHRINK_LITERALS, unpack_displays::UNPACK_DISPLAYS,
            unroll_loops::UNROLL_LOOPS, unwrap_blocks::UNWRAP_BLOCKS, write_classes::WRITE_CLASSES,
        },
        torch::{
            drop_submodules::DROP_SUBMODULES, leave_distributed::LEAVE_DISTRIBUTED,
            lower_backends::LOWER_BACKENDS, plain_tensors::PLAIN_TENSORS,
            scale_dimensions::SCALE_DIMENSIONS, shrink_dimensions::SHRINK_DIMENSIONS,
            unwrap_calls::UNWRAP_CALLS, unwrap_modules::UNWRAP_MODULES, use_cpu::USE_CPU,
            use_float32::USE_FLOAT32,
        },
        trace::{
            descend_into_modules::DESCEND_INTO_MODULES, drop_unexecuted::DROP_UNEXECUTED,
            jump_into_compiled::JUMP_INTO_COMPILED, jump_to_backward::JUMP_TO_BACKWARD,
            jump_to_comparison::JUMP_TO_COMPARISON, jump_to_failure::JUMP_TO_FAILURE,
            jump_to_operation::JUMP_TO_OPERATION, keep_slice::KEEP_SLICE,
        },
    },
};

/// All passes, in the order in which they come to their turn.
pub static PASSES: &[&Pass] = &[
    &LOWER_BACKENDS,
    &USE_CPU,
    &LEAVE_DISTRIBUTED,
    &SCALE_DIMENSIONS,
    &JUMP_TO_FAILURE,
    &JUMP_TO_OPERATION,
    &JUMP_TO_BACKWARD,
    &JUMP_INTO_COMPILED,
    &JUMP_TO_COMPARISON,
    &DESCEND_INTO_MODULES,
    &KEEP_SLICE,
    &DROP_UNEXECUTED,
    &DROP_COMMENTS,
    &DROP_DOCSTRINGS,
    &DROP_ANNOTATIONS,
    &DROP_UNUSED_IMPORTS,
    &DROP_STATEMENTS,
    &DROP_DEFINITIONS,
    &RETURN_EARLY,
    &UNWRAP_BLOCKS,
    &DROP_CLAUSES,
    &DROP_PARAMETERS,
    &INLINE_PARAMETERS,
    &INLINE_WRAPPERS,
    &FLATTEN_DATACLASSES,
    &FLATTEN_METHODS,
    &FLATTEN_CLASSES,
    &DROP_TYPE_PARAMETERS,
    &DROP_WITH_ITEMS,
    &DROP_ASYNC,
    &DROP_SUBMODULES,
    &UNWRAP_CALLS,
    &UNROLL_LOOPS,
    &INLINE_FUNCTIONS,
    &INLINE_GENERATORS,
    &MERGE_CLASSES,
    &WRITE_CLASSES,
    &FLATTEN_INSTANCES,
    &UNWRAP_MODULES,
    &REPLACE_EXPRESSIONS,
    &HOIST_STATEMENTS,
    &DROP_TARGETS,
    &DROP_OPTIONAL_PARTS,
    &DROP_DECORATORS,
    &DROP_ELEMENTS,
    &UNPACK_DISPLAYS,
    &DROP_ARGUMENTS,
    &DROP_DEFAULTS,
    &DROP_OPERANDS,
    &DROP_COMPREHENSION_CLAUSES,
    &DROP_PATTERNS,
    &DROP_STRING_PARTS,
    &HOIST_EXPRESSIONS,
    &DROP_STARS,
    &INLINE_VARIABLES,
    &MERGE_DISPLAYS,
    &INLINE_ATTRIBUTES,
    &SHRINK_LITERALS,
    &PLAIN_TENSORS,
    &SHRINK_DIMENSIONS,
    &USE_FLOAT32,
    &FLATTEN_ELSE,
    &JOIN_LINES,
    &DROP_PUNCTUATION,
    &DROP_BLANK_LINES,
];

/// The pass of a name.
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
    fn the_readme_lists_them() {
        let rows = PASSES.iter().map(|pass| {
            format!(
                "| `{}` | {} | {} |",
                pass.id,
                pass.stage.name(),
                pass.summary()
            )
        });
        let table: Vec<String> = rows.collect();
        let readme = include_str!("../README.md");
        assert!(
            readme.contains(&table.join("\n")),
            "reducers/README.md wants this table:\n{}",
            table.join("\n")
        );
    }

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
