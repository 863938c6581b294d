//! What the classes that packages make are made of: decorators, types of bases and of fields. A
//! package such as pydantic or attrs reads them to decide what its objects do. A class
//! may lose a field, but a field of another type, or a class that is not decorated, is another class
//! to the package. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{class_statements::made_by_packages, names::ImportedNames},
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, Operator, Stmt, StmtClassDef},
    },
};

/// What a package reads of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageClass {
    /// The last names of the imported decorators.
    decorators: BTreeSet<String>,
    /// The types among the bases that are composed of others.
    bases: BTreeSet<String>,
    /// The types of each field.
    fields: BTreeMap<String, BTreeSet<String>>,
}

/// Classes that packages make, by name.
pub type PackageClasses = BTreeMap<String, PackageClass>;

/// The classes of a program that packages make.
pub fn package_classes(program: &Program) -> PackageClasses {
    let types = Types::of(program);
    let mut found = PackageClasses::new();
    for class in made_by_packages(program) {
        types.add(class, &mut found);
    }
    found
}

/// Whether those classes that a candidate still has are to packages what they were.
pub fn are_made_alike(known: &PackageClasses, candidate: &Program) -> bool {
    if known.is_empty() {
        return true;
    }
    let types = Types::of(candidate);
    let nodes = candidate.tree().nodes.iter();
    let mut its = PackageClasses::new();
    for class in nodes.filter_map(|node| node.node.as_stmt_class_def().copied()) {
        types.add(class, &mut its);
    }
    its.iter().all(|(name, its)| {
        known.get(name).is_none_or(|known| {
            let mut fields = its.fields.iter();
            known.decorators.is_subset(&its.decorators)
                && its.bases.is_subset(&known.bases)
                && fields.all(|(field, types)| {
                    let known = known.fields.get(field);
                    known.is_none_or(|known| types.is_subset(known))
                })
        })
    })
}

/// The names that types in a program are made of.
struct Types<'a> {
    imported: ImportedNames<'a>,
    program: &'a Program,
}

impl<'a> Types<'a> {
    fn of(program: &'a Program) -> Self {
        Self {
            imported: ImportedNames::of(program.tree()),
            program,
        }
    }

    fn add(&self, class: &StmtClassDef, found: &mut PackageClasses) {
        let of_class = found.entry(class.name.to_string()).or_default();
        let decorators = class.decorator_list.iter();
        of_class
            .decorators
            .extend(decorators.filter_map(|decorator| {
                let of = &decorator.expression;
                self.last_name(of.as_call_expr().map_or(of, |call| &call.func))
            }));
        let composed = class.bases().iter().filter(|base| base.is_subscript_expr());
        of_class.bases.extend(composed.map(|base| self.shape(base)));
        for field in class.body.iter().filter_map(Stmt::as_ann_assign_stmt) {
            if let Some(name) = field.target.as_name_expr() {
                let types = of_class.fields.entry(name.id.to_string()).or_default();
                types.insert(self.shape(&field.annotation));
            }
        }
    }

    /// What a type is composed of, whatever its variables are called. A name in a text may be one
    /// that nothing binds.
    fn shape(&self, of: &Expr) -> String {
        if let Some(name) = self.last_name(of) {
            return name;
        }
        match of {
            Expr::Name(name) => {
                let scopes = self.program.scopes();
                let is_bound = scopes.named(&name.id).next().is_some();
                match (is_bound, scopes.is_class(&name.id)) {
                    (true, true) => format!("class {}", name.id),
                    (true, false) => "_".to_owned(),
                    // One of the language's, or none at all.
                    (false, _) => name.id.to_string(),
                }
            }
            Expr::Subscript(composed) => {
                let parts = match &*composed.slice {
                    Expr::Tuple(parts) => parts.elts.as_slice(),
                    part => std::slice::from_ref(part),
                };
                let parts: Vec<String> = parts.iter().map(|part| self.shape(part)).collect();
                format!("{}[{}]", self.shape(&composed.value), parts.join(", "))
            }
            Expr::BinOp(union) if union.op == Operator::BitOr => {
                format!("{} | {}", self.shape(&union.left), self.shape(&union.right))
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
                    (!of.is_string_literal_expr()).then(|| self.shape(of))
                });
                shape.map_or_else(|| "text".to_owned(), |shape| format!("'{shape}'"))
            }
            Expr::NoneLiteral(_) => "None".to_owned(),
            _ => "_".to_owned(),
        }
    }

    /// The last part of the path of an imported name.
    fn last_name(&self, of: &Expr) -> Option<String> {
        let path = self.imported.path(of)?;
        path.rsplit('.')
            .next()
            .map(|last| format!("imported {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "from typing import Generic, List, Optional, TypeVar\nimport attrs\nfrom lib import Model\n\
        T = TypeVar('T')\nclass B: pass\n\
        @attrs.define\nclass A:\n    x: 'List[B]'\n    y: Optional[T] = None\n    z: B | None\n\
        class C(Model, Generic[T]):\n    a: A\n";

    fn keeps(candidate: &str) -> bool {
        let known = package_classes(&Program::parse(SCRIPT).unwrap());
        are_made_alike(&known, &Program::parse(candidate).unwrap())
    }

    #[test]
    fn classes_of_packages_keep_their_types() {
        assert!(keeps(SCRIPT) && keeps("x = 1\n"));
        for (from, to, expected) in [
            ("    y: Optional[T] = None\n", "", true),
            ("class B: pass\n", "", false),
            ("import Generic, List, ", "import Generic, ", false),
            ("Optional[T]", "Optional[TypeVar('U')]", true),
            ("Optional[T]", "Optional", false),
            ("Optional[T]", "int", false),
            ("@attrs.define\n", "", false),
            ("@attrs.define\n", "@attrs.define()\n", true),
            ("B | None", "B", false),
            (", Generic[T]", "", true),
            ("Generic[T]", "Generic[T, B]", false),
            ("a: A", "a: B", false),
        ] {
            let candidate = SCRIPT.replace(from, to);
            assert_ne!(candidate, SCRIPT);
            assert_eq!(keeps(&candidate), expected, "{from:?} to {to:?}");
        }
    }
}
