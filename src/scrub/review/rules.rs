//! The rules of the review, applied to every expression of a program. Called by the module above.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::{
        calls::any_argument,
        names::{NameResolver, Paths},
    },
    syntax::{
        AnyNodeRef, Node, Program, Ranged, TextRange, Tree,
        ast::{self, Expr, ExprContext, helpers::any_over_expr},
    },
};

use super::{Concern, Finding, hidden, line_of, paths};

/// Names of `from torch import *` that hide built-in ones.
const EXPORTS: &[&str] = &["torch.compile"];

/// Reviews one program.
pub(super) struct Reviewer<'a> {
    pub(super) program: &'a Program,
    pub(super) tree: &'a Tree<'a>,
    pub(super) names: NameResolver,
    /// Files that the program itself writes.
    saved: BTreeSet<String>,
    found: Vec<Finding>,
}

impl<'a> Reviewer<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let mut reviewer = Self {
            program,
            tree: program.tree(),
            names: NameResolver::of(program, EXPORTS),
            saved: BTreeSet::new(),
            found: Vec::new(),
        };
        reviewer.saved = reviewer.saved();
        reviewer
    }

    pub(super) fn findings(mut self) -> Vec<Finding> {
        for index in 0..self.tree.nodes.len() {
            let Node { node, parent } = self.tree.nodes[index];
            let above = parent.map(|at| self.tree.nodes[at as usize].node);
            match node {
                AnyNodeRef::ExprName(name) if name.ctx != ExprContext::Load => {}
                AnyNodeRef::ExprName(_) | AnyNodeRef::ExprAttribute(_) => self.access(node, above),
                AnyNodeRef::ExprCall(call) => self.call(call),
                AnyNodeRef::ExprSubscript(subscript) => self.subscript(subscript, above),
                AnyNodeRef::StmtAugAssign(assign) if self.names.is_environ(&assign.target) => {
                    self.updated(assign.range(), std::slice::from_ref(&*assign.value), &[]);
                }
                AnyNodeRef::ExprBytesLiteral(bytes) => {
                    let length: usize = bytes.value.iter().map(|part| part.value.len()).sum();
                    let is_config = self
                        .tree
                        .ancestors(index as u32)
                        .any(|ancestor| hidden::is_load_config(ancestor));
                    if length > 256 && !is_config {
                        self.add(
                            bytes.range(),
                            Concern::Obfuscation,
                            format!("contains a literal of {length} bytes"),
                        );
                    }
                    self.escapes(bytes.range());
                }
                AnyNodeRef::ExprStringLiteral(text) => {
                    self.escapes(text.range());
                    if hidden::is_packed(text.value.to_str()) {
                        self.add(
                            text.range(),
                            Concern::Obfuscation,
                            "contains a long text that looks encoded".to_owned(),
                        );
                    }
                }
                _ if node.is_statement() => self.characters(node),
                _ => {}
            }
        }
        self.found
    }

    pub(super) fn add(&mut self, range: TextRange, concern: Concern, what: String) {
        let line = line_of(self.program, range.start());
        self.found.push(Finding {
            line,
            concern,
            what,
        });
    }

    /// A name or a chain of attributes, called or not.
    fn access(&mut self, node: AnyNodeRef<'a>, above: Option<AnyNodeRef<'a>>) {
        if let AnyNodeRef::ExprAttribute(attribute) = node
            && paths::is_internal(attribute.attr.as_str())
        {
            self.add(
                node.range(),
                Concern::Obfuscation,
                format!(
                    "reaches the internals of the interpreter by `{}`",
                    attribute.attr
                ),
            );
        }
        // The longest chain is the most specific.
        if matches!(above, Some(AnyNodeRef::ExprAttribute(_))) {
            return;
        }
        let Some(expr) = node.as_expr_ref() else {
            return;
        };
        let is_called =
            matches!(above, Some(AnyNodeRef::ExprCall(call)) if call.func.range() == node.range());
        for path in self.resolve_ref(expr) {
            if let Some((concern, what)) = paths::anywhere(&path) {
                self.add(node.range(), concern, format!("`{}` {what}", shown(&path)));
            } else if paths::is_launcher(&path) && !is_called {
                self.add(
                    node.range(),
                    Concern::Commands,
                    format!("`{path}` runs a command"),
                );
            } else if matches!(
                path.as_str(),
                "sys.meta_path" | "sys.path_hooks" | "sys.settrace" | "sys.addaudithook"
            ) {
                self.add(
                    node.range(),
                    Concern::Obfuscation,
                    format!("`{path}` changes how the interpreter works"),
                );
            }
        }
    }

    fn resolve_ref(&self, node: ast::ExprRef<'_>) -> Paths {
        match node {
            ast::ExprRef::Name(name) => self.names.resolve(&Expr::Name(name.clone())),
            ast::ExprRef::Attribute(attribute) => {
                self.names.resolve(&Expr::Attribute(attribute.clone()))
            }
            _ => Paths::new(),
        }
    }

    fn subscript(&mut self, subscript: &ast::ExprSubscript, above: Option<AnyNodeRef<'a>>) {
        if self.names.is_environ(&subscript.value) {
            if subscript.ctx != ExprContext::Load {
                let value = match above {
                    Some(AnyNodeRef::StmtAssign(assign)) => Some(&*assign.value),
                    _ => None,
                };
                let texts = self.names.texts(&subscript.slice);
                self.variable(subscript.range(), &texts, value);
            }
            return;
        }
        let object = self.names.resolve(&subscript.value);
        let whole = self.names.resolve(&Expr::Subscript(subscript.clone()));
        self.looked_up(subscript.range(), &whole);
        let is_hidden = self.names.texts(&subscript.slice).is_empty()
            && object.iter().any(|path| {
                path.ends_with(".__dict__")
                    || path == "sys.modules"
                    || path.ends_with("__builtins__")
                    || path == "builtins"
            });
        if is_hidden {
            self.add(
                subscript.range(),
                Concern::Obfuscation,
                "looks up a name that is only known at run time".to_owned(),
            );
        }
    }

    /// A call or a subscript that looks up a function or a module.
    fn looked_up(&mut self, range: TextRange, whole: &Paths) {
        for path in whole
            .iter()
            .filter(|path| !path.ends_with("()") && !path.ends_with(']'))
        {
            if let Some((concern, what)) = paths::anywhere(path) {
                self.add(range, concern, format!("`{}` {what}", shown(path)));
            } else if paths::is_launcher(path) {
                self.add(range, Concern::Commands, format!("`{path}` runs a command"));
            }
        }
    }

    fn call(&mut self, call: &'a ast::ExprCall) {
        let range = call.range();
        let whole = self.names.resolve(&Expr::Call(call.clone()));
        self.looked_up(range, &whole);
        let first = any_argument(call, 0, &["file", "path", "args", "f", "name"]);
        for path in &self.names.resolve(&call.func) {
            self.hidden_name(path, call);
            self.command(path, call, first);
            self.paths(path, call, first);
            self.loading(path, call, first);
            self.decoding(path, range);
            self.network(path, call, first);
            match path.as_str() {
                "timeit.timeit"
                | "timeit.repeat"
                | "timeit.Timer"
                | "torch.utils.benchmark.Timer" => {
                    self.inner_code(call);
                }
                "types.FunctionType" | "types.CodeType" => {
                    self.add(range, Concern::Commands, format!("`{path}` creates code"));
                }
                "os.kill" | "os.killpg" if !self.is_own_process(first) => {
                    let what = format!("`{path}` sends a signal to another process");
                    self.add(range, Concern::Commands, what);
                }
                _ => {}
            }
        }
        if let Expr::Attribute(method) = &*call.func {
            if self.names.is_environ(&method.value) {
                self.environ_method(method, call, first);
            }
            self.method(method, call, first);
        }
    }

    fn is_own_process(&self, id: Option<&Expr>) -> bool {
        id.is_some_and(|id| self.names.resolve(id).contains("os.getpid()"))
    }

    /// A method of `os.environ`.
    fn environ_method(
        &mut self,
        method: &ast::ExprAttribute,
        call: &ast::ExprCall,
        first: Option<&Expr>,
    ) {
        let range = call.range();
        let args = &call.arguments.args;
        match method.attr.as_str() {
            "update" => {
                let keywords: Vec<String> = call
                    .arguments
                    .keywords
                    .iter()
                    .filter_map(|keyword| keyword.arg.as_ref())
                    .map(ToString::to_string)
                    .collect();
                self.updated(range, args, &keywords);
            }
            name @ ("setdefault" | "pop" | "__setitem__" | "__delitem__") => {
                let texts = first.map(|key| self.names.texts(key)).unwrap_or_default();
                self.variable(range, &texts, args.get(1).filter(|_| name != "pop"));
            }
            "clear" => self.add(
                range,
                Concern::Environment,
                "clears the environment".to_owned(),
            ),
            _ => {}
        }
    }

    /// A method that touches files, or runs a command of a notebook.
    fn method(&mut self, method: &ast::ExprAttribute, call: &ast::ExprCall, first: Option<&Expr>) {
        let range = call.range();
        let name = method.attr.as_str();
        let object = self.names.resolve(&method.value);
        let is_path = object
            .iter()
            .any(|path| path.starts_with("pathlib.") && path.contains("()"));
        if let Some(what) = paths::writes_by_name(name)
            && !self.is_temporary(&method.value)
        {
            self.add(range, Concern::Files, format!("`{name}` {what}"));
        } else if is_path && paths::changes_path(name) && !self.is_temporary(&method.value) {
            let reads_only = name == "open" && !self.writes(first);
            if !reads_only {
                let what = format!("`{name}` changes a file or folder");
                self.add(range, Concern::Files, what);
            }
        }
        if object.iter().any(|path| path.ends_with("get_ipython()")) {
            let what = "runs a command of the notebook".to_owned();
            self.add(range, Concern::Commands, what);
            let args = call.arguments.args.iter();
            let texts: BTreeSet<String> = args.flat_map(|arg| self.texts_within(arg)).collect();
            self.installs(range, &texts);
        }
    }

    /// A name that is only known at run time.
    fn hidden_name(&mut self, path: &str, call: &ast::ExprCall) {
        let args = &call.arguments.args;
        match path {
            "builtins.getattr" | "inspect.getattr_static" => {
                let Some([object, name]) = args.get(..2) else {
                    return;
                };
                let texts = self.names.texts(name);
                let modules = self.names.resolve(object);
                let is_risky = modules.iter().any(|module| {
                    matches!(
                        module.as_str(),
                        "os" | "sys"
                            | "subprocess"
                            | "builtins"
                            | "shutil"
                            | "socket"
                            | "ctypes"
                            | "importlib"
                            | "pathlib"
                            | "posix"
                            | "pickle"
                    )
                });
                if texts.is_empty() && is_risky {
                    self.add(
                        call.range(),
                        Concern::Obfuscation,
                        "looks up a name that is only known at run time".to_owned(),
                    );
                }
                if texts.iter().any(|text| paths::is_internal(text)) {
                    self.add(
                        call.range(),
                        Concern::Obfuscation,
                        "reaches the internals of the interpreter".to_owned(),
                    );
                }
            }
            "builtins.__import__"
            | "importlib.import_module"
            | "importlib.__import__"
            | "pydoc.locate"
            | "pkgutil.resolve_name" => {
                let texts = args
                    .first()
                    .map(|arg| self.names.texts(arg))
                    .unwrap_or_default();
                if texts.is_empty() {
                    self.add(
                        call.range(),
                        Concern::Commands,
                        "imports a module whose name is only known at run time".to_owned(),
                    );
                }
            }
            _ => {}
        }
    }

    fn command(&mut self, path: &str, call: &ast::ExprCall, first: Option<&Expr>) {
        let runs = paths::is_launcher(path);
        let is_command =
            runs || paths::anywhere(path).is_some_and(|(concern, _)| concern == Concern::Commands);
        if !is_command {
            return;
        }
        if runs && !first.is_some_and(|command| self.is_torchrun(command)) {
            self.add(
                call.range(),
                Concern::Commands,
                format!("`{path}` runs a command"),
            );
        }
        let texts: BTreeSet<String> = call
            .arguments
            .args
            .iter()
            .flat_map(|arg| self.texts_within(arg))
            .collect();
        self.installs(call.range(), &texts);
        if texts.iter().any(|text| {
            text.split_whitespace()
                .any(|word| ["curl", "wget", "scp", "ssh", "nc", "ncat"].contains(&word))
        }) {
            self.add(
                call.range(),
                Concern::Network,
                "runs a command that connects to other machines".to_owned(),
            );
        }
    }

    fn installs(&mut self, range: TextRange, texts: &BTreeSet<String>) {
        let words: Vec<&str> = texts
            .iter()
            .flat_map(|text| text.split_whitespace())
            .collect();
        let names_one = words.iter().any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            [
                "pip",
                "pip3",
                "conda",
                "mamba",
                "uv",
                "apt",
                "apt-get",
                "easy_install",
                "brew",
                "yum",
                "dnf",
                "npm",
            ]
            .contains(&name)
        });
        if names_one && words.contains(&"install") {
            self.add(range, Concern::Installing, "installs packages".to_owned());
        }
    }

    /// `["torchrun", ...]` and `[sys.executable, "-m", "torch.distributed.run", ...]`.
    fn is_torchrun(&self, command: &Expr) -> bool {
        if let Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) =
            command
        {
            let word = |at: usize| {
                elts.get(at)
                    .and_then(|command| self.names.texts(command).pop_first())
            };
            let is_launcher = |arg: Option<String>| {
                arg.is_some_and(|text| {
                    matches!(
                        text.as_str(),
                        "torch.distributed.run"
                            | "torch.distributed.launch"
                            | "torch.distributed.elastic.run"
                    )
                })
            };
            let is_python = elts
                .first()
                .is_some_and(|program| self.names.resolve(program).contains("sys.executable"))
                || word(0).is_some_and(|word| word == "python" || word == "python3");
            return word(0).as_deref() == Some("torchrun")
                || (is_python && word(1).as_deref() == Some("-m") && is_launcher(word(2)));
        }
        self.names.texts(command).iter().any(|text| {
            (text.starts_with("torchrun ") || text.starts_with("python -m torch.distributed."))
                && !text.contains([';', '|', '&', '$', '`', '>'])
        })
    }

    /// The texts of an expression and of the elements of its lists.
    fn texts_within(&self, expr: &Expr) -> BTreeSet<String> {
        if let Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) =
            expr
        {
            return elts
                .iter()
                .flat_map(|element| self.texts_within(element))
                .collect();
        }
        self.names.texts(expr)
    }

    fn paths(&mut self, path: &str, call: &ast::ExprCall, first: Option<&Expr>) {
        if !paths::reads_path(path) {
            return;
        }
        let range = call.range();
        let index = usize::from(path == "sys.path.insert");
        let named = if index == 1 {
            call.arguments.args.get(1)
        } else {
            first
        };
        let Some(named) = named else { return };
        let texts = self.names.texts(named);
        if texts.iter().any(|text| is_outside(text)) {
            self.add(
                range,
                Concern::Files,
                format!("`{}` reaches outside the script's folder", shown(path)),
            );
        }
        let opens = matches!(
            path,
            "builtins.open" | "io.open" | "codecs.open" | "gzip.open" | "bz2.open"
        );
        let mode = call.arguments.args.get(1).or_else(|| {
            call.arguments
                .find_keyword("mode")
                .map(|keyword| &keyword.value)
        });
        let writes = if opens {
            self.writes(mode)
        } else if path == "os.open" {
            call.arguments.args.iter().skip(1).any(|flag| {
                let text = self.program.slice(flag.range());
                ["O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"]
                    .iter()
                    .any(|flag| text.contains(flag))
            })
        } else {
            false
        };
        let is_own = self.is_temporary(named)
            || texts.iter().any(|text| {
                text == "/dev/null" || (text.starts_with("/tmp/") && !text.contains(".."))
            });
        if writes && !is_own {
            self.add(
                range,
                Concern::Files,
                format!("`{}` writes a file", shown(path)),
            );
        }
    }

    /// Whether a mode allows writing or is unknown.
    fn writes(&self, mode: Option<&Expr>) -> bool {
        let Some(mode) = mode else { return false };
        let texts = self.names.texts(mode);
        texts.is_empty() || texts.iter().any(|text| text.contains(['w', 'a', 'x', '+']))
    }

    /// Whether a path is built from one of `tempfile`.
    fn is_temporary(&self, expr: &Expr) -> bool {
        let is_of_tempfile = |part: &Expr| {
            let paths = self.names.resolve(part);
            paths.iter().any(|path| path.starts_with("tempfile."))
        };
        any_over_expr(expr, &is_of_tempfile) && !self.program.slice(expr.range()).contains("..")
    }

    fn loading(&mut self, path: &str, call: &ast::ExprCall, first: Option<&Expr>) {
        let Some(what) = paths::loads(path) else {
            return;
        };
        let is_true = |keyword: &ast::Keyword| {
            let literal = keyword.value.as_boolean_literal_expr();
            literal.is_none_or(|literal| literal.value)
        };
        if path == "numpy.load"
            && !call
                .arguments
                .find_keyword("allow_pickle")
                .is_some_and(is_true)
        {
            return;
        }
        let is_own = first.is_some_and(|loaded| {
            self.is_temporary(loaded)
                || self.names.resolve(loaded).iter().any(|path| {
                    [
                        "io.BytesIO()",
                        "pickle.dumps()",
                        "_pickle.dumps()",
                        "io.StringIO()",
                        "torch._inductor.aoti_compile_and_package()",
                    ]
                    .iter()
                    .any(|own| path.starts_with(own))
                })
                || self
                    .names
                    .texts(loaded)
                    .iter()
                    .any(|text| self.saved.contains(text))
        });
        if !is_own {
            self.add(call.range(), Concern::Loading, format!("`{path}` {what}"));
        }
    }

    fn network(&mut self, path: &str, call: &ast::ExprCall, first: Option<&Expr>) {
        for what in self.connections(path, call, first) {
            self.add(call.range(), Concern::Network, what.to_owned());
        }
    }

    /// Reviews code in texts that are run.
    fn inner_code(&mut self, call: &ast::ExprCall) {
        let values = call
            .arguments
            .args
            .iter()
            .chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
        let texts: Vec<String> = values.flat_map(|value| self.names.texts(value)).collect();
        for text in texts {
            let Ok(program) = Program::parse(text) else {
                continue;
            };
            for finding in super::review(&program) {
                self.add(call.range(), finding.concern, finding.what);
            }
        }
    }

    /// Literal paths to which the program saves.
    fn saved(&self) -> BTreeSet<String> {
        let mut saved: BTreeSet<String> = BTreeSet::new();
        for node in &self.tree.nodes {
            let AnyNodeRef::ExprCall(call) = node.node else {
                continue;
            };
            let is_save = self
                .names
                .resolve(&call.func)
                .iter()
                .any(|path| path.starts_with("torch.") && path.contains("save"))
                || matches!(&*call.func, Expr::Attribute(attribute) if attribute.attr.as_str() == "save");
            if is_save {
                saved.extend(
                    call.arguments
                        .args
                        .iter()
                        .flat_map(|arg| self.names.texts(arg))
                        .filter(|text| !is_outside(text)),
                );
            }
        }
        saved
    }
}

/// Whether a path leads out of the folder of the run.
fn is_outside(path: &str) -> bool {
    let is_absolute = path.starts_with('/')
        && path.len() > 1
        && !path.starts_with("/tmp/")
        && path != "/dev/null"
        && path != "/tmp";
    is_absolute
        || path == "/"
        || path.starts_with('~')
        || path.split(['/', '\\']).any(|part| part == "..")
        || path.get(1..3) == Some(":\\")
}

pub(super) fn shown(path: &str) -> &str {
    path.strip_prefix("builtins.").unwrap_or(path)
}
