//! The ordered list of passes. Adding a pass is its file and one line here.

use crate::{
    pass::{Pass, Stage},
    passes::{
        drop_annotations::DROP_ANNOTATIONS, drop_arguments::DROP_ARGUMENTS,
        drop_blank_lines::DROP_BLANK_LINES, drop_clauses::DROP_CLAUSES, drop_comments::DROP_COMMENTS,
        drop_decorators::DROP_DECORATORS, drop_definitions::DROP_DEFINITIONS,
        drop_docstrings::DROP_DOCSTRINGS, drop_elements::DROP_ELEMENTS, drop_parameters::DROP_PARAMETERS,
        drop_statements::DROP_STATEMENTS, drop_unexecuted::DROP_UNEXECUTED,
        drop_unused_imports::DROP_UNUSED_IMPORTS, hoist_expressions::HOIST_EXPRESSIONS,
        inline_functions::INLINE_FUNCTIONS, inline_variables::INLINE_VARIABLES,
        jump_to_failure::JUMP_TO_FAILURE, keep_slice::KEEP_SLICE, merge_classes::MERGE_CLASSES,
        replace_expressions::REPLACE_EXPRESSIONS, shrink_literals::SHRINK_LITERALS,
        unwrap_blocks::UNWRAP_BLOCKS,
    },
};

/// All passes, in the order in which they come to their turn.
pub static PASSES: &[&Pass] = &[
    &JUMP_TO_FAILURE,
    &KEEP_SLICE,
    &DROP_UNEXECUTED,
    &DROP_COMMENTS,
    &DROP_DOCSTRINGS,
    &DROP_ANNOTATIONS,
    &DROP_UNUSED_IMPORTS,
    &DROP_STATEMENTS,
    &DROP_DEFINITIONS,
    &UNWRAP_BLOCKS,
    &DROP_CLAUSES,
    &DROP_PARAMETERS,
    &INLINE_FUNCTIONS,
    &MERGE_CLASSES,
    &REPLACE_EXPRESSIONS,
    &DROP_DECORATORS,
    &DROP_ELEMENTS,
    &DROP_ARGUMENTS,
    &HOIST_EXPRESSIONS,
    &INLINE_VARIABLES,
    &SHRINK_LITERALS,
    &DROP_BLANK_LINES,
];

/// The pass of a name.
pub fn find(id: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.id == id).copied()
}

/// The passes of a stage.
pub fn of_stage(passes: &[&'static Pass], stage: Stage) -> Vec<&'static Pass> {
    passes.iter().filter(|pass| pass.stage == stage).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_stand_in_the_order_of_their_stages_under_names_of_their_own() {
        assert!(PASSES.is_sorted_by_key(|pass| pass.stage));
        for pass in PASSES {
            assert!(std::ptr::eq(find(pass.id).unwrap(), *pass), "two passes are named {}", pass.id);
            assert!(pass.summary().ends_with(['.', ':']), "{}", pass.summary());
        }
    }
}
