//! What methods are called on: the classes of packages that made the receivers. Two objects
//! may have methods of one name, such as `load_state_dict`, and the name alone does not tell which
//! of them is called. Goes by names, as the dependence check does.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_graph::DependenceGraph, names::ImportedNames, statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, ast::Expr, scope::BindingKind},
};

/// How many names may stand between an object and the call that makes it.
const DEPTH: usize = 8;

/// What made a receiver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Maker {
    /// A class of a package, by the last part of its name.
    Package(String),
    /// What a package gives for a name: `getLogger("audit")`.
    Named(String),
    /// A class of the program.
    Own(String),
    /// It cannot be read from the text.
    Unknown,
}

/// What the methods of a program are called on, by the names of the methods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Receivers(BTreeMap<String, BTreeSet<Maker>>);

impl Receivers {
    /// The receivers of the calls among some nodes.
    pub(super) fn of<'a>(
        tree: &StatementTree<'a>,
        nodes: impl Iterator<Item = AnyNodeRef<'a>>,
    ) -> Self {
        let search = MakerSearch {
            graph: DependenceGraph::of(tree),
            imported: ImportedNames::of(tree.program.tree()),
        };
        let mut found: BTreeMap<String, BTreeSet<Maker>> = BTreeMap::new();
        for node in nodes {
            if let AnyNodeRef::ExprCall(call) = node
                && let Expr::Attribute(method) = &*call.func
                && search.imported.path(&call.func).is_none()
            {
                let makers = found.entry(method.attr.to_string()).or_default();
                makers.insert(search.maker(&method.value, DEPTH));
            }
        }
        Self(found)
    }

    /// Those that packages made, of methods that are called on different things.
    #[must_use]
    pub fn told_apart(mut self) -> Self {
        self.0.retain(|_, makers| {
            let is_ambiguous = makers.len() > 1;
            makers.retain(|maker| matches!(maker, Maker::Package(_) | Maker::Named(_)));
            is_ambiguous && !makers.is_empty()
        });
        self
    }

    /// Those that two have in common.
    #[must_use]
    pub fn common(mut self, other: &Self) -> Self {
        self.0.retain(|method, makers| {
            makers.retain(|maker| other.0.get(method).is_some_and(|its| its.contains(maker)));
            !makers.is_empty()
        });
        self
    }

    /// Whether a program with these calls its methods on all that others are called on, as far as
    /// its text tells.
    pub fn include(&self, others: &Self) -> bool {
        others.0.iter().all(|(method, makers)| {
            let its = self.0.get(method);
            its.is_some_and(|its| its.contains(&Maker::Unknown) || its.is_superset(makers))
        })
    }
}

struct MakerSearch<'o, 'a> {
    graph: DependenceGraph<'o, 'a>,
    imported: ImportedNames<'a>,
}

impl MakerSearch<'_, '_> {
    fn maker(&self, value: &Expr, depth: usize) -> Maker {
        let Some(depth) = depth.checked_sub(1) else {
            return Maker::Unknown;
        };
        match value {
            Expr::Call(call) => {
                if let Some(path) = self.imported.path(&call.func) {
                    let name = path.rsplit('.').next().unwrap_or(&path);
                    // A function may be replaced with another that makes the same kind of object.
                    let given = call.arguments.args.first();
                    let text = given.and_then(Expr::as_string_literal_expr);
                    return match text {
                        _ if name.starts_with(char::is_uppercase) => {
                            Maker::Package(name.to_owned())
                        }
                        Some(text) if name.starts_with("get") => {
                            Maker::Named(format!("{name} {}", text.value.to_str()))
                        }
                        _ => Maker::Unknown,
                    };
                }
                match &*call.func {
                    Expr::Name(name) if self.graph.tree.program.scopes().is_class(&name.id) => {
                        Maker::Own(name.id.to_string())
                    }
                    Expr::Name(name) => {
                        let functions = self.graph.tree.functions(&name.id);
                        let results = functions.flat_map(|(function, _)| self.graph.body(function));
                        let is_result = |at: &usize| {
                            let node = self.graph.tree.statements[*at].node;
                            node.is_stmt_return()
                        };
                        self.maker_of_all(results.filter(is_result), depth)
                    }
                    _ => Maker::Unknown,
                }
            }
            Expr::Name(name) => {
                let mut named = self.graph.tree.program.scopes().named(&name.id);
                let (Some(variable), None) = (named.next(), named.next()) else {
                    return Maker::Unknown;
                };
                let is_assigned = variable
                    .bindings
                    .iter()
                    .all(|binding| binding.kind == BindingKind::Value);
                if !is_assigned {
                    return Maker::Unknown;
                }
                let bindings = variable.bindings.iter();
                let statements =
                    bindings.filter_map(|binding| self.graph.executed(binding.statement));
                self.maker_of_all(statements, depth)
            }
            Expr::Attribute(attribute) => {
                self.maker_of_all(self.graph.stores(&attribute.attr), depth)
            }
            _ => Maker::Unknown,
        }
    }

    /// The one maker of the values that some statements assign or return.
    fn maker_of_all(&self, statements: impl Iterator<Item = usize>, depth: usize) -> Maker {
        let makers: BTreeSet<Maker> = statements
            .map(
                |statement| match self.graph.tree.statements[statement].node {
                    AnyNodeRef::StmtAssign(assign) => self.maker(&assign.value, depth),
                    AnyNodeRef::StmtReturn(it) => {
                        let value = it.value.as_deref();
                        value.map_or(Maker::Unknown, |value| self.maker(value, depth))
                    }
                    _ => Maker::Unknown,
                },
            )
            .collect();
        let mut makers = makers.into_iter();
        match (makers.next(), makers.next()) {
            (Some(maker), None) => maker,
            _ => Maker::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::dependence_check::{ReportSite, receivers},
        syntax::Program,
    };

    fn of(text: &str) -> Receivers {
        let line = text.lines().count() as u32;
        let program = Program::parse(text).unwrap();
        receivers(&program, &ReportSite::Raised(vec![line]), None).remove(0)
    }

    #[test]
    fn objects_with_methods_of_one_name_are_told_apart() {
        let script = of("\
from lib import Plan, Steps
class Run:
    def __init__(self):
        self.steps = Steps()
        self.plan = Plan(self.steps)
    def load(self, state):
        self.steps.load(state)
        self.plan.load(state)
run = Run()
run.load(1)
assert run.steps.rate > run.plan.rate
")
        .told_apart();
        let unknown = "import lib\ndef f(p, s):\n    p.load(2)\n    assert s.rate > p.rate\n";
        assert!(of(unknown).include(&script));
        let both = "import lib\ns = lib.Steps()\np = lib.Plan(s)\ns.load(1)\np.load(2)\nassert s.rate > p.rate\n";
        assert!(of(both).include(&script));
        assert!(!of(&both.replace("s.load(1)\n", "")).include(&script));
        assert!(!of(&both.replace("p.load(2)\n", "")).include(&script));
        let made = "import lib\ndef make():\n    return lib.Steps()\ns = make()\np = lib.Plan(s)\ns.load(1)\np.load(2)\nassert s.rate > p.rate\n";
        assert!(of(made).include(&script));
        assert!(!of(&made.replace("p.load(2)\n", "")).include(&script));
        let named = "import lib\na = lib.get('a')\nb = lib.get('b')\na.put(1)\nb.put(2)\nassert a.x > b.x\n";
        let script = of(named).told_apart();
        assert!(of(named).include(&script));
        assert!(!of(&named.replace("a.put(1)\n", "")).include(&script));
    }

    #[test]
    fn one_receiver_is_not_asked_for() {
        let script = of("import lib\na = lib.A()\na.load(1)\nassert a.b\n").told_apart();
        assert!(of("assert x\n").include(&script));
    }
}
