//! The classes that a program makes known to packages, as `sqlite3.register_adapter(Price, str)`
//! does: by statements that do nothing but give a function of a package one of its classes. Who
//! looks such a class up later, or one that derives from it, must find it still. Goes by names.
//! Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{names::ImportedNames, own_classes::OwnClasses},
    syntax::{AnyNodeRef, Program, ast::Expr},
};

/// The classes that functions are given, with those that derive from them, by the path of the
/// function.
pub type Registrations = BTreeMap<String, BTreeSet<String>>;

/// The classes that a program makes known to packages.
pub fn registrations(program: &Program) -> Registrations {
    let classes = OwnClasses::of(program);
    let names = classes_of(program);
    let mut found = Registrations::new();
    for (path, class) in given(program) {
        let derived = names.iter().filter(|name| {
            let mut bases = classes.with_bases(name).into_iter();
            bases.any(|base| base.name.as_str() == class)
        });
        let derived = derived.map(|name| (*name).to_owned());
        found.entry(path).or_default().extend(derived);
    }
    found
}

/// Whether the classes that a candidate still has, or those from which they derive, are known to
/// those to which they are in the script.
pub fn are_registered(known: &Registrations, candidate: &Program) -> bool {
    known.is_empty() || {
        let (given, classes) = (given(candidate), OwnClasses::of(candidate));
        let is_known = |path: &String, class: &str| {
            let bases = classes.with_bases(class);
            given.iter().any(|(to, class)| {
                let mut bases = bases.iter();
                to == path && bases.any(|base| base.name.as_str() == *class)
            })
        };
        let names = classes_of(candidate);
        known.iter().all(|(path, classes)| {
            let mut classes = classes.iter();
            classes.all(|class| !names.contains(class.as_str()) || is_known(path, class))
        })
    }
}

/// The names of the classes that a program defines.
fn classes_of(program: &Program) -> BTreeSet<&str> {
    let nodes = program.tree().nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def());
    classes.map(|class| class.name.as_str()).collect()
}

/// The program's classes that its statements give to imported functions, with the functions' paths.
fn given(program: &Program) -> Vec<(String, &str)> {
    let imported = ImportedNames::of(program.tree());
    let names = classes_of(program);
    let mut found = Vec::new();
    for node in &program.tree().nodes {
        if let AnyNodeRef::StmtExpr(stmt) = node.node
            && let Expr::Call(call) = &*stmt.value
            && let Some(path) = imported.path(&call.func)
        {
            let values = call.arguments.args.iter();
            let named = call.arguments.keywords.iter();
            let values = values.chain(named.map(|keyword| &keyword.value));
            let classes = values.filter_map(|value| Some(value.as_name_expr()?.id.as_str()));
            let classes = classes.filter(|class| names.contains(class));
            found.extend(classes.map(|class| (path.clone(), class)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_stay_known_to_packages() {
        let script = "import lib\nclass A: pass\nclass B(A): pass\nclass C: pass\n\
                      lib.register(A, repr)\nlib.register(C)\nx = lib.f(C)\nlib.g(B())\n";
        let known = registrations(&Program::parse(script).unwrap());
        let keeps = |text: &str| are_registered(&known, &Program::parse(text).unwrap());
        assert!(keeps(script) && keeps("import lib\nlib.g(1)\n"));
        assert!(keeps(
            "from lib import register\nclass B: pass\nregister(B)\nlib.g(B())\n"
        ));
        assert!(!keeps("import lib\nclass B: pass\nlib.g(B())\n"));
        assert!(!keeps("import lib\nclass A: pass\nlib.other(A)\n"));
        assert!(!keeps(&script.replace("B(A)", "B")));
        assert!(!keeps(&script.replace("lib.register(C)\n", "")));
    }
}
