//! `super()` outside its method: with an explicit class and object, which it finds itself only
//! inside. Called by code that moves statements out of methods.

use crate::{
    rewrite::edit::Edit,
    syntax::{
        Program, TextRange,
        ast::{StmtClassDef, StmtFunctionDef},
    },
};

/// Where a part of a program calls `super` without arguments.
pub(crate) fn bare_supers(program: &Program, part: TextRange) -> Vec<TextRange> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    calls
        .filter(|call| call.arguments.is_empty() && part.contains_range(call.range))
        .filter(|call| (call.func.as_name_expr()).is_some_and(|name| name.id == "super"))
        .map(|call| call.range)
        .collect()
}

/// The explicit form of `super()` in a method.
pub(crate) fn explicit_super(class: &StmtClassDef, method: &StmtFunctionDef) -> Option<String> {
    let first = method.parameters.iter_non_variadic_params().next()?;
    Some(format!("super({}, {})", class.name, first.name()))
}

/// The edits that give `super()` its arguments in a part of a method.
pub(crate) fn with_explicit_supers(
    program: &Program,
    class: &StmtClassDef,
    method: &StmtFunctionDef,
    part: TextRange,
) -> Vec<Edit> {
    let Some(text) = explicit_super(class, method) else {
        return Vec::new();
    };
    let ranges = bare_supers(program, part).into_iter();
    ranges
        .map(|range| Edit::replace(range, text.as_str()))
        .collect()
}
