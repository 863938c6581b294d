//! The packages on which each thing depends that a failing statement looks something up in, or gives
//! to a call.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_check::{
            Nodes, Operations, ReportSite, Rest, WORDLESS, rest::ValueSource, told,
        },
        names::{ImportedNames, is_installed},
    },
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::Operator},
    trace::evidence::Evidence,
};

/// The packages on which each thing depends that is read from, by keys or indices, in a failing
/// statement, given the lines of its frames, outermost first. One that depends on none is the
/// program's own, whatever else the statement holds.
pub fn packages_of_operands(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> Vec<BTreeSet<String>> {
    packages_of_parts(program, frames, evidence, &|_, nodes, statement| {
        operands(nodes, statement)
    })
}

/// The packages on which each argument depends of the calls in a failing statement, but for those
/// of the called function, given the lines of its frames, outermost first.
pub fn packages_of_arguments(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> Vec<BTreeSet<String>> {
    packages_of_parts(program, frames, evidence, &arguments)
}

/// What is read of the modules that come with Python for that in which a statement finds nothing,
/// given the lines of its frames, outermost first: what lacks an attribute, what something is looked
/// up in, what it divides by, or all of it. By dotted paths; modules that only hold, open or name
/// values do not count.
pub fn read_of_standard(
    program: &Program,
    frames: &[u32],
    lacks: Option<&str>,
    evidence: Option<&Evidence>,
) -> BTreeSet<String> {
    let parts =
        |_: &Program, nodes: &Nodes<'_>, statement: usize| failing_parts(nodes, statement, lacks);
    let of = |found: ValueSource, _: &StatementPart| {
        let mut read = found.of_standard;
        read.retain(|path| !is_holding(path));
        read
    };
    let found = of_parts(program, frames, evidence, &parts, &of);
    found.into_iter().flatten().collect()
}

/// The operations that made what an operation of the language fails on, given the lines of its
/// frames, outermost first: what lacks an attribute, what something is looked up in, what it
/// divides by, or all of the statement.
pub fn making(
    program: &Program,
    frames: &[u32],
    lacks: Option<&str>,
    evidence: Option<&Evidence>,
) -> Operations {
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let Some(&last) = frames.last() else {
            return Operations::new();
        };
        let mut parts = failing_parts(nodes, last, lacks);
        // Whether the container or the index is wrong, the failure leaves open.
        if lacks.is_none() {
            parts.extend(indices(nodes, last));
        }
        let made = parts.into_iter().map(|part| {
            let rest = Rest::of(outline, nodes).flow();
            rest.making(last, part.value, &frames)
        });
        made.flatten().collect()
    });
    found.into_iter().flatten().collect()
}

/// What is read of a module that comes with Python for what a failing statement gives to the same
/// module, given the lines of its frames, outermost first: `pickle.loads` of what `pickle.dumps`
/// made. By dotted paths.
pub fn round_trips(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> BTreeSet<String> {
    let site = ReportSite::Raised(frames.to_vec());
    let imported = ImportedNames::of(program.tree());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let Some(&last) = frames.last() else {
            return BTreeSet::new();
        };
        let calls = nodes[last].iter().filter_map(AnyNodeRef::as_expr_call);
        let read = calls.flat_map(|call| {
            let called = imported.path(&call.func).filter(|path| is_function(path));
            let arguments = call.arguments.args.iter();
            let given = arguments.flat_map(|argument| {
                let rest = Rest::of(outline, nodes).flow();
                rest.whole_origin(last, argument.range(), &frames).called
            });
            let is_same = |path: &String| {
                called.as_ref().is_some_and(|called| {
                    is_function(path) && path != called && module(path) == module(called)
                })
            };
            given.filter(is_same).collect::<Vec<_>>()
        });
        read.collect()
    });
    found.into_iter().flatten().collect()
}

/// Whether a dotted path is that of a function of a module that comes with Python, by how it is
/// written.
fn is_function(path: &str) -> bool {
    let name = path.rsplit_once('.').map(|(_, name)| name);
    let is_lower = name.is_some_and(|name| name.starts_with(char::is_lowercase));
    is_lower && !is_installed(path) && !is_holding(path)
}

/// The module that a dotted path begins with.
fn module(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The parts of a statement on which an operation of the language may fail.
fn failing_parts(nodes: &Nodes<'_>, statement: usize, lacks: Option<&str>) -> Vec<StatementPart> {
    let own = nodes[statement].iter();
    let attributes = own.filter_map(AnyNodeRef::as_expr_attribute);
    let lacking = attributes.filter(|of_it| lacks == Some(of_it.attr.as_str()));
    let lacking = lacking.map(|of_it| StatementPart::of(of_it.value.range()));
    let mut parts: Vec<StatementPart> = lacking.collect();
    if parts.is_empty() {
        parts = operands(nodes, statement);
        parts.extend(divisors(nodes, statement));
    }
    if parts.is_empty() {
        let ranges = nodes[statement].iter().map(AnyNodeRef::range);
        parts.extend(ranges.reduce(TextRange::cover).map(StatementPart::of));
    }
    parts
}

/// Whether all that is read of modules is read of them by others, too: `json.load` loads as
/// `json.loads` does.
pub fn are_read(read: &BTreeSet<String>, by_others: &BTreeSet<String>) -> bool {
    // A method of a class is more than the class.
    let is_longer = |long: &str, short: &str| {
        let rest = long.strip_prefix(short);
        rest.is_some_and(|rest| !rest.contains('.'))
    };
    read.iter().all(|path| {
        let mut others = by_others.iter();
        others.any(|other| is_longer(other, path) || is_longer(path, other))
    })
}

/// What only holds, opens or names values.
const HOLDING: [&str; 20] = [
    "abc",
    "collections.OrderedDict",
    "collections.abc",
    "collections.defaultdict",
    "collections.namedtuple",
    "contextlib",
    "dataclasses",
    "functools.partial",
    "functools.reduce",
    "functools.wraps",
    "io",
    "logging",
    "operator",
    "os",
    "pathlib",
    "shutil",
    "sys",
    "tempfile",
    "types",
    "typing",
];

fn is_holding(path: &str) -> bool {
    HOLDING.iter().any(|holding| {
        let rest = path.strip_prefix(holding);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The packages on which some parts of a failing statement depend.
fn packages_of_parts(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
    parts: &dyn Fn(&Program, &Nodes<'_>, usize) -> Vec<StatementPart>,
) -> Vec<BTreeSet<String>> {
    let of = |found: ValueSource, part: &StatementPart| {
        let mut found = found.modules;
        found.retain(|name| {
            Some(name) != part.given_to.as_ref() && !WORDLESS.contains(&name.as_str())
        });
        found
    };
    of_parts(program, frames, evidence, parts, &of)
}

/// Where some parts of a failing statement come from. A loop that only repeats it makes none of
/// them.
fn of_parts(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
    parts: &dyn Fn(&Program, &Nodes<'_>, usize) -> Vec<StatementPart>,
    of: &dyn Fn(ValueSource, &StatementPart) -> BTreeSet<String>,
) -> Vec<BTreeSet<String>> {
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let Some(&last) = frames.last() else {
            return Vec::new();
        };
        let parts = parts(program, nodes, last).into_iter();
        let sources = parts.map(|part| {
            let rest = Rest::of(outline, nodes).flow();
            of(rest.origin(last, part.value, &frames), &part)
        });
        sources.collect()
    });
    found.into_iter().flatten().collect()
}

/// A part of a statement.
struct StatementPart {
    value: TextRange,
    /// The package whose function gets it.
    given_to: Option<String>,
}

impl StatementPart {
    fn of(value: TextRange) -> Self {
        Self {
            value,
            given_to: None,
        }
    }
}

/// What a statement reads from.
fn operands(nodes: &Nodes<'_>, statement: usize) -> Vec<StatementPart> {
    let subscripts = nodes[statement]
        .iter()
        .filter_map(AnyNodeRef::as_expr_subscript);
    let read = subscripts.filter(|subscript| subscript.ctx.is_load());
    read.map(|subscript| StatementPart::of(subscript.value.range()))
        .collect()
}

/// What a statement looks up.
fn indices(nodes: &Nodes<'_>, statement: usize) -> Vec<StatementPart> {
    let subscripts = nodes[statement]
        .iter()
        .filter_map(AnyNodeRef::as_expr_subscript);
    subscripts
        .map(|subscript| StatementPart::of(subscript.slice.range()))
        .collect()
}

/// What a statement divides by.
fn divisors(nodes: &Nodes<'_>, statement: usize) -> Vec<StatementPart> {
    const DIVIDING: [Operator; 3] = [Operator::Div, Operator::FloorDiv, Operator::Mod];
    let operations = nodes[statement]
        .iter()
        .filter_map(AnyNodeRef::as_expr_bin_op);
    let dividing = operations.filter(|of_two| DIVIDING.contains(&of_two.op));
    dividing
        .map(|of_two| StatementPart::of(of_two.right.range()))
        .collect()
}

/// What a statement gives to the calls in it.
fn arguments(program: &Program, nodes: &Nodes<'_>, statement: usize) -> Vec<StatementPart> {
    let imported = ImportedNames::of(program.tree());
    let calls = nodes[statement].iter().filter_map(AnyNodeRef::as_expr_call);
    let given = calls.flat_map(|call| {
        let path = imported.path(&call.func);
        let package = path.and_then(|path| Some(path.split('.').next()?.to_owned()));
        let arguments = call.arguments.arguments_source_order();
        arguments.map(move |argument| StatementPart {
            value: argument.value().range(),
            given_to: package.clone(),
        })
    });
    given.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing::evidence, trace::evidence::SourceLine};

    #[test]
    fn each_operand_has_its_own_packages() {
        let check = |text: &str, expected: &[&[&str]]| {
            let program = Program::parse(text).unwrap();
            let last = text.lines().count() as u32;
            let found = packages_of_operands(&program, &[last], None);
            let found: Vec<Vec<&str>> = found
                .iter()
                .map(|packages| packages.iter().map(String::as_str).collect())
                .collect();
            assert_eq!(found, expected);
        };
        check("import re\nm = re.match('a', 'b')\nm['x']\n", &[&["re"]]);
        check(
            "import re, collections\nc = collections.Counter()\nm = re.match('a', 'b')\nc[m['x']] += 1\n",
            &[&["re"]],
        );
        check(
            "import collections\ncollections.Counter()[None['x']] = 0\n",
            &[&[]],
        );
    }

    #[test]
    fn what_fails_is_made_by_operations() {
        let check = |text: &str, frames: &[u32], lacks: Option<&str>, expected: &[&str]| {
            let found = making(&Program::parse(text).unwrap(), frames, lacks, None);
            let expected: Operations = expected.iter().map(|&name| name.to_owned()).collect();
            // What is done in vain, or not at all, only a trace says.
            let is_done = |name: &String| {
                !["in vain", "not filled"].contains(&name.as_str()) && !name.starts_with("no ")
            };
            let found: Operations = found.into_iter().filter(is_done).collect();
            assert_eq!(found, expected);
        };
        // What is looked up, and where, but not what is done with it.
        check(
            "rows = []\nfor x in y: rows.append(x)\nf(rows[int(z)])\n",
            &[3],
            None,
            &["append() alone", "append(_) alone", "int()", "int(_)"],
        );
        check(
            "import re\nm = re.search('a', b.strip())\nf(m.group(), len(b))\n",
            &[3],
            Some("group"),
            &["search()", "search(_)", "strip()"],
        );
        // Elements of comprehensions come from what these go through.
        check(
            "def f(x):\n    return 1 / len(x)\n[f(x) for x in y.split()]\n",
            &[3, 2],
            None,
            &["len()", "len(_)", "split()"],
        );
        // Another object is not the same, while `None` may be asked for anywhere.
        check(
            "z = object()\nx = 1 if y is z else z\nx + 1\n",
            &[3],
            None,
            &["+", "is", "object()"],
        );
        check("x = 1 if y is None else z\nx + 1\n", &[2], None, &["+"]);
        check(
            "x = None\ntry:\n    x = int(y)\nexcept E:\n    x = 2\nx[0]\n",
            &[6],
            None,
            &["except", "int()", "int(_)"],
        );
    }

    #[test]
    fn texts_and_displays_count_by_what_is_odd_about_them() {
        let check = |text: &str, expected: &[&str]| {
            let lines = text.lines().count() as u32;
            let found = making(&Program::parse(text).unwrap(), &[lines], None, None);
            let found = found.iter().map(String::as_str);
            let found: Vec<&str> = found.filter(|name| !name.starts_with("no ")).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("x = ['a b', 1]\nx[2]\n", &["in vain"]);
        check(
            "x = [b'\\xe2', '[a]']\nx[2]\n",
            &["in vain", "odd letter", "odd set"],
        );
        check(
            "x = ['\\u2028', f'{y} é']\nx[2]\n",
            &["in vain", "odd letter", "odd space"],
        );
        check("x = {'a': []}\nx[2]\n", &["empty part", "in vain"]);
        check(
            "x = f([])\nx[2]\n",
            &["empty part", "f()", "f(_)", "in vain"],
        );
    }

    #[test]
    fn what_makes_it_is_done_in_the_same_way() {
        let made = |text: &str| {
            let lines = text.lines().count() as u32;
            making(
                &Program::parse(text).unwrap(),
                &[lines],
                None,
                Some(&evidence(text)),
            )
        };
        // A generator that nobody goes through.
        let text = |call: &str| {
            format!(
                "x = []\ndef load():\n    x.append(1)  # not executed\n    yield  # not executed\n{call}\nx[0]\n"
            )
        };
        let in_vain = made(&text("load()"));
        assert!(in_vain.contains("in vain") && in_vain.contains("no append() alone"));
        assert!(!made(&text("y")).contains("in vain"));
        // A condition that is true each time.
        let mut ran = evidence("def f(x):\n    if x:\n        y.append(x)\ny = []\nf(1)\ny[3]\n");
        let program =
            Program::parse("def f(x):\n    if x:\n        y.append(x)\ny = []\nf(1)\ny[3]\n")
                .unwrap();
        assert!(!making(&program, &[6], None, Some(&ran)).contains("if"));
        ran.hits.insert(SourceLine::of_program(2), 2);
        assert!(making(&program, &[6], None, Some(&ran)).contains("if"));
        // What the language calls, and what is kept elsewhere to be called.
        let class = "class A(dict):\n    def __missing__(self, key):\n        return 1 / key\nx = A()\nx[0]\n";
        assert!(made(class).contains("def __missing__"));
        let kept = "import lib\nx = []\nlib.show = lambda y: x.append(y)\nx[0]\n";
        assert!(made(kept).contains(".show="));
        assert!(
            !made("import lib\nx = []\nlib.show, lambda y: x.append(y)\nx[0]\n").contains(".show=")
        );
        // What a function without a name is called with.
        let keyed = "rows = [1]\nrows.append(int('0'))\nsorted(rows, key=lambda row: 1 / row)\n";
        assert!(made(keyed).contains("int()") && made(keyed).contains("append() alone"));
        // An attribute that only the package reads.
        let set = |text: &str| {
            let program = Program::parse(text).unwrap();
            making(&program, &[6], None, Some(&evidence(text)))
        };
        let text = "import lib\nx = lib.open()\ny = x.rows()\nx.kind = lib.Row\nfor z in y.all():\n    z['a']\n";
        assert!(set(text).contains(".="));
        assert!(!set(&text.replace("x.kind", "lib.kind")).contains(".="));
        assert!(!set(&format!("{text}print(x.kind)  # not executed\n")).contains(".="));
        // An attribute that is read by a text.
        let dynamic = "class A:\n    def __init__(self):\n        self.a = int('0')\n    def __getattr__(self, name):\n        return self.__dict__['a']\nx = A()\n1 / x.b\n";
        assert!(made(dynamic).contains("int()"));
    }

    #[test]
    fn modules_fail_on_what_they_made_themselves() {
        let check = |text: &str, expected: &[&str]| {
            let lines = text.lines().count() as u32;
            let found = round_trips(&Program::parse(text).unwrap(), &[lines], None);
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            assert_eq!(found, expected, "{text}");
        };
        let streams = "import io, pickle\nraw = {}\nout = io.BytesIO()\npickle.dump(x, out)\nraw['a'] = out.getvalue()\npickle.loads(raw['a'])\n";
        check(streams, &["pickle.dump"]);
        check("import json, pickle\npickle.loads(json.dumps(x))\n", &[]);
        check("import torch\ntorch.load(torch.save(x))\n", &[]);
    }

    #[test]
    fn functions_of_one_name_read_alike() {
        let read = |path: &str| BTreeSet::from([path.to_owned()]);
        assert!(are_read(&read("json.load"), &read("json.loads")));
        assert!(!are_read(&read("json.loads"), &read("json.dumps")));
        let method = "datetime.datetime.fromisoformat";
        assert!(!are_read(&read(method), &read("datetime.datetime")));
    }

    #[test]
    fn each_argument_has_its_own_packages() {
        let text = "import itertools, statistics\nclass Report:\n    def groups(self):\n        return dict(itertools.groupby([1]))\n    def sum(self):\n        for key, rows in self.groups().items():\n            values = [row for row in rows]\n            statistics.mean(values)\nReport().sum()\n";
        let program = Program::parse(text).unwrap();
        let found = packages_of_arguments(&program, &[9, 8], None);
        assert_eq!(found, [["itertools".to_owned()].into()]);
        let text = "import itertools, statistics\nfor _ in itertools.groupby([1]):\n    values = []\n    statistics.mean(values)\n";
        let program = Program::parse(text).unwrap();
        let found = packages_of_arguments(&program, &[4], None);
        assert_eq!(found, [BTreeSet::new()]);
        // What a package makes of its own is its own business.
        let text = "import torch\nx = [y for y in torch.ones(3) if y > 9]\ntorch.stack(x)\n";
        let program = Program::parse(text).unwrap();
        let found = packages_of_arguments(&program, &[3], None);
        assert_eq!(found, [BTreeSet::new()]);
    }
}
