//! Calls that run commands, other processes or code in texts. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::calls::any_argument,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{self, Expr},
    },
};

use super::{
    Concern,
    rules::{CodeOrigin, NodePlace, Reviewer, shown},
    table,
};

impl<'a> Reviewer<'a> {
    /// `subprocess.run(...)`: harmless if it starts processes of `torchrun`, or Python on a script
    /// that can be read.
    pub(super) fn command(&mut self, path: &str, call: &'a ast::ExprCall) {
        // The output of a process is a text or a number.
        if path.contains('(') {
            return;
        }
        let first = any_argument(call, 0, &["args"]).map(|command| self.followed(command));
        let first = first.filter(|_| !self.is_rerouted(call));
        if first.is_some_and(|command| self.is_torchrun(command)) {
            return;
        }
        if let Some(inner) = first.and_then(|command| self.python_script(command)) {
            return self.review_text(&inner, call.range());
        }
        let what = format!("`{}` runs a command", shown(path));
        self.add(call.range(), Concern::Commands, what);
        self.command_texts(call);
    }

    /// Whether keywords make another program start than the command names, or in another place.
    fn is_rerouted(&self, call: &ast::ExprCall) -> bool {
        let keywords = call.arguments.keywords.iter();
        let mut reroutes = keywords.filter(|keyword| match keyword.arg.as_deref() {
            Some("executable" | "preexec_fn" | "cwd") | None => true,
            Some("env") => self.sets_risky(&keyword.value),
            _ => false,
        });
        reroutes.next().is_some()
    }

    /// The one value of a name.
    fn followed<'b>(&self, command: &'b Expr) -> &'b Expr
    where
        'a: 'b,
    {
        let Expr::Name(name) = command else {
            return command;
        };
        match self.values.get(name.id.as_str()).map(Vec::as_slice) {
            Some([only]) => only,
            _ => command,
        }
    }

    /// The other texts of a command.
    pub(super) fn command_texts(&mut self, call: &ast::ExprCall) {
        let args = call.arguments.args.iter();
        let texts: BTreeSet<String> = args.flat_map(|arg| self.texts_within(arg)).collect();
        let words: Vec<&str> = texts
            .iter()
            .flat_map(|text| text.split_whitespace())
            .map(|word| word.rsplit('/').next().unwrap_or(word))
            .collect();
        let installers = [
            "pip", "pip3", "conda", "mamba", "uv", "apt", "apt-get", "brew", "yum", "dnf", "npm",
        ];
        if words.contains(&"install") && words.iter().any(|word| installers.contains(word)) {
            self.add(call.range(), Concern::Installing, "installs packages");
        }
        let connects = ["curl", "wget", "scp", "ssh", "nc", "ncat"];
        if words.iter().any(|word| connects.contains(word)) {
            let what = "runs a command that connects to other machines";
            self.add(call.range(), Concern::Network, what);
        }
    }

    /// `["torchrun", ...]` and `[sys.executable, "-m", "torch.distributed.run", ...]`.
    fn is_torchrun(&self, command: &Expr) -> bool {
        const MODULES: [&str; 3] = [
            "torch.distributed.run",
            "torch.distributed.launch",
            "torch.distributed.elastic.run",
        ];
        let Some(words) = elements(command) else {
            return self.names.texts(command).iter().any(|text| {
                let is_plain = text
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || " -_./=:,".contains(char));
                let starts = ["torchrun ", "python -m torch.distributed."];
                is_plain
                    && !text.contains("no-python")
                    && !text.contains("no_python")
                    && starts.iter().any(|start| text.starts_with(start))
            });
        };
        let word = |at: usize| {
            words
                .get(at)
                .and_then(|word| self.names.texts(word).pop_first())
        };
        let all: BTreeSet<String> = words
            .iter()
            .flat_map(|word| self.names.texts(word))
            .collect();
        let is_launcher = word(0).as_deref() == Some("torchrun")
            || (self.is_python(words)
                && word(1).as_deref() == Some("-m")
                && word(2).is_some_and(|module| MODULES.contains(&module.as_str())));
        let is_elsewhere = all.iter().any(|word| word.starts_with('/'));
        is_launcher && !is_elsewhere && !all.contains("--no-python") && !all.contains("--no_python")
    }

    /// Whether a command starts the interpreter.
    fn is_python(&self, words: &[Expr]) -> bool {
        words.first().is_some_and(|program| {
            self.names.resolve(program).contains("sys.executable")
                || self
                    .names
                    .texts(program)
                    .iter()
                    .any(|text| text == "python" || text == "python3")
        })
    }

    /// The text of `[sys.executable, "-c", TEXT]`.
    fn python_script(&self, command: &Expr) -> Option<String> {
        let words = elements(command)?;
        let is_flag = |word: &Expr| {
            let texts = self.names.texts(word);
            texts.iter().any(|text| text == "-c")
        };
        let at = words.iter().position(is_flag)?;
        let options: BTreeSet<String> = words[1..at]
            .iter()
            .flat_map(|word| self.names.texts(word))
            .collect();
        let harmless = ["-u", "-I", "-S", "-B", "-W", "ignore", "-X", "faulthandler"];
        if !self.is_python(words) || !options.iter().all(|option| harmless.contains(&&**option)) {
            return None;
        }
        let mut texts = self.names.texts(words.get(at + 1)?).into_iter();
        texts.next().filter(|_| texts.next().is_none())
    }

    /// The texts of an expression and of the elements of its lists.
    fn texts_within(&self, expr: &Expr) -> BTreeSet<String> {
        match elements(expr) {
            Some(elements) => elements
                .iter()
                .flat_map(|element| self.texts_within(element))
                .collect(),
            None => self.names.texts(expr),
        }
    }

    /// Functions that run the texts they are given: `timeit.timeit("x + 1")`.
    pub(super) fn inner_code(&mut self, path: &str, call: &'a ast::ExprCall) {
        let keywords = call.arguments.keywords.iter();
        for keyword in keywords.clone() {
            let name = keyword.arg.as_deref();
            let is_language = name == Some("language");
            if is_language && !self.names.texts(&keyword.value).contains("python") {
                let what = format!("`{path}` compiles and runs native code");
                self.add(call.range(), Concern::Commands, what);
            }
        }
        let of_keywords = keywords.filter(|keyword| {
            let name = keyword.arg.as_deref();
            matches!(name, Some("stmt" | "setup" | "global_setup") | None)
        });
        let code = of_keywords
            .map(|keyword| &keyword.value)
            .chain(call.arguments.args.iter().take(2));
        for value in code {
            let texts = self.names.texts(value);
            if texts.is_empty() && !self.is_code(value, DEEP) {
                let what = format!("`{path}` runs a text that is only known at run time");
                self.add(value.range(), Concern::Obfuscation, what);
            }
            for text in texts {
                self.review_text(&text, call.range());
            }
        }
    }

    /// Whether a value is a function or an object rather than a text.
    fn is_code(&self, value: &Expr, depth: usize) -> bool {
        if value.is_string_literal_expr() {
            return false;
        }
        let Some(deeper) = depth.checked_sub(1) else {
            return false;
        };
        match value {
            Expr::Name(name) => self.values.get(name.id.as_str()).is_none_or(|values| {
                let mut values = values.iter();
                values.all(|value| self.is_code(value, deeper))
            }),
            // A sum of formulas is one.
            Expr::BinOp(operation) => {
                self.is_code(&operation.left, deeper) && self.is_code(&operation.right, deeper)
            }
            Expr::Call(call) => {
                !matches!(&*call.func, Expr::Attribute(method) if method.value.is_string_literal_expr())
            }
            _ => !matches!(value, Expr::FString(_) | Expr::Subscript(_)),
        }
    }

    /// Reviews code in a text.
    pub(super) fn review_text(&mut self, text: &str, range: TextRange) {
        match Program::parse(dedented(text)) {
            Ok(program) => {
                for finding in Reviewer::new(&program, CodeOrigin::Text).findings() {
                    self.add(range, finding.concern, finding.what);
                }
            }
            Err(_) => self.add(
                range,
                Concern::Obfuscation,
                "runs a text that does not parse",
            ),
        }
    }

    /// Calls that concern processes: signals to others, forks without end.
    pub(super) fn process(&mut self, path: &str, call: &'a ast::ExprCall, place: NodePlace<'a>) {
        let is_own = |id: &Expr| self.names.resolve(id).contains("os.getpid()");
        let first = call.arguments.args.first();
        let is_harmless = if path == "os.fork" {
            let mut above = self.tree.ancestors(place.index);
            !above.any(|node| matches!(node, AnyNodeRef::StmtWhile(_)))
        } else if path.contains("()") {
            true
        } else {
            let is_child = |id: &Expr| self.is_child(id);
            first.is_none_or(|id| is_own(id) || is_child(id)) && path != "os.killpg"
        };
        if !is_harmless {
            let what = if path == "os.fork" {
                "forks in a loop".to_owned()
            } else {
                format!("`{}` reaches another process", shown(path))
            };
            self.add(call.range(), Concern::Commands, what);
        }
    }

    /// Whether an id is that of a process that the script started: `os.fork()`, `process.pid`.
    fn is_child(&self, id: &Expr) -> bool {
        match id {
            Expr::Attribute(attribute) => attribute.attr.as_str() == "pid",
            Expr::Name(name) => self.values.get(name.id.as_str()).is_some_and(|values| {
                let mut values = values.iter();
                values.all(|value| {
                    let paths = self.names.resolve(value);
                    paths.iter().all(|path| {
                        let path = table::canonical(path);
                        path == "os.fork()" || path == "os.getpid()"
                    }) && !paths.is_empty()
                })
            }),
            _ => false,
        }
    }
}

/// How many assignments a value is followed through.
const DEEP: usize = 4;

/// The elements of a list or tuple.
fn elements(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
            Some(elts)
        }
        _ => None,
    }
}

/// A text without the white space that all of its lines begin with.
fn dedented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.get(indent..).unwrap_or_default())
        .collect();
    lines.join("\n") + "\n"
}
