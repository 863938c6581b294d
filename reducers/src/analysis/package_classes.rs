//! What the classes that packages make, or are given, are made of: decorators, bases, types of fields, settings. A
//! package such as pydantic or attrs reads them to decide what its objects do. A class may lose a
//! field, but a field of another type, or a class that is not decorated, is another class to the
//! package. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        class_statements::known_to_packages, own_classes::OwnClasses, type_shapes::TypeShapes,
    },
    syntax::{
        Program, Ranged,
        ast::{Expr, Number, Stmt, StmtClassDef},
    },
};

/// What a package reads of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageClass {
    /// The last names of the imported decorators, each also with one of its keywords.
    decorators: BTreeSet<String>,
    /// The types among the bases that are composed of others.
    bases: BTreeSet<String>,
    /// The bases that come from packages, those of the program's own bases too.
    ancestors: BTreeSet<String>,
    /// The types of each field.
    fields: BTreeMap<String, BTreeSet<String>>,
    /// What is assigned in it, and in the classes within it, without a type.
    assigned: BTreeSet<String>,
    /// Those of them and of its keywords that are constants, each with whether it is true, and what
    /// the classes within it derive from.
    settings: BTreeSet<(String, bool)>,
    /// The keywords that switch something on or off in the calls that give fields their values.
    switches: BTreeMap<String, BTreeSet<String>>,
}

impl PackageClass {
    /// Adds the keywords of a field that are true, false or nothing.
    fn add_switches(&mut self, field: &str, value: Option<&Expr>) {
        if let Some(call) = value.and_then(Expr::as_call_expr) {
            let keywords = call.arguments.keywords.iter();
            let switches = keywords.filter_map(|keyword| {
                let is_on = keyword.value.as_boolean_literal_expr()?.value;
                Some(format!("{}={is_on}", keyword.arg.as_ref()?))
            });
            let of_field = self.switches.entry(field.to_owned()).or_default();
            of_field.extend(switches);
        }
    }
}

/// Classes that packages make or are given, by name.
pub type PackageClasses = BTreeMap<String, PackageClass>;

/// The classes of a program that packages make or are given.
pub fn package_classes(program: &Program) -> PackageClasses {
    let known = known_to_packages(program);
    let mut found = PackageClasses::new();
    if !known.is_empty() {
        let reader = ClassReader::of(program);
        let nodes = program.tree().nodes.iter();
        let classes = nodes.filter_map(|node| node.node.as_stmt_class_def().copied());
        for class in classes.filter(|class| known.contains(class.name.as_str())) {
            reader.add(class, &mut found);
        }
    }
    found
}

/// Whether those classes that a candidate still has are to packages what they were.
pub fn are_made_alike(known: &PackageClasses, candidate: &Program) -> bool {
    if known.is_empty() {
        return true;
    }
    let reader = ClassReader::of(candidate);
    let nodes = candidate.tree().nodes.iter();
    let mut its = PackageClasses::new();
    for class in nodes.filter_map(|node| node.node.as_stmt_class_def().copied()) {
        reader.add(class, &mut its);
    }
    its.iter().all(|(name, its)| {
        known.get(name).is_none_or(|known| {
            let mut fields = its.fields.iter();
            let is_plain =
                |field: &String| !its.fields.contains_key(field) && its.assigned.contains(field);
            known.decorators.is_subset(&its.decorators)
                && its.bases.is_subset(&known.bases)
                // It may be a class of the program's own, but not one of another kind.
                && (its.ancestors.is_empty() || known.ancestors.is_subset(&its.ancestors))
                && known.settings.is_subset(&its.settings)
                && its.switches.iter().all(|(field, switches)| {
                    let known = known.switches.get(field);
                    known.is_none_or(|known| known.is_subset(switches))
                })
                && !known.fields.keys().any(is_plain)
                && fields.all(|(field, types)| {
                    let known = known.fields.get(field);
                    known.is_none_or(|known| types.is_subset(known))
                })
        })
    })
}

/// What packages read of the classes of a program.
struct ClassReader<'a> {
    types: TypeShapes<'a>,
    classes: OwnClasses<'a>,
    program: &'a Program,
}

impl<'a> ClassReader<'a> {
    fn of(program: &'a Program) -> Self {
        Self {
            types: TypeShapes::of(program),
            classes: OwnClasses::of(program),
            program,
        }
    }

    fn add(&self, class: &StmtClassDef, found: &mut PackageClasses) {
        let of_class = found.entry(class.name.to_string()).or_default();
        for decorator in &class.decorator_list {
            of_class
                .decorators
                .extend(self.decorator(&decorator.expression));
        }
        let lineage = self.classes.with_bases(&class.name).into_iter();
        let bases = lineage.flat_map(StmtClassDef::bases);
        let bases = bases.filter(|base| self.types.imported.is_of_installed(base));
        of_class
            .ancestors
            .extend(bases.filter_map(|base| self.types.last_name(base)));
        let keywords = class.keywords().iter();
        let switches = keywords.filter_map(|keyword| {
            let name = format!("{}=", keyword.arg.as_ref()?);
            Some((name, is_true(&keyword.value)?))
        });
        of_class.settings.extend(switches);
        self.add_assigned(&class.body, "", of_class);
        let composed = class.bases().iter().filter(|base| base.is_subscript_expr());
        of_class
            .bases
            .extend(composed.map(|base| self.types.shape(base)));
        for field in class.body.iter().filter_map(Stmt::as_ann_assign_stmt) {
            if let Some(name) = field.target.as_name_expr() {
                let types = of_class.fields.entry(name.id.to_string()).or_default();
                types.insert(self.types.shape(&field.annotation));
                of_class.add_switches(&name.id, field.value.as_deref());
            }
        }
    }

    /// A decorator by its last name, and by that with each of its keywords.
    fn decorator(&self, of: &Expr) -> Vec<String> {
        let call = of.as_call_expr();
        let Some(name) = self.types.last_name(call.map_or(of, |call| &call.func)) else {
            return Vec::new();
        };
        let keywords = call.map_or(&[][..], |call| &call.arguments.keywords);
        let keywords = keywords.iter().map(|keyword| {
            let value = &keyword.value;
            let value = if value.is_literal_expr() {
                self.program.slice(value.range())
            } else {
                "_"
            };
            let keyword = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            format!("{name}({keyword}={value})")
        });
        keywords.chain([name.clone()]).collect()
    }

    /// Adds what a class, or one within it, assigns without a type.
    fn add_assigned(&self, body: &[Stmt], lead: &str, found: &mut PackageClass) {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => {
                    let names = assign.targets.iter().filter_map(Expr::as_name_expr);
                    for name in names {
                        let name = format!("{lead}{}", name.id);
                        if let Some(is_true) = is_true(&assign.value) {
                            found.settings.insert((name.clone(), is_true));
                        }
                        found.add_switches(&name, Some(&assign.value));
                        found.assigned.insert(name);
                    }
                }
                Stmt::ClassDef(within) => {
                    for base in within.bases() {
                        let base = self.types.shape(base);
                        let inherits = format!("{lead}{}({base})", within.name);
                        found.settings.insert((inherits, true));
                    }
                    let lead = format!("{lead}{}.", within.name);
                    self.add_assigned(&within.body, &lead, found);
                }
                _ => {}
            }
        }
    }
}

/// Whether a constant is true.
fn is_true(value: &Expr) -> Option<bool> {
    match value {
        Expr::BooleanLiteral(it) => Some(it.value),
        Expr::NoneLiteral(_) => Some(false),
        Expr::StringLiteral(it) => Some(!it.value.is_empty()),
        Expr::NumberLiteral(it) => match &it.value {
            Number::Int(number) => Some(number.as_u64() != Some(0)),
            Number::Float(number) => Some(*number != 0.0),
            Number::Complex { .. } => Some(true),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "from typing import Generic, List, Optional, TypeVar\nimport attrs\nfrom lib import Model\n\
        T = TypeVar('T')\nclass B: pass\n\
        @attrs.define\nclass A:\n    x: 'List[B]'\n    y: Optional[T] = None\n    z: B | None\n\
        class C(Model, Generic[T]):\n    a: A\n";
    const SETTINGS: &str = "import lib\nclass Base(lib.Model, lib.AsData): pass\n\
        class A(Base, frozen=True):\n    x: int = lib.column()\n    class Config(Base.Config):\n        sort = True\n        size = 2\n\
        @lib.define(slots=False, order=f())\nclass B: pass\n";

    fn keeps(candidate: &str) -> bool {
        keep(SCRIPT, candidate)
    }

    fn keep(script: &str, candidate: &str) -> bool {
        let known = package_classes(&Program::parse(script).unwrap());
        are_made_alike(&known, &Program::parse(candidate).unwrap())
    }

    #[test]
    fn classes_of_packages_keep_their_settings() {
        for (from, to, expected) in [
            ("lib.Model, lib.AsData", "lib.AsData, lib.Model", true),
            ("lib.Model, lib.AsData", "lib.Model", false),
            ("lib.Model, lib.AsData", "", true),
            ("class A(Base,", "class A(lib.Model,", false),
            ("class A(Base,", "class A(lib.Model, lib.AsData,", true),
            ("x: int = lib", "x = lib", false),
            ("    x: int = lib.column()\n", "", true),
            ("        sort = True\n", "", false),
            ("sort = True", "sort = False", false),
            ("(Base.Config)", "", false),
            (", frozen=True", "", false),
            ("size = 2", "size = 1", true),
            ("size = 2", "size = 0", false),
            ("slots=False, ", "", false),
            ("slots=False", "slots=True", false),
            ("f()", "g()", true),
            ("lib.column()", "lib.column(key=False)", true),
        ] {
            let candidate = SETTINGS.replace(from, to);
            assert_ne!(candidate, SETTINGS);
            assert_eq!(keep(SETTINGS, &candidate), expected, "{from:?} to {to:?}");
        }
        let keys = SETTINGS.replace("lib.column()", "lib.column(key=True, size=3)");
        assert!(keep(&keys, &keys.replace(", size=3", "")));
        assert!(keep(
            &keys,
            &keys.replace("    x: int = lib.column(key=True, size=3)\n", "")
        ));
        assert!(!keep(&keys, &keys.replace("key=True, ", "")));
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
