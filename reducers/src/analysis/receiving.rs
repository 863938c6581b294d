//! What makes a program write down what the functions and methods of packages receive and what they
//! get back from its own, and how processes fail that it starts; which of its operations hand things
//! to packages. Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        calls::OF_NO_MATTER,
        class_statements,
        dependence_check::Operations,
        handed_on::handed_on,
        names::{ImportedNames, imported_modules},
        observation::{Observation, marked},
        own_classes::{OwnClasses, declarations},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, Tree,
        ast::{Expr, ExprName, Stmt, StmtFunctionDef, UnaryOp},
    },
};

/// The names of reading an element, and of storing or deleting one.
pub(super) const SUBSCRIPTS: [&str; 2] = ["[]", "[]="];

/// The name of having elements that are read.
pub(super) const HOLDING: &str = "of []";

/// The name of having elements that are stored.
const GETTING: &str = "of []=";

/// Before and after the name of an attribute of which a package's object is given another value.
pub(super) const SETTING: (&str, &str) = (".", "=");

/// The mark of variables whose truth decides.
pub(super) const TRUTH: &str = "truth of ";

/// The mark of iterators that are used up.
const USED_UP: &str = "used up";

/// The mark of what functions return that others call.
pub(super) const RETURNED: &str = "return of ";

/// The name of functions that have none.
pub(super) const LAMBDA: &str = "lambda";

/// What makes a program write down what calls of others' functions receive, what its functions
/// return that others call, and what comparisons do.
pub fn receiving(program: &Program) -> Observation {
    let tree = program.tree();
    let own = program.defined_names();
    // Packages make their objects.
    let derived = of_packages(program);
    let imported = ImportedNames::of(tree);
    let variables = program.scopes().variables.iter();
    let variables: BTreeSet<&str> = variables.map(|variable| variable.name.as_str()).collect();
    let called_back = called_back(program);
    let read = read_attributes(tree);
    let mut observation = Observation::default();
    if imported_modules(program).contains("subprocess") {
        observation.children(program);
    }
    for (at, node) in tree.nodes.iter().enumerate() {
        // The quotes of a formatted text may not stand in it again.
        let is_in_text = || {
            let mut around = tree.ancestors(at as u32);
            around.any(|around| around.is_expr_f_string())
        };
        if !is_in_text() {
            observe_values(&mut observation, node.node);
        }
        if let Some(asked) = asked(node.node) {
            observation.kind(asked.range, &format!("{TRUTH}{}", asked.id));
        }
        if let AnyNodeRef::ExprSubscript(subscript) = node.node
            && !holds_slice(&subscript.slice)
            && !is_in_text()
        {
            let [reading, storing] = SUBSCRIPTS;
            let (name, holder) = if subscript.ctx.is_load() {
                (reading, HOLDING)
            } else {
                (storing, GETTING)
            };
            observation.index(subscript.slice.range(), name);
            observation.kind(subscript.value.range(), holder);
        }
        if let Some((attribute, value)) = set_up(node.node, &read) {
            let (before, after) = SETTING;
            observation.kind(value.range(), &format!("{before}{attribute}{after}"));
        }
        if let Some((function, value)) = returned(tree, at as u32)
            && called_back.contains(function)
            && !is_in_text()
        {
            observation.index(value.range(), &format!("{RETURNED}{function}"));
        }
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let parent = tree.ancestors(at as u32).next();
        let is_decorator = parent.is_some_and(|parent| parent.is_decorator());
        let (name, is_variable) = match &*call.func {
            Expr::Name(name) => {
                let is_foreign = imported.path(&call.func).is_some();
                (
                    name.id.as_str(),
                    !is_foreign && variables.contains(name.id.as_str()),
                )
            }
            Expr::Attribute(method) => (method.attr.as_str(), false),
            _ => ("", true),
        };
        let is_own = own.contains(name);
        let name = if is_variable && !is_own { "" } else { name };
        let is_of_others = !is_own && !OF_NO_MATTER.contains(&name);
        let is_derived = call.func.is_name_expr() && derived.contains(name);
        if (is_of_others || is_derived) && !is_decorator && !is_in_text() {
            observation.calls_of(call.func.range(), name);
        }
    }
    observation
}

/// The attributes that a program reads.
fn read_attributes<'a>(tree: &Tree<'a>) -> BTreeSet<&'a str> {
    let nodes = tree.nodes.iter();
    let attributes = nodes.filter_map(|node| node.node.as_expr_attribute().copied());
    let read = attributes.filter(|attribute| attribute.ctx.is_load());
    read.map(|attribute| attribute.attr.as_str()).collect()
}

/// The attribute that a statement sets, and what to, unless the program reads it: who sets what it never
/// reads sets up something else.
fn set_up<'a>(node: AnyNodeRef<'a>, read: &BTreeSet<&str>) -> Option<(&'a str, &'a Expr)> {
    let assign = node.as_stmt_assign().copied()?;
    let [Expr::Attribute(target)] = &*assign.targets else {
        return None;
    };
    let name = target.attr.as_str();
    (!read.contains(name)).then_some((name, &*assign.value))
}

/// Writes down what a comparison compares, and whether a loop or a part of a comprehension finds an
/// iterator used up.
fn observe_values(observation: &mut Observation, node: AnyNodeRef<'_>) {
    match node {
        AnyNodeRef::ExprCompare(compare) => {
            observation.operand(compare.left.range(), compare.ops[0].as_str());
            for (operator, side) in compare.ops.iter().zip(&compare.comparators) {
                observation.operand(side.range(), operator.as_str());
            }
        }
        AnyNodeRef::StmtFor(it) if !it.is_async => observation.turns(it.iter.range()),
        AnyNodeRef::Comprehension(it) if !it.is_async => observation.turns(it.iter.range()),
        _ => {}
    }
}

/// Whether a run of a program that writes down what is received found an iterator used up: it had
/// been used before, and gave nothing any more.
pub fn finds_used_up(stderr: &str) -> bool {
    marked(stderr).any(|(name, _)| name == USED_UP)
}

/// The variable whose truth a statement asks for.
fn asked(node: AnyNodeRef<'_>) -> Option<&ExprName> {
    let condition = match node {
        AnyNodeRef::StmtIf(it) => &it.test,
        AnyNodeRef::StmtWhile(it) => &it.test,
        _ => return None,
    };
    match &**condition {
        Expr::UnaryOp(it) if it.op == UnaryOp::Not => it.operand.as_name_expr(),
        asked => asked.as_name_expr(),
    }
}

/// Whether an index is a slice, or a row that holds one or is unpacked: no other expression can hold
/// those.
fn holds_slice(index: &Expr) -> bool {
    let parts = index.as_tuple_expr().map(|row| row.elts.as_slice());
    let mut parts = parts.unwrap_or(std::slice::from_ref(index)).iter();
    parts.any(|part| part.is_slice_expr() || part.is_starred_expr())
}

/// What a node returns if it returns something, with the name of the function that it returns from.
fn returned<'a>(tree: &Tree<'a>, node: u32) -> Option<(&'a str, &'a Expr)> {
    match tree.nodes[node as usize].node {
        AnyNodeRef::StmtReturn(result) => {
            let mut around = tree.ancestors(node);
            let function = around.find_map(|around| around.as_stmt_function_def().copied())?;
            Some((function.name.as_str(), result.value.as_deref()?))
        }
        AnyNodeRef::ExprLambda(lambda) => Some((LAMBDA, &*lambda.body)),
        _ => None,
    }
}

/// The functions of a program that others call and that return something: those that it hands on,
/// and the methods of classes that derive from others'. Who calls one that never does so in the
/// script, since it fails first, shows something else by what another returns.
pub(super) fn returning(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let called_back = called_back(program);
    let nodes = 0..tree.nodes.len() as u32;
    let names = nodes.filter_map(|node| Some(returned(tree, node)?.0));
    names
        .filter(|name| called_back.contains(*name))
        .map(str::to_owned)
        .collect()
}

/// The functions of a program that others may call.
fn called_back(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let classes = OwnClasses::of(program);
    let methods = classes.derived().flat_map(|class| classes.body(class));
    let methods = methods.filter_map(Stmt::as_function_def_stmt);
    // A decorated method may be read where it is not called.
    let plain = methods_of(tree).filter(|method| method.decorator_list.is_empty());
    let plain: BTreeSet<&str> = plain.map(|method| method.name.as_str()).collect();
    let nodes = 0..tree.nodes.len() as u32;
    let bound = nodes.filter_map(|at| {
        let attribute = tree.nodes[at as usize].node.as_expr_attribute()?;
        let is_called = tree.ancestors(at).next().is_some_and(|parent| {
            let call = parent.as_expr_call();
            call.is_some_and(|call| call.func.range() == attribute.range)
        });
        let name = attribute.attr.as_str();
        (!is_called && plain.contains(name)).then_some(name)
    });
    let names = methods.map(|method| method.name.as_str()).chain(bound);
    let names = names.chain([LAMBDA]).map(str::to_owned);
    handed_on(program).into_iter().chain(names).collect()
}

/// The methods of all classes.
fn methods_of<'a>(tree: &'a Tree<'a>) -> impl Iterator<Item = &'a StmtFunctionDef> {
    let nodes = tree.nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def().copied());
    classes
        .flat_map(|class| &class.body)
        .filter_map(Stmt::as_function_def_stmt)
}

/// The operations that make objects of the program's own classes by way of packages, and the calls
/// in the bodies of those classes, which the packages read.
pub fn made_by_packages(program: &Program) -> Operations {
    let names = of_packages(program).into_iter().map(str::to_owned);
    let declared = declarations(program).into_values().flatten();
    let declared = declared.map(|path| path.rsplit('.').next().unwrap_or(&path).to_owned());
    names
        .chain(declared)
        .map(|name| format!("{name}()"))
        .collect()
}

/// The calls by which the program's classes that derive from others' construct their objects: what
/// these hand to their base, it keeps.
pub fn made_by_constructors(program: &Program) -> Operations {
    let classes = OwnClasses::of(program);
    let bodies = classes.derived().flat_map(|class| classes.body(class));
    let constructors = bodies
        .filter_map(Stmt::as_function_def_stmt)
        .filter(|def| matches!(def.name.as_str(), "__init__" | "__new__"));
    let nodes = constructors.flat_map(|def| program.tree().within(def.range));
    let calls = nodes.filter_map(|node| node.as_expr_call().copied());
    let names = calls.filter_map(|call| match &*call.func {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr.id),
        _ => None,
    });
    names.map(|name| format!("{name}()")).collect()
}

/// The classes of a program that derive from others', or that packages make otherwise.
pub(super) fn of_packages(program: &Program) -> BTreeSet<&str> {
    let classes = OwnClasses::of(program);
    let made = class_statements::made_by_packages(program).into_iter();
    let made = made.map(|class| class.name.as_str());
    classes.derived().chain(made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::observation::readable;

    #[test]
    fn calls_of_others_are_observed() {
        let check = |text: &str, expected: &str| {
            let program = Program::parse(text).unwrap();
            let text = receiving(&program).text(&program).unwrap_or_default();
            assert_eq!(readable(&text), expected);
        };
        check(
            "import lib\nlib.f(x.g(1), *y)\n",
            "import lib\nshow(\"call\", \"f\", lib.f)(show(\"call\", \"g\", x.g)(1), *y)\n",
        );
        check(
            "def f(x): pass\nf(1)\ng = f\ng(print(2))(3)\n",
            "def f(x): pass\nf(1)\ng = f\nshow(\"call\", \"\", show(\"call\", \"\", g)(print(2)))(3)\n",
        );
        check(
            "x[1, 2] = y[z]\nx[1:2, 3]\n",
            "show(\"kind\", \"of []=\", (x))[show(\"index\", \"[]=\", (1, 2))] = show(\"kind\", \"of []\", (y))[show(\"index\", \"[]\", (z))]\nx[1:2, 3]\n",
        );
        check(
            "x.a = 1\nx.b = y.b\n",
            "x.a = show(\"kind\", \".a=\", (1))\nx.b = y.b\n",
        );
        check(
            "x\nif not x: y\nwhile x < 1: z\n",
            "x\nif not show(\"kind\", \"truth of x\", (x)): y\nwhile show(\"operand\", \"<\", (x)) < show(\"operand\", \"<\", (1)): z\n",
        );
        check(
            "import B\nclass A(B): pass\nclass C: pass\nA(C())\n",
            "import B\nclass A(B): pass\nclass C: pass\nshow(\"call\", \"A\", A)(C())\n",
        );
        check(
            "@lib.f(1)\ndef g(): return f'{abs(1)}'\ndef h(): return 1\nh()\n",
            "@lib.f(1)\ndef g(): return show(\"index\", \"return of g\", (f'{abs(1)}'))\ndef h(): return 1\nh()\n",
        );
        check(
            "class A:\n    def f(self): return 1\n    def g(self): return 2\nlib.h(A().f, A().g(), lambda: 3)\n",
            "class A:\n    def f(self): return show(\"index\", \"return of f\", (1))\n    def g(self): return 2\nshow(\"call\", \"h\", lib.h)(A().f, A().g(), lambda: show(\"index\", \"return of lambda\", (3)))\n",
        );
    }
}
