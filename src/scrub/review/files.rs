//! The files that a script reads and writes: those in the folder of the run and in temporary
//! folders are its own. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::syntax::{
    AnyNodeRef, Ranged,
    ast::{self, Expr, Operator, helpers::any_over_expr},
};

use super::{
    Concern, network,
    rules::{NodePlace, Reviewer, shown},
    table,
};

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Into the folder of the run, or to where another finding already points.
    Inside,
    /// That is only known at run time.
    Unreadable,
    /// To another machine.
    Remote,
    /// Out of the folder of the run.
    Outside,
}

/// Modules that give numbers and dates, which paths may contain.
const MEASURES: &[&str] = &[
    "time.",
    "datetime.",
    "uuid.",
    "random.",
    "hashlib.",
    "torch.__version__",
];

/// How a finding begins that only has a path.
pub(super) const NAMED: &str = "names `";

/// How many names are followed from a path to its parts.
const DEPTH: usize = 6;

impl<'a> Reviewer<'a> {
    /// A function whose arguments must lead into the folder of the run.
    pub(super) fn paths(&mut self, path: &str, call: &'a ast::ExprCall) {
        if path.contains('(') && !table::is_row(path) {
            return;
        }
        let reach = |expr: &Expr| self.reach(expr, DEPTH);
        let keywords = call.arguments.keywords.iter();
        let mut reaches: Vec<Reach> = call.arguments.args.iter().map(reach).collect();
        // The other arguments are no paths, or not always.
        let (from, to) = positions(path);
        for (at, other) in reaches.iter_mut().enumerate() {
            if *other == Reach::Unreadable && !(from..to).contains(&at) {
                *other = Reach::Inside;
            }
        }
        reaches.extend(keywords.map(|keyword| match reach(&keyword.value) {
            Reach::Unreadable => Reach::Inside,
            other => other,
        }));
        let (concern, what) = match reaches.into_iter().max() {
            Some(Reach::Outside) => (Concern::Files, "reaches outside the script's folder"),
            Some(Reach::Remote) => (Concern::Network, "reads from another machine"),
            Some(Reach::Unreadable) => (
                Concern::Files,
                "takes a path that is only known at run time",
            ),
            _ => return,
        };
        self.add(call.range(), concern, format!("`{}` {what}", shown(path)));
    }

    /// `Path(...) / ".."`
    pub(super) fn joined_path(&mut self, operation: &ast::ExprBinOp) {
        let objects = self.names.resolve(&operation.left);
        let is_path = objects.iter().any(|path| path.starts_with("pathlib."));
        let texts = self.names.texts(&operation.right);
        if operation.op == Operator::Div && is_path && texts.iter().any(|text| is_outside(text)) {
            let what = "`/` reaches outside the script's folder";
            self.add(operation.range(), Concern::Files, what);
        }
    }

    /// `sys.path.append(...)`
    pub(super) fn search_path(&mut self, path: &str, call: &'a ast::ExprCall) {
        let changes = ["sys.path.append", "sys.path.insert", "sys.path.extend"];
        let args = &call.arguments.args;
        let named = args.last().map(|named| match named {
            Expr::List(list) => list.elts.iter().map(|part| self.reach(part, DEPTH)).max(),
            other => Some(self.reach(other, DEPTH)),
        });
        let is_inside = named.flatten().unwrap_or(Reach::Inside) == Reach::Inside;
        if changes.contains(&path) && !is_inside {
            let what = "changes where Python looks for modules";
            self.add(call.range(), Concern::Files, what);
        }
    }

    /// Whether a function takes a path that the review cannot trace to its text.
    pub(super) fn opens_blindly(&self) -> bool {
        self.tree.nodes.iter().any(|node| {
            let AnyNodeRef::ExprCall(call) = node.node else {
                return false;
            };
            let takes_path = |path: &String| {
                let path = table::canonical(path);
                table::judge(&path) == table::NameJudgement::Guarded(table::Guard::Path)
                    && !path.contains('(')
            };
            let first = call.arguments.args.first();
            first.is_some_and(|first| {
                self.names.texts(first).is_empty() && !self.is_temporary(first)
            }) && self.names.resolve(&call.func).iter().any(takes_path)
        })
    }

    /// `folder = folder.parent` in a loop climbs to the root.
    pub(super) fn climbing(&mut self, assign: &'a ast::StmtAssign, place: NodePlace<'a>) {
        let base = match &*assign.value {
            Expr::Attribute(attribute) if attribute.attr.as_str() == "parent" => &*attribute.value,
            Expr::Call(call) if self.names.resolve(&call.func).contains("os.path.dirname") => {
                match call.arguments.args.first() {
                    Some(first) => first,
                    None => return,
                }
            }
            _ => return,
        };
        let Expr::Name(base) = base else { return };
        let is_same = |target: &Expr| matches!(target, Expr::Name(name) if name.id == base.id);
        let is_loop = |node: AnyNodeRef<'_>| {
            matches!(node, AnyNodeRef::StmtWhile(_) | AnyNodeRef::StmtFor(_))
        };
        let opens = self.opens_blindly || !self.names.resolve(&assign.value).is_empty();
        if opens
            && assign.targets.iter().any(is_same)
            && self.tree.ancestors(place.index).any(is_loop)
        {
            let what = "climbs out of the script's folder";
            self.add(place.range, Concern::Files, what);
        }
    }

    fn reach(&self, expr: &Expr, depth: usize) -> Reach {
        if self.is_temporary(expr) {
            return self.worst_part(expr, Reach::Inside);
        }
        let texts = self.names.texts(expr);
        if !texts.is_empty() {
            return texts
                .iter()
                .map(|text| reach_of(text))
                .max()
                .unwrap_or(Reach::Inside);
        }
        let Some(deeper) = depth.checked_sub(1) else {
            return Reach::Inside;
        };
        let worst = |parts: &[&Expr]| {
            let reaches = parts.iter().map(|part| self.reach(part, deeper));
            reaches.max().unwrap_or(Reach::Inside)
        };
        match expr {
            Expr::Name(name) => {
                let values = self.values.get(name.id.as_str());
                let values = values.into_iter().flatten();
                values
                    .map(|value| self.reach(value, deeper))
                    .max()
                    .unwrap_or(Reach::Inside)
            }
            Expr::BinOp(operation) => {
                let left = worst(&[&operation.left]);
                let lefts = self.names.texts(&operation.left);
                if operation.op == Operator::Mod && lefts.iter().any(|text| text.contains("%c")) {
                    return Reach::Unreadable;
                }
                let right = match operation.op {
                    // Only at the start a separator leads out.
                    Operator::Add => match self.reach(&operation.right, deeper) {
                        Reach::Outside if !self.climbs(&operation.right) => Reach::Inside,
                        other => other,
                    },
                    _ => worst(&[&operation.right]),
                };
                left.max(right)
            }
            Expr::FString(text) => {
                let mut reach = Reach::Inside;
                for element in text.value.elements() {
                    reach = reach.max(match element {
                        ast::InterpolatedStringElement::Literal(literal) => {
                            let is_first = literal.range().start() <= text.range().start() + FIRST;
                            match reach_of(&literal.value) {
                                Reach::Outside if !is_first && !has_climb(&literal.value) => {
                                    Reach::Inside
                                }
                                other => other,
                            }
                        }
                        ast::InterpolatedStringElement::Interpolation(part) => {
                            self.reach(&part.expression, deeper)
                        }
                    });
                }
                reach
            }
            Expr::If(choice) => worst(&[&choice.body, &choice.orelse]),
            Expr::Starred(starred) => worst(&[&starred.value]),
            Expr::Call(call) => self.reach_of_call(call, deeper),
            Expr::Attribute(_) | Expr::Subscript(_) => self.reach_of_member(expr),
            _ => Reach::Inside,
        }
    }

    /// Where the path leads that a call gives.
    fn reach_of_call(&self, call: &ast::ExprCall, deeper: usize) -> Reach {
        let args = call.arguments.args.iter();
        let of_args = args
            .map(|arg| self.reach(arg, deeper))
            .max()
            .unwrap_or(Reach::Inside);
        if let Expr::Attribute(method) = &*call.func {
            let of_object = self.reach(&method.value, deeper);
            let is_text = !self.names.texts(&method.value).is_empty();
            match method.attr.as_str() {
                "join" | "translate" | "decode"
                    if is_text || method.value.is_string_literal_expr() =>
                {
                    return Reach::Unreadable;
                }
                "joinpath" | "with_name" | "with_suffix" | "format" | "replace" => {
                    return of_object.max(of_args);
                }
                _ => {}
            }
        }
        let mut reach = Reach::Inside;
        for path in self.names.resolve(&call.func) {
            let path = table::canonical(&path);
            let is_path = [
                "os.path.",
                "pathlib.",
                "os.fspath",
                "os.getcwd",
                "tempfile.",
                "io.",
            ]
            .iter()
            .any(|start| path.starts_with(start))
                || matches!(path.as_str(), "builtins.str" | "builtins.int" | "os.getpid");
            let is_environ = path.starts_with("os.environ") || path == "os.getenv";
            reach = reach.max(if is_environ {
                Reach::Outside
            } else if is_path {
                of_args
            } else if is_harmless_value(&path) {
                Reach::Inside
            } else {
                Reach::Unreadable
            });
        }
        reach
    }

    /// Where an attribute or an element leads: `torch.__file__`, `os.sep`, `sys.argv[1]`.
    fn reach_of_member(&self, expr: &Expr) -> Reach {
        let mut reach = Reach::Inside;
        for path in self.names.resolve(expr) {
            let path = table::canonical(&path);
            let leads_out = path.starts_with("os.environ[")
                || path.ends_with(".__file__")
                || matches!(
                    path.as_str(),
                    "os.sep"
                        | "os.pardir"
                        | "os.path.sep"
                        | "os.path.pardir"
                        | "sys.executable"
                        | "sys.prefix"
                );
            reach = reach.max(if leads_out {
                Reach::Outside
            } else if path.starts_with("sys.argv[") || is_part_of_text(&path) {
                Reach::Unreadable
            } else {
                Reach::Inside
            });
        }
        reach
    }

    /// The worst of the texts within an expression.
    fn worst_part(&self, expr: &Expr, least: Reach) -> Reach {
        let climbs = any_over_expr(expr, &|part: &Expr| {
            let texts = self.names.texts(part);
            let leaves = part.is_attribute_expr() && self.reach_of_member(part) == Reach::Outside;
            leaves || texts.iter().any(|text| is_outside(text))
        });
        if climbs { Reach::Outside } else { least }
    }

    fn climbs(&self, expr: &Expr) -> bool {
        any_over_expr(expr, &|part: &Expr| {
            self.names.texts(part).iter().any(|text| has_climb(text))
        })
    }

    /// Whether a path is built from one of `tempfile`.
    pub(super) fn is_temporary(&self, expr: &Expr) -> bool {
        any_over_expr(expr, &|part: &Expr| {
            let paths = self.names.resolve(part);
            paths.iter().any(|path| path.starts_with("tempfile."))
        })
    }

    /// Whether the script stores something in a value that a function returned.
    fn stores_into(&self, path: &str) -> bool {
        self.tree.nodes.iter().any(|node| match node.node {
            AnyNodeRef::ExprSubscript(subscript) => {
                subscript.ctx == ast::ExprContext::Store
                    && self.names.resolve(&subscript.value).contains(path)
            }
            _ => false,
        })
    }

    /// Literal paths to which the program saves.
    pub(super) fn saved(&self) -> BTreeSet<String> {
        let mut saved: BTreeSet<String> = BTreeSet::new();
        for node in &self.tree.nodes {
            let AnyNodeRef::ExprCall(call) = node.node else {
                continue;
            };
            let paths = self.names.resolve(&call.func);
            let is_save = paths.iter().any(|path| {
                let name = path.rsplit('.').next().unwrap_or_default();
                name.starts_with("save")
                    || matches!(name, "aoti_compile_and_package" | "package_aoti")
            }) || matches!(&*call.func, Expr::Attribute(method) if matches!(method.attr.as_str(), "save" | "to_pickle"));
            let keeps = paths.contains("shelve.open") && self.stores_into("shelve.open()");
            let opens_to_write = paths.contains("builtins.open")
                && call.arguments.args.get(1).is_some_and(|mode| {
                    self.names
                        .texts(mode)
                        .iter()
                        .any(|mode| mode.starts_with('w'))
                });
            if is_save || opens_to_write || keeps {
                let keywords = call.arguments.keywords.iter();
                saved.extend(
                    call.arguments
                        .args
                        .iter()
                        .chain(keywords.map(|keyword| &keyword.value))
                        .flat_map(|arg| self.names.texts(arg))
                        .filter(|text| !is_outside(text)),
                );
            }
        }
        saved
    }
}

/// The start of an f-string: its prefix and quotes.
const FIRST: minrepro_reducers::syntax::TextSize = minrepro_reducers::syntax::TextSize::new(5);

/// A letter or a slice of a path: `os.getcwd()[0]`.
fn is_part_of_text(path: &str) -> bool {
    let makes_text = [
        "os.path.",
        "os.getcwd()",
        "builtins.str()",
        "builtins.bytes()",
        "builtins.repr()",
    ];
    path.ends_with(']') && makes_text.iter().any(|start| path.starts_with(start))
}

/// Whether the value of a path may be part of a file's path: numbers and dates, input of strangers
/// (which is reported elsewhere), and values of objects, but not the content of a file.
fn is_harmless_value(path: &str) -> bool {
    MEASURES.iter().any(|module| path.starts_with(module))
        || table::judge(path) == table::NameJudgement::Unknown
        || (path.contains('(') && !path.starts_with("builtins.open()"))
}

/// Where a function takes its paths.
fn positions(path: &str) -> (usize, usize) {
    match path {
        "torch.save"
        | "torch.serialization.save"
        | "torch.export.save"
        | "torch.jit.save"
        | "safetensors.torch.save_file"
        | "safetensors.torch.save_model"
        | "safetensors.numpy.save_file"
        | "onnx.save" => (1, 2),
        "torch.onnx.export" => (2, 3),
        "os.makedirs" | "os.mkdir" => (0, 0),
        _ if path.starts_with("shutil.") || path.starts_with("os.re") => (0, 2),
        _ => (0, 1),
    }
}

fn reach_of(text: &str) -> Reach {
    if network::is_far_url(text) {
        Reach::Remote
    } else if is_outside(text) {
        Reach::Outside
    } else {
        Reach::Inside
    }
}

/// Whether a path leads out of the folder of the run.
pub(super) fn is_outside(path: &str) -> bool {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let is_absolute = path.starts_with('/')
        && !path.starts_with("/tmp/")
        && !path.starts_with("/dev/shm/")
        && !["/dev/null", "/tmp"].contains(&path);
    is_absolute
        || path.starts_with('~')
        || path.starts_with("$HOME")
        || has_climb(path)
        || path.get(1..3) == Some(":\\")
}

/// Whether a text is an absolute path of more than one part.
pub(super) fn is_absolute_file(text: &str) -> bool {
    let parts = text.strip_prefix('/').unwrap_or_default().split('/');
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_alphanumeric() || "._-".contains(char))
    };
    is_outside(text) && parts.clone().count() > 1 && parts.clone().all(is_part)
}

fn has_climb(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

/// Whether a text is a path into a folder of the system or of its users.
pub(super) fn is_system(text: &str) -> bool {
    const ROOTS: &[&str] = &[
        "etc", "home", "root", "usr", "var", "bin", "sbin", "lib", "lib64", "proc", "sys", "boot",
        "mnt", "media", "Users", "Library", "private", "System",
    ];
    let is_path = !text.contains(char::is_whitespace) && text.len() < 400;
    let below = text.strip_prefix('/').and_then(|rest| rest.split_once('/'));
    let is_rooted = below.is_some_and(|(root, rest)| !rest.is_empty() && ROOTS.contains(&root));
    let climbs = text.starts_with("../../") || text.starts_with("~/") || text.contains("/../../");
    is_path && (is_rooted || climbs)
}
