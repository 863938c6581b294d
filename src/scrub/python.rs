//! Questions about a piece of Python: whether it is a program, whether it does something, which
//! names it lacks. Pure; the parser itself stays with `minrepro_reducers::syntax`. Called by the
//! readers of issues.

use std::collections::BTreeSet;

use minrepro_reducers::syntax::{
    AnyNodeRef, Program,
    ast::{self, Expr, Stmt},
    scope::{BindingKind, ScopeKind},
};

/// The names that no scope binds.
pub(crate) fn unbound(program: &Program) -> BTreeSet<String> {
    program
        .scopes()
        .unbound_names()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The names that the module binds.
pub(crate) fn bound(program: &Program) -> BTreeSet<String> {
    let of_module = program
        .scopes()
        .variables
        .iter()
        .filter(|variable| variable.scope == ScopeKind::Module);
    of_module
        .filter(|variable| {
            variable
                .bindings
                .iter()
                .any(|binding| binding.kind != BindingKind::Weak)
        })
        .map(|variable| variable.name.to_string())
        .collect()
}

/// Whether running a program would do more than define names: it calls, raises, asserts or loops.
pub(crate) fn does_something(program: &Program) -> bool {
    program.body().iter().any(acts)
}

fn acts(stmt: &Stmt) -> bool {
    match stmt {
        // A decorated function only defines a name, too: `@torch.compile` acts once it is called.
        Stmt::FunctionDef(_)
        | Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::ClassDef(_)
        | Stmt::Pass(_)
        | Stmt::Global(_)
        | Stmt::TypeAlias(_) => false,
        Stmt::Expr(stmt) => calls(&stmt.value),
        Stmt::Assign(stmt) => calls(&stmt.value),
        Stmt::AnnAssign(stmt) => stmt.value.as_deref().is_some_and(calls),
        Stmt::If(stmt) => {
            calls(&stmt.test)
                || stmt.body.iter().any(acts)
                || stmt
                    .elif_else_clauses
                    .iter()
                    .any(|clause| clause.body.iter().any(acts))
        }
        Stmt::Try(stmt) => stmt.body.iter().any(acts),
        _ => true,
    }
}

fn calls(expr: &Expr) -> bool {
    /// Unlike the parser's own search it does not enter lambdas, which only define.
    struct CallFinder(bool);
    impl<'a> ast::visitor::Visitor<'a> for CallFinder {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Call(_) | Expr::Await(_) | Expr::Subscript(_));
            if !matches!(expr, Expr::Lambda(_)) {
                ast::visitor::walk_expr(self, expr);
            }
        }
    }
    let mut finder = CallFinder(false);
    ast::visitor::Visitor::visit_expr(&mut finder, expr);
    finder.0
}

/// Whether a text that parses is meant as a program. Printed tensors, numbers and labels parse,
/// too.
pub(crate) fn is_program(program: &Program) -> bool {
    let is_definite = |stmt: &Stmt| match stmt {
        Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::FunctionDef(_)
        | Stmt::ClassDef(_)
        | Stmt::With(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::Try(_)
        | Stmt::Assert(_)
        | Stmt::Raise(_) => true,
        Stmt::Assign(stmt) => calls(&stmt.value),
        Stmt::Expr(stmt) => match &*stmt.value {
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(_) => true,
                Expr::Name(name) => name.id == "print",
                _ => false,
            },
            _ => false,
        },
        _ => false,
    };
    program.body().iter().any(is_definite)
}

/// Whether running a program can show a bug: it does something, or defines tests to call.
pub(crate) fn can_be_run(program: &Program) -> bool {
    does_something(program) || program.body().iter().any(is_test)
}

/// Whether a statement defines a test that takes no arguments.
pub(crate) fn is_test(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::FunctionDef(def) if def.name.as_str().starts_with("test") && def.parameters.is_empty() && !def.is_async)
}

/// Whether a statement is code rather than a word or a value that happens to parse.
pub(crate) fn is_code(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(stmt) => calls(&stmt.value),
        Stmt::AnnAssign(stmt) => stmt.value.is_some(),
        _ => true,
    }
}

/// The size of a text in tokens, estimated by its words if it does not parse.
pub(crate) fn weight(text: &str) -> u32 {
    Program::parse(text).map_or_else(
        |_| text.split_whitespace().count() as u32 * 2,
        |program| program.size().tokens,
    )
}

/// The methods that a subclass of a tensor needs, however small the bug.
const BOILERPLATE: &[&str] = &[
    "__new__",
    "__init__",
    "__torch_dispatch__",
    "__torch_function__",
    "__tensor_flatten__",
    "__tensor_unflatten__",
];

/// The number of lines that a maintainer has to read: those with more than white space, comments,
/// imports and the boilerplate of tensor subclasses.
pub(crate) fn lines_of_code(program: &Program) -> usize {
    use minrepro_reducers::syntax::{Ranged, TokenKind};
    let text = program.text();
    let line_of = |offset: minrepro_reducers::syntax::TextSize| {
        text[..usize::from(offset)].matches('\n').count()
    };
    let mut lines = BTreeSet::new();
    for token in program.tokens() {
        let is_layout = matches!(
            token.kind(),
            TokenKind::Comment
                | TokenKind::Newline
                | TokenKind::NonLogicalNewline
                | TokenKind::Indent
                | TokenKind::Dedent
                | TokenKind::EndOfFile
        );
        if !is_layout {
            lines.extend(line_of(token.range().start())..=line_of(token.range().end()));
        }
    }
    let tree = program.tree();
    for node in &tree.nodes {
        let is_boilerplate = match node.node {
            AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_) => true,
            AnyNodeRef::StmtFunctionDef(def) => {
                let is_of_subclass = node
                    .parent
                    .is_some_and(|at| is_tensor_subclass(tree.nodes[at as usize].node));
                is_of_subclass && BOILERPLATE.contains(&def.name.as_str())
            }
            _ => false,
        };
        if is_boilerplate {
            for line in line_of(node.node.start())..=line_of(node.node.end()) {
                lines.remove(&line);
            }
        }
    }
    lines.len()
}

/// `class A(torch.Tensor):`
fn is_tensor_subclass(node: AnyNodeRef<'_>) -> bool {
    let AnyNodeRef::StmtClassDef(class) = node else {
        return false;
    };
    class.bases().iter().any(|base| match base {
        Expr::Name(name) => name.id == "Tensor",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "Tensor",
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use minrepro_reducers::analysis::names::imported_modules;

    use super::*;

    fn program(text: &str) -> Program {
        Program::parse(text).unwrap()
    }

    #[test]
    fn programs_are_distinguished_from_output() {
        for text in [
            "import torch\n",
            "def f(): pass\n",
            "x = f()\n",
            "torch.ones(3).sum()\n",
            "print(1)\n",
        ] {
            assert!(is_program(&program(text)), "{text}");
        }
        for text in [
            "True\n",
            "tensor([1., 2.])\n",
            "Match: False\n",
            "2.0\n",
            "x\n",
            "(1, 2)\n",
            "a = 3\n",
        ] {
            assert!(!is_program(&program(text)), "{text}");
        }
    }

    #[test]
    fn definitions_alone_do_nothing() {
        for text in [
            "import torch\ndef f(): g()\n",
            "class A: x = f()\n",
            "x = 1\n",
            "@d\ndef f(): pass\n",
            "f = lambda: g()\n",
        ] {
            assert!(!does_something(&program(text)), "{text}");
        }
        for text in [
            "f()\n",
            "x = f()\n",
            "assert x\n",
            "if __name__ == '__main__':\n    main()\n",
            "with a: pass\n",
        ] {
            assert!(does_something(&program(text)), "{text}");
        }
    }

    #[test]
    fn names_imports_and_lines() {
        let text = "# why\nimport torch\nfrom torch import (\n    nn,\n)\n\nx = nn.f(\n    y)\n";
        let program = program(text);
        assert_eq!(unbound(&program), BTreeSet::from(["y".to_owned()]));
        assert_eq!(
            bound(&program),
            BTreeSet::from(["nn", "torch", "x"].map(str::to_owned))
        );
        assert_eq!(
            imported_modules(&program),
            BTreeSet::from(["torch".to_owned()])
        );
        assert_eq!(lines_of_code(&program), 2);
        let subclass = "class A(torch.Tensor):\n    def __new__(cls):\n        return f()\n    def g(self):\n        pass\n";
        assert_eq!(lines_of_code(&Program::parse(subclass).unwrap()), 3);
    }
}
