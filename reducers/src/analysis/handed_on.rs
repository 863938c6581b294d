//! Functions that a program passes on for others to call: to `groupby().apply`, as a hook, as a
//! loss. If nobody calls such a function, the program shows something else. Goes by names. Called
//! by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        names::ImportedNames,
        observation::{Observation, marked},
        own_classes::OwnClasses,
        special_names::{is_of_copying, is_of_library},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Decorator, Expr, ExprName, Stmt, StmtFunctionDef},
    },
};

/// The functions that a program mentions without calling them, and those that it only decorates:
/// who registers them calls them.
pub fn handed_on(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let is_called = |name: &ExprName, parent: Option<u32>| {
        let parent = parent.map(|parent| tree.nodes[parent as usize].node);
        match parent {
            Some(AnyNodeRef::ExprCall(call)) => call.func.range() == name.range,
            Some(AnyNodeRef::Decorator(_)) => true,
            _ => false,
        }
    };
    let mentioned = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprName(name) if name.ctx.is_load() && !is_called(name, node.parent) => {
            Some(name.id.as_str())
        }
        _ => None,
    });
    let mentioned: BTreeSet<&str> = mentioned.collect();
    let named: BTreeSet<&str> = tree
        .nodes
        .iter()
        .filter_map(|node| match node.node {
            AnyNodeRef::ExprName(name) if name.ctx.is_load() => Some(name.id.as_str()),
            AnyNodeRef::ExprAttribute(attribute) => Some(attribute.attr.as_str()),
            _ => None,
        })
        .collect();
    let imported = ImportedNames::of(tree);
    // The program's own decorators are no mystery.
    let is_foreign = |decorator: &Decorator| {
        let of = function_of(decorator);
        of.is_attribute_expr() || imported.path(of).is_some()
    };
    let found = definitions(program).filter(|definition| {
        let name = definition.name.as_str();
        let mut decorators = definition.decorator_list.iter();
        let is_registered = !named.contains(name) && decorators.any(is_foreign);
        mentioned.contains(name) || is_registered
    });
    found
        .map(|definition| definition.name.to_string())
        .collect()
}

/// The methods that only their decorator hands on, of classes that derive from a package's, each
/// with its class: the package calls them whenever it makes or changes an object.
pub fn registered(program: &Program) -> BTreeSet<(String, String)> {
    let handed_on = handed_on(program);
    let classes = OwnClasses::of(program);
    let methods = classes.derived().flat_map(|name| {
        let body = classes.body(name).iter();
        let methods = body.filter_map(move |stmt| Some((name, stmt.as_function_def_stmt()?)));
        methods.filter(|(_, method)| !method.decorator_list.is_empty())
    });
    methods
        .map(|(class, method)| (class.to_owned(), method.name.to_string()))
        .filter(|(_, method)| handed_on.contains(method))
        .collect()
}

/// The special methods that some package or copying looks up, not the language, of the classes that
/// a program uses, with how they are called and whether they give something back: whoever mends the
/// package has it call them.
pub fn looked_up(program: &Program) -> BTreeSet<String> {
    let variables = program.scopes().variables.iter();
    let used: BTreeSet<&str> = variables
        .filter(|variable| !variable.uses.is_empty())
        .map(|variable| variable.name.as_str())
        .collect();
    let tree = program.tree();
    let nodes = tree.nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def().copied());
    let classes = classes.filter(|class| used.contains(class.name.as_str()));
    let methods = classes
        .flat_map(|class| &class.body)
        .filter_map(Stmt::as_function_def_stmt)
        .filter(|method| is_of_library(&method.name) || is_of_copying(&method.name));
    let described = methods.map(|method| {
        let mut returned = tree.within(method.range);
        let gives = returned
            .any(|node| matches!(node, AnyNodeRef::StmtReturn(given) if given.value.is_some()));
        let (name, count) = (&method.name, method.parameters.len());
        format!("{name}, {count} parameters, gives something: {gives}")
    });
    described.collect()
}

/// The imported decorators of functions that a program hands on, by the names of both: a function
/// without one is another to whoever it is handed.
pub fn decorated(program: &Program) -> BTreeSet<(String, String)> {
    let handed_on = handed_on(program);
    decorators_of(program, |function| handed_on.contains(&*function.name))
}

/// The imported decorators of the innermost functions around some lines, by the names of both.
pub fn decorated_around(program: &Program, lines: &[u32]) -> BTreeSet<(String, String)> {
    let spans = |function: &StmtFunctionDef, line: u32| {
        let [first, last] = [function.range.start(), function.range.end()];
        (program.line_of(first)..=program.line_of(last)).contains(&line)
    };
    // Of the functions around a line, the innermost begins last.
    let around = |line: &u32| {
        let around = definitions(program).filter(|function| spans(function, *line));
        around.map(|function| function.range.start()).max()
    };
    let starts: BTreeSet<_> = lines.iter().filter_map(around).collect();
    decorators_of(program, |function| starts.contains(&function.range.start()))
}

/// Whether the functions of these names that a candidate defines are still decorated.
pub fn keep_decorators(known: &BTreeSet<(String, String)>, candidate: &Program) -> bool {
    known.is_empty() || {
        let its = decorators_of(candidate, |_| true);
        let names: BTreeSet<&str> = definitions(candidate).map(|def| &*def.name).collect();
        let mut known = known.iter();
        known.all(|pair| !names.contains(&*pair.0) || its.contains(pair))
    }
}

fn decorators_of(
    program: &Program,
    of: impl Fn(&StmtFunctionDef) -> bool,
) -> BTreeSet<(String, String)> {
    let imported = ImportedNames::of(program.tree());
    let found = definitions(program).filter(|function| of(function));
    let pairs = found.flat_map(|function| {
        let decorators = function.decorator_list.iter();
        let paths = decorators.filter_map(|decorator| imported.path(function_of(decorator)));
        let name = function.name.to_string();
        let named = move |path: String| {
            let last = path.rsplit('.').next().unwrap_or(&path);
            (name.clone(), last.to_owned())
        };
        paths.map(named).collect::<Vec<_>>()
    });
    pairs.collect()
}

/// The function that decorates, or makes what decorates.
fn function_of(decorator: &Decorator) -> &Expr {
    match &decorator.expression {
        Expr::Call(call) => &call.func,
        function => function,
    }
}

/// Whether the functions that a candidate hands on are still decorated as they were.
pub fn are_decorated(known: &BTreeSet<(String, String)>, candidate: &Program) -> bool {
    known.is_empty() || {
        let (handed_on, its) = (handed_on(candidate), decorated(candidate));
        known
            .iter()
            .all(|pair| !handed_on.contains(&pair.0) || its.contains(pair))
    }
}

/// Whether a function that the program hands on takes nothing.
pub fn hands_on_without_parameters(program: &Program) -> bool {
    let handed_on = handed_on(program);
    let mut definitions = definitions(program);
    definitions.any(|definition| {
        definition.parameters.is_empty() && handed_on.contains(definition.name.as_str())
    })
}

/// Whether the functions without a name take something, or nothing, each if there is one.
pub fn nameless_take(program: &Program) -> BTreeSet<bool> {
    let nodes = program.tree().nodes.iter();
    let nameless = nodes.filter_map(|node| node.node.as_expr_lambda());
    nameless
        .map(|function| function.parameters.is_some())
        .collect()
}

/// Calls that get several functions of the program, by the name of the callee: whether these
/// functions take equally many arguments, as branches of one condition do.
pub fn branches(program: &Program) -> BTreeMap<String, bool> {
    let counts: BTreeMap<&str, usize> = definitions(program)
        .map(|definition| (definition.name.as_str(), definition.parameters.len()))
        .collect();
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let mut found = BTreeMap::new();
    for call in calls {
        let names = call.arguments.args.iter().filter_map(Expr::as_name_expr);
        let given: Vec<usize> = names
            .filter_map(|name| counts.get(&*name.id).copied())
            .collect();
        if given.len() > 1 {
            let called = program.slice(call.func.range()).rsplit('.').next();
            let are_equal = given.iter().all(|count| *count == given[0]);
            *found
                .entry(called.unwrap_or_default().to_owned())
                .or_insert(true) &= are_equal;
        }
    }
    found
}

/// What makes a program write down which of some functions run.
pub fn running(program: &Program, names: &BTreeSet<String>) -> Observation {
    let mut observation = Observation::default();
    for definition in definitions(program) {
        if names.contains(definition.name.as_str()) {
            observation.start(&definition.body, &definition.name);
        }
    }
    observation
}

/// The name under which a program writes down that it comes to the line where it fails otherwise.
const REACHED: &str = "reached the failure";

/// What makes a program write down which of its functions run, and when it comes to a line.
pub fn running_from(program: &Program, line: u32) -> Observation {
    let mut observation = running(program, &program.defined_names());
    let is_on_line = |range: TextRange| {
        (program.line_of(range.start())..=program.line_of(range.end())).contains(&line)
    };
    let nodes = program.tree().nodes.iter().map(|node| node.node);
    let mut evaluated = nodes
        .filter(|node| (node.is_expr_call() || node.is_decorator()) && is_on_line(node.range()));
    match evaluated.next() {
        Some(AnyNodeRef::Decorator(decorator)) => {
            observation.value(decorator.expression.range(), REACHED);
        }
        Some(call) => observation.before(call.range(), REACHED),
        None => {}
    }
    observation
}

/// The functions of which such a program wrote down that they ran after it last came to the line.
pub fn ran_from(stderr: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, what) in marked(stderr) {
        if name == REACHED {
            found.clear();
        } else if what == "ran" {
            found.insert(name.to_owned());
        }
    }
    found
}

/// The functions of which such a program wrote down that they ran.
pub fn ran(stderr: &str) -> BTreeSet<String> {
    let said = marked(stderr).filter(|(_, what)| *what == "ran");
    said.map(|(name, _)| name.to_owned()).collect()
}

/// Whether the functions of a name take one of so many arguments.
pub fn take_any(program: &Program, name: &str, numbers: &BTreeSet<usize>) -> bool {
    let mut named = definitions(program).filter(|definition| definition.name.as_str() == name);
    named.all(|definition| {
        let (least, most) = positional(definition);
        let mut numbers = numbers.iter();
        numbers.any(|&number| least <= number && most.is_none_or(|most| number <= most))
    })
}

/// How many positional arguments a function takes, at least and at most.
pub(super) fn positional(definition: &StmtFunctionDef) -> (usize, Option<usize>) {
    let parameters = &definition.parameters;
    let all = parameters.posonlyargs.iter().chain(&parameters.args);
    let least = all.clone().filter(|each| each.default.is_none()).count();
    (least, parameters.vararg.is_none().then(|| all.count()))
}

/// The parameters of the functions of a name, each with its kind.
pub fn parameters_of(program: &Program, name: &str) -> BTreeSet<Vec<String>> {
    let named = definitions(program).filter(|definition| definition.name.as_str() == name);
    let parameters = named.map(|definition| {
        let of = &definition.parameters;
        let kinds = [
            ("", &of.posonlyargs),
            ("", &of.args),
            ("keyword ", &of.kwonlyargs),
        ];
        let each = kinds.into_iter().flat_map(|(kind, parameters)| {
            parameters
                .iter()
                .map(move |parameter| format!("{kind}{}", parameter.name()))
        });
        let others = [("*", &of.vararg), ("**", &of.kwarg)];
        let others = others
            .into_iter()
            .filter(|(_, rest)| rest.is_some())
            .map(|(kind, _)| kind.to_owned());
        each.chain(others).collect()
    });
    parameters.collect()
}

fn definitions(program: &Program) -> impl Iterator<Item = &StmtFunctionDef> {
    let nodes = program.tree().nodes.iter();
    nodes.filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(definition) => Some(definition),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::observation::readable;

    #[test]
    fn decorators_of_the_function_around_a_line() {
        let text = "import lib\nclass A:\n    @property\n    @lib.ignore\n    def x(self):\n        raise E\n\
                    @lib.fast()\ndef f():\n    def g():\n        pass\n";
        let program = Program::parse(text).unwrap();
        let pair = |function: &str, decorator: &str| (function.to_owned(), decorator.to_owned());
        let known = decorated_around(&program, &[6, 10]);
        assert_eq!(known, [pair("x", "ignore")].into());
        assert_eq!(decorated_around(&program, &[8]), [pair("f", "fast")].into());
        let keeps = |text: &str| keep_decorators(&known, &Program::parse(text).unwrap());
        assert!(keeps("import lib\n@lib.ignore\ndef x(): pass\n") && keeps("y = 1\n"));
        assert!(!keeps("def x(): pass\n"));
    }

    #[test]
    fn functions_take_what_they_took() {
        let takes = |text: &str| take_any(&Program::parse(text).unwrap(), "f", &[2].into());
        assert!(takes("def f(x, y): pass\n") && takes("def f(x, *y): pass\n"));
        assert!(!takes("def f(x): pass\n") && !takes("def f(x, y, z): pass\n"));
    }

    #[test]
    fn parameters_are_told_apart_by_their_kinds() {
        let of = |text: &str| parameters_of(&Program::parse(text).unwrap(), "f");
        let found = of(
            "class A:\n    def f(a, /, b=1, *, c, **d): pass\ndef f(*a): pass\ndef g(x): pass\n",
        );
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected = [names(&["a", "b", "keyword c", "**"]), names(&["*"])];
        assert_eq!(found, expected.into());
        assert!(of("x = 1\n").is_empty());
    }

    #[test]
    fn what_packages_look_up_belongs_to_classes_that_are_used() {
        let of = |text: &str| looked_up(&Program::parse(text).unwrap());
        let class =
            "class A(B):\n    def __array_function__(self): pass\n    def __len__(self): pass\n";
        assert!(of(class).is_empty());
        let found = of(&format!("{class}x.view(A)\n"));
        assert!(!found.is_empty() && found == of(&format!("{class}x.view((1, A))\n")));
        assert_ne!(
            found,
            of(&format!("{class}x.view(A)\n").replace("pass", "return 1"))
        );
        assert_ne!(
            found,
            of(&format!("{class}x.view(A)\n").replace("self", "self, *args"))
        );
    }

    #[test]
    fn decorated_functions_are_handed_on_if_nothing_names_them() {
        let of = |text: &str| handed_on(&Program::parse(text).unwrap());
        assert_eq!(of("@app.get('/')\ndef f(): pass\n").len(), 1);
        assert!(of("@cache\ndef f(): pass\nf()\n").is_empty());
        assert!(of("class A:\n    @property\n    def f(self): pass\nA().f\n").is_empty());
    }

    #[test]
    fn functions_that_run_from_a_line_on() {
        let of = |text: &str, line: u32| {
            let program = Program::parse(text).unwrap();
            readable(&running_from(&program, line).text(&program).unwrap())
        };
        assert_eq!(
            of("def f(): pass\nx = lib.script(f)\nx()\n", 2),
            "def f(): show(\"ran\", \"f\"); pass\nx = (show(\"ran\", \"reached the failure\"), lib.script(f))[1]\nx()\n"
        );
        assert_eq!(
            of("@lib.script\ndef f():\n    pass\nf()\n", 1),
            "@show(\"value\", \"reached the failure\", lib.script)\ndef f():\n    show(\"ran\", \"f\"); pass\nf()\n"
        );
        let told = "\u{1e}f\u{1f}ran\u{1e}\n\u{1e}reached the failure\u{1f}X\u{1e}\n\u{1e}g\u{1f}ran\u{1e}\n";
        assert_eq!(ran_from(told), ["g".to_owned()].into());
    }

    #[test]
    fn methods_are_registered_by_decorators() {
        let of = |text: &str| registered(&Program::parse(text).unwrap());
        let class = "import lib\nclass A(lib.B):\n    @lib.check\n    def f(self): pass\n    @property\n    def g(self): pass\n";
        let found = [("A".to_owned(), "f".to_owned())];
        assert_eq!(of(class), found.into());
        assert!(of(&format!("{class}A().f()\n")).is_empty());
        assert!(of(&class.replace("(lib.B)", "")).is_empty());
    }

    #[test]
    fn functions_that_are_handed_on_take_something() {
        let program = |text: &str| Program::parse(text).unwrap();
        assert!(hands_on_without_parameters(&program(
            "def f(): pass\nuse(f, x)\n"
        )));
        assert!(!hands_on_without_parameters(&program(
            "def f(x): pass\nuse(f, x)\n"
        )));
        assert!(!hands_on_without_parameters(&program(
            "def f(): pass\nf()\n"
        )));
        let two = "def f(x): pass\ndef g(): pass\nlib.cond(p, f, g, (x,))\n";
        let expected = |equal: bool| BTreeMap::from([("cond".to_owned(), equal)]);
        assert_eq!(branches(&program(two)), expected(false));
        assert_eq!(
            branches(&program(&two.replace("g()", "g(y)"))),
            expected(true)
        );
        assert_eq!(
            branches(&program("def f(x): pass\nmap(f, y)\n")),
            BTreeMap::new()
        );
    }

    #[test]
    fn functions_that_are_handed_on_stay_decorated() {
        let script =
            "import lib\n@lib.wrap\ndef f(x): pass\n@lib.jit()\ndef g(x): pass\nuse(f)\ng(1)\n";
        let known = decorated(&Program::parse(script).unwrap());
        let pair = ("f".to_owned(), "wrap".to_owned());
        assert_eq!(known, BTreeSet::from([pair]));
        let held = |text: &str| are_decorated(&known, &Program::parse(text).unwrap());
        assert!(held(script));
        assert!(!held("def f(x): pass\nuse(f)\n"));
        assert!(held("def f(x): pass\nf(x)\nuse(g)\n"));
    }

    #[test]
    fn functions_that_are_mentioned_are_handed_on() {
        let text =
            "def f(x): return x\ndef g(x):\n    return f(x)\n@f\ndef h(): pass\nuse(g)\nh()\n";
        let program = Program::parse(text).unwrap();
        let found = handed_on(&program);
        assert_eq!(found, BTreeSet::from(["g".to_owned()]));
        let says = |names: &BTreeSet<String>| {
            let text = running(&program, names).text(&program);
            readable(&text.unwrap())
        };
        assert!(says(&found).contains("    show(\"ran\", \"g\"); return f(x)"));
        assert!(says(&BTreeSet::from(["f".to_owned()])).contains("show(\"ran\", \"f\"); return x"));
        assert_eq!(ran("\u{1e}g\u{1f}ran\u{1e}\nnoise"), found);
    }
}
