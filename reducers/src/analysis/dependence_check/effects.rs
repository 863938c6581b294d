//! The calls for nothing else by which packages may change a value that a program hands them:
//! `heapq.heappush(heap, 2)`, `dictConfig({"stream": buffer})`. Goes by names. Called by the rest
//! of the dependence check.

use super::passing::Passing;
use crate::syntax::{AnyNodeRef, Ranged, TextRange, ast::Expr};

/// Through how many displays, variables and results a value is followed.
const DEPTH: usize = 6;

/// The beginnings of the names of functions that only read what they get, or set a seed.
const READING: [&str; 13] = [
    "assert",
    "check",
    "critical",
    "debug",
    "error",
    "exception",
    "info",
    "log",
    "manual_seed",
    "pprint",
    "seed",
    "show",
    "warn",
];

/// Whether a function only reads what it gets, or sets a seed, to go by its name.
pub(crate) fn only_reads(name: &str) -> bool {
    READING.iter().any(|reading| name.starts_with(reading))
}

impl Passing<'_, '_, '_> {
    /// The statements that do nothing but hand a value to a package, by itself or in a display.
    pub(super) fn effects(&self, value: TextRange) -> Vec<usize> {
        self.handed(value, DEPTH)
    }

    fn handed(&self, value: TextRange, depth: usize) -> Vec<usize> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let Some((whole, around)) = self.out_of_displays(value) else {
            return Vec::new();
        };
        let next: Vec<TextRange> = match around {
            AnyNodeRef::ExprCall(call) if call.func.range() != whole => {
                let path = self.imported.path(&call.func);
                let is_changing = path.is_some_and(|path| {
                    let name = path.rsplit('.').next().unwrap_or(&path);
                    // Modules are set up with one plain number each.
                    let is_set_up = name.starts_with("set_") && call.arguments.len() == 1;
                    !only_reads(name) && !is_set_up
                });
                let statement = self.tree.at(call.range).filter(|_| is_changing);
                return statement.into_iter().collect();
            }
            AnyNodeRef::StmtReturn(stmt) => {
                let function = self.tree.at(stmt.range);
                let function = function.and_then(|at| self.tree.function_of(at));
                let def = function.and_then(|function| {
                    self.tree.statements[function].node.as_stmt_function_def()
                });
                def.map_or_else(Vec::new, |def| self.calls_of(&def.name))
            }
            AnyNodeRef::StmtAssign(assign) if assign.targets.iter().all(Expr::is_name_expr) => {
                let bound = self.tree.program.scopes().bound_by(assign.range).iter();
                let uses = bound.flat_map(|&variable| self.graph.uses(variable));
                uses.map(|(_, range)| range).collect()
            }
            _ => Vec::new(),
        };
        let next = next.into_iter();
        next.flat_map(|value| self.handed(value, depth)).collect()
    }

    /// The outermost display that holds a value, or the value itself, and the node around it.
    fn out_of_displays(&self, value: TextRange) -> Option<(TextRange, AnyNodeRef<'_>)> {
        let nodes = &self.tree.program.tree().nodes;
        let first = nodes.partition_point(|node| node.node.start() < value.start());
        let mut after = nodes[first..].iter();
        let same = after.find(|node| node.node.range() == value)?;
        let (mut whole, mut parent) = (value, same.parent?);
        loop {
            let node = &nodes[parent as usize];
            match node.node {
                AnyNodeRef::ExprDict(_)
                | AnyNodeRef::ExprList(_)
                | AnyNodeRef::ExprTuple(_)
                | AnyNodeRef::ExprSet(_) => whole = node.node.range(),
                AnyNodeRef::Arguments(_) | AnyNodeRef::Keyword(_) => {}
                around => return Some((whole, around)),
            }
            parent = node.parent?;
        }
    }

    /// The calls of a function of the program.
    fn calls_of(&self, function: &str) -> Vec<TextRange> {
        let calls = self.nodes.calls_of(function);
        calls.map(|(_, call)| call.range).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::dependence_check::{ReportSite, operations},
        syntax::Program,
    };

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        let found = operations(&Program::parse(text).unwrap(), &site, None);
        let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_package_changes_what_it_is_handed_for_nothing_else() {
        check(
            "import log, io\ndef plan(s):\n    return {'to': [s.b]}\nclass S: pass\ns = S()\n\
             s.b = io.StringIO()\nlog.configure(plan(s))\nassert s.b.getvalue()\n",
            &[".=", "StringIO()", "configure() alone", "getvalue()"],
        );
        check(
            "import heapq\nx = list(open('a'))\ny = x\nheapq.heappush(y, 2)\nassert x\n",
            &["heappush() alone", "list()", "open()"],
        );
        check(
            "import lib\nx = lib.make()\nlib.set_state(x, 2)\nassert x\n",
            &["make()", "set_state() alone"],
        );
    }

    #[test]
    fn a_method_changes_parts_of_its_object() {
        check(
            "import torch\nclass A:\n    def update(self, source):\n        mine = dict(self.named())\n        for name, p in source.named():\n            mine[name].mul_(2).add_(p)\n    def show(self):\n        rows = list(self.rows)\n        rows.sort()\na = A()\na.update(torch.ones(1))\na.show()\nassert a.norm()\n",
            &[
                "[].mul_() alone",
                "add_() alone",
                "dict()",
                "named()",
                "norm()",
                "ones()",
            ],
        );
    }

    #[test]
    fn what_is_made_with_an_object_changes_it() {
        check(
            "import io, csv\nraw = io.StringIO()\nrows = csv.writer(raw)\nrows.writerow([1])\nassert raw.getvalue()\n",
            &["StringIO()", "getvalue()", "writer()", "writerow() alone"],
        );
        check(
            "import io, csv, gzip\nclass Writer:\n    def __init__(self, raw):\n        self.gz = gzip.GzipFile(raw)\n        self.text = io.TextIOWrapper(self.gz)\n        self.csv = csv.writer(self.text)\n    def write(self, row):\n        self.csv.writerow(row)\nraw = io.BytesIO()\nw = Writer(raw)\nw.write([1])\nassert raw.getvalue()\n",
            &[
                "BytesIO()",
                "GzipFile()",
                "TextIOWrapper()",
                "getvalue()",
                "writer()",
                "writerow() alone",
            ],
        );
    }

    #[test]
    fn what_a_package_does_to_one_class_it_does_not_do_to_another() {
        check(
            "import lib\nclass A: pass\nclass B(A): pass\nlib.resolve(A)\nlib.resolve(B)\nassert lib.fields(B)\n",
            &[
                "class",
                "fields()",
                "resolve() alone",
                "resolve(A)",
                "resolve(B)",
            ],
        );
    }

    #[test]
    fn what_no_call_gives_a_function_its_decorators_do() {
        check(
            "import lib\n@lib.option('a')\n@lib.command()\ndef f(a, b=1):\n    assert a == 1\n",
            &["==", "called by others", "command()", "given a", "option()"],
        );
        check(
            "import lib\ndef g(): f(2)\n@lib.option('a')\ndef f(a):\n    assert a == 1\n",
            &["=="],
        );
    }

    #[test]
    fn what_only_reads_changes_nothing() {
        check(
            "import lib\nx = [open('a')]\nlib.seed(x)\nlib.run(len(x))\ny = lib.f(x)\nassert x\n",
            &["open()"],
        );
    }
}
