//! A module's text as a script outside its package: relative imports become absolute. Called for
//! modules that run under another name than their own.

use crate::{
    rewrite::edit::{Edit, EditSet},
    syntax::{AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind, ast::Stmt},
};

/// The edits by which a module's relative imports become absolute; `package` is the package that
/// they are relative to. An import that leads out of all packages stays.
pub fn absolute_imports(program: &Program, package: &str) -> EditSet {
    let mut edits = EditSet::default();
    for node in &program.tree().nodes {
        let AnyNodeRef::StmtImportFrom(import) = node.node else {
            continue;
        };
        if import.level == 0 {
            continue;
        }
        let mut parents: Vec<&str> = package.split('.').collect();
        let kept = (parents.len() + 1).checked_sub(import.level as usize);
        let Some(kept) = kept.filter(|kept| *kept > 0 && !package.is_empty()) else {
            continue;
        };
        parents.truncate(kept);
        parents.extend(import.module.as_deref());
        let begin = program.token_from(import.range.start());
        let tokens = &program.tokens()[begin..];
        // The ends of blocks before the statement are tokens, too.
        let first = tokens
            .iter()
            .position(|token| token.kind() == TokenKind::From);
        let tokens = &tokens[first.unwrap_or_default()..];
        let Some(end) = tokens
            .iter()
            .position(|token| token.kind() == TokenKind::Import)
        else {
            continue;
        };
        let named = TextRange::new(tokens[1].start(), tokens[end - 1].end());
        // `from.core import x` needs a space where the dot was.
        let is_close = tokens[0].end() == named.start();
        let lead = if is_close { " " } else { "" };
        let tail = if tokens[end].start() == named.end() {
            " "
        } else {
            ""
        };
        edits.edit(Edit::replace(
            named,
            format!("{lead}{}{tail}", parents.join(".")),
        ));
    }
    edits
}

/// The place for statements that must run before all others: after a docstring and imports from
/// `__future__`.
pub fn head(program: &Program) -> TextSize {
    let leads = |(at, statement): &(usize, &Stmt)| match statement {
        Stmt::Expr(text) => *at == 0 && text.value.is_string_literal_expr(),
        Stmt::ImportFrom(import) => import
            .module
            .as_ref()
            .is_some_and(|module| module.as_str() == "__future__"),
        _ => false,
    };
    let statements = program.body().iter().enumerate();
    let last = statements.take_while(leads).last();
    let Some((_, statement)) = last else {
        return program
            .body()
            .first()
            .map_or(TextSize::from(0), |first| line_start(program, first));
    };
    let end = usize::from(statement.range().end());
    let text = program.text();
    let line = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    TextSize::try_from(line).unwrap_or_else(|_| statement.range().end())
}

/// The start of the line of a top-level statement.
fn line_start(program: &Program, statement: &Stmt) -> TextSize {
    let start = usize::from(statement.range().start());
    let line = program.text()[..start].rfind('\n').map_or(0, |at| at + 1);
    TextSize::try_from(line).unwrap_or_else(|_| statement.range().start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(package: &str, text: &str, expected: &str) {
        let program = Program::parse(text).unwrap();
        let result = absolute_imports(&program, package).apply(&program).unwrap();
        assert_eq!(result, expected);
        Program::parse(result).unwrap();
    }

    #[test]
    fn relative_imports_are_named_in_full() {
        check(
            "lib.io",
            "from . import a, b as c\nfrom .core import (\n    x,  # why\n)\nfrom ..base import y\n\
             from .. import z\nimport os\nfrom os import path\n",
            "from lib.io import a, b as c\nfrom lib.io.core import (\n    x,  # why\n)\n\
             from lib.base import y\nfrom lib import z\nimport os\nfrom os import path\n",
        );
        check(
            "lib",
            "def f():\n    from.core import x\n    from . import(y)\n    from .import z\n\
             if f:\n    if f:\n        f\n    from .core import x\nfrom .core import y\n",
            "def f():\n    from lib.core import x\n    from lib import(y)\n    from lib import z\n\
             if f:\n    if f:\n        f\n    from lib.core import x\nfrom lib.core import y\n",
        );
    }

    #[test]
    fn imports_that_lead_out_of_all_packages_stay() {
        check("lib", "from ..x import y\n", "from ..x import y\n");
        check("", "from . import y\n", "from . import y\n");
    }

    #[test]
    fn statements_can_be_put_behind_what_has_to_lead() {
        for (text, rest) in [
            (
                "'''Says.'''\nfrom __future__ import a  # b\nimport os\n",
                "import os\n",
            ),
            ("# why\nimport os\n", "import os\n"),
            ("@d\ndef f(): pass\n", "@d\ndef f(): pass\n"),
            ("'''Says.'''\n", ""),
        ] {
            let program = Program::parse(text).unwrap();
            assert_eq!(&text[usize::from(head(&program))..], rest);
        }
    }
}
