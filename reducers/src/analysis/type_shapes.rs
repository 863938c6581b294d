//! What types are composed of, as packages read them in annotations, bases and arguments. Goes by
//! names. Called by the analyses of what packages read.

use crate::{
    analysis::{assignments::assigned_values, names::ImportedNames},
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, Operator},
    },
};

/// Through how many names a type is followed.
const DEPTH: usize = 4;

/// The names that types in a program are made of.
pub(super) struct TypeShapes<'a> {
    pub(super) imported: ImportedNames<'a>,
    program: &'a Program,
}

impl<'a> TypeShapes<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        Self {
            imported: ImportedNames::of(program.tree()),
            program,
        }
    }

    /// What a type is composed of, whatever its variables are called. A name in a text may be one
    /// that nothing binds.
    pub(super) fn shape(&self, of: &Expr) -> String {
        self.followed(of, DEPTH)
    }

    /// The same, through so many names of types that the program gives them.
    fn followed(&self, of: &Expr, depth: usize) -> String {
        if let Some(name) = self.last_name(of) {
            return name;
        }
        match of {
            Expr::Name(name) => {
                let scopes = self.program.scopes();
                let is_bound = scopes.named(&name.id).next().is_some();
                match (is_bound, scopes.is_class(&name.id)) {
                    (true, true) => format!("class {}", name.id),
                    (true, false) => {
                        let values = assigned_values(self.program, &name.id);
                        let values = values.filter(|_| depth > 0).unwrap_or_default();
                        match values.as_slice() {
                            [named] => self.followed(named, depth - 1),
                            _ => "_".to_owned(),
                        }
                    }
                    // One of the language's, or none at all.
                    (false, _) => name.id.to_string(),
                }
            }
            Expr::Subscript(composed) => {
                let parts = match &*composed.slice {
                    Expr::Tuple(parts) => parts.elts.as_slice(),
                    part => std::slice::from_ref(part),
                };
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| self.followed(part, depth))
                    .collect();
                format!(
                    "{}[{}]",
                    self.followed(&composed.value, depth),
                    parts.join(", ")
                )
            }
            Expr::BinOp(union) if union.op == Operator::BitOr => {
                format!(
                    "{} | {}",
                    self.followed(&union.left, depth),
                    self.followed(&union.right, depth)
                )
            }
            Expr::StringLiteral(text) => {
                let parsed = Program::parse(text.value.to_str()).ok();
                let shape = parsed.as_ref().and_then(|parsed| {
                    let mut nodes = parsed.tree().nodes.iter();
                    let of = nodes.find_map(|node| match node.node {
                        AnyNodeRef::StmtExpr(of) => Some(&*of.value),
                        _ => None,
                    })?;
                    // A text in a text is a value, as in `Literal["a"]`.
                    (!of.is_string_literal_expr()).then(|| self.followed(of, depth))
                });
                shape.map_or_else(|| "text".to_owned(), |shape| format!("'{shape}'"))
            }
            Expr::NoneLiteral(_) => "None".to_owned(),
            _ => "_".to_owned(),
        }
    }

    /// The last part of the path of an imported name.
    pub(super) fn last_name(&self, of: &Expr) -> Option<String> {
        let path = self.imported.path(of)?;
        path.rsplit('.')
            .next()
            .map(|last| format!("imported {last}"))
    }
}
