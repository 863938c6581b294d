//! The environment variables and settings that a script may change. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::syntax::{
    AnyNodeRef, Node, Ranged, TextRange,
    ast::{self, Expr},
};

use super::{Concern, files, network::is_local, rules::Reviewer, table};

/// Beginnings of variables that PyTorch and its libraries obey.
const KNOWN: &[&str] = &[
    "TORCH",
    "PYTORCH_",
    "CUDA_",
    "CUBLAS_",
    "CUDNN_",
    "NCCL_",
    "GLOO_",
    "OMP_",
    "MKL_",
    "KMP_",
    "MASTER_",
    "TRITON_",
    "INDUCTOR_",
    "AOT_",
    "HIP_",
    "ROCM_",
    "HSA_",
    "TP_",
    "ATEN_",
    "DNNL_",
    "ONEDNN_",
    "XLA_",
    "PJRT_",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "TOKENIZERS_PARALLELISM",
    "LOCAL_",
    "GROUP_",
    "ROLE_",
];

/// Parts of variables, of PyTorch's among them, that name programs, libraries and folders.
const RISKY_PARTS: &[&str] = &[
    "PLUGIN",
    "_PATH",
    "_HOME",
    "_LIB",
    "INJECTION",
    "PRELOAD",
    "PROXY",
    "CONFIG_FILE",
    "PASSWORD",
];

/// Variables by which other programs find programs, libraries and modules, or decide whom to trust.
const RISKY: &[&str] = &[
    "PATH",
    "HOME",
    "SHELL",
    "IFS",
    "ENV",
    "BASH_ENV",
    "CC",
    "CXX",
    "LD",
    "NVCC",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "PERL5OPT",
    "RUBYOPT",
    "NODE_OPTIONS",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "PROMPT_COMMAND",
    "PS1",
];

const RISKY_BEGINNINGS: &[&str] = &[
    "LD_",
    "DYLD_",
    "PYTHON",
    "GIT_",
    "GH_",
    "GITHUB_",
    "AWS_",
    "SSL_",
    "CURL_",
    "REQUESTS_",
    "PIP_",
    "CONDA_",
    "UV_",
    "BASH_",
    "GCONV",
];

const HARMLESS: &[&str] = &[
    "PYTHONHASHSEED",
    "PYTHONUNBUFFERED",
    "PYTHONFAULTHANDLER",
    "PYTHONWARNINGS",
];

/// Parts of variables that hold secrets.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASS",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "_KEY",
    "AUTH",
];

/// Settings of PyTorch's compiler that are texts and name programs, folders or code.
const COMMAND_SETTINGS: &[&str] = &[
    "cxx", "gcc", "nvcc", "compiler", "command", "cmd", "dir", "path", "root", "include", "flags",
    "remote", "file", "linker", "home",
];

impl<'a> Reviewer<'a> {
    /// A call of `os.getenv` or of a method of `os.environ`.
    pub(super) fn environ_call(&mut self, path: &str, call: &'a ast::ExprCall) {
        let range = call.range();
        let args = &call.arguments.args;
        let texts = args
            .first()
            .map(|key| self.names.texts(key))
            .unwrap_or_default();
        let name = path.rsplit('.').next().unwrap_or_default();
        match name {
            "getenv" | "get" | "__getitem__" | "__contains__" => self.variable_read(range, &texts),
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
            "setdefault" | "putenv" | "pop" | "__setitem__" | "__delitem__" => {
                self.variable(range, &texts, args.get(1).filter(|_| name != "pop"));
            }
            "clear" => self.add(range, Concern::Environment, "clears the environment"),
            "copy" => {}
            _ => {
                let what = "reads all variables of the environment";
                self.add(range, Concern::Environment, what);
            }
        }
    }

    /// Variables that are read.
    pub(super) fn variable_read(&mut self, range: TextRange, names: &BTreeSet<String>) {
        for name in names {
            let upper = name.to_uppercase();
            if SECRET.iter().any(|part| upper.contains(part)) {
                self.add(range, Concern::Environment, format!("reads `{name}`"));
            }
        }
    }

    /// `os.environ.update(...)` and `os.environ |= ...`.
    pub(super) fn updated(&mut self, range: TextRange, args: &[Expr], keywords: &[String]) {
        for key in keywords {
            self.variable(range, &[key.clone()].into(), None);
        }
        for arg in args {
            let Some(items) = self.items(arg) else {
                let what = "sets variables that are only known at run time";
                self.add(range, Concern::Environment, what);
                continue;
            };
            for (names, value) in items {
                self.variable(range, &names, Some(value));
            }
        }
    }

    /// The keys and values of a dictionary that is written out: a literal, `dict(a=1)`, or a name
    /// of one.
    fn items<'b>(&self, expr: &'b Expr) -> Option<Vec<(BTreeSet<String>, &'b Expr)>>
    where
        'a: 'b,
    {
        match expr {
            Expr::Dict(dict) => Some(
                dict.items
                    .iter()
                    .map(|item| {
                        let key = item.key.as_ref();
                        let names = key.map(|key| self.names.texts(key)).unwrap_or_default();
                        (names, &item.value)
                    })
                    .collect(),
            ),
            Expr::Call(call) if call.arguments.args.is_empty() => {
                let keywords = call.arguments.keywords.iter();
                let named = keywords.map(|keyword| {
                    let name = keyword.arg.as_ref().map(ToString::to_string);
                    (name.into_iter().collect(), &keyword.value)
                });
                Some(named.collect())
            }
            Expr::Name(name) => {
                let values = self.values.get(name.id.as_str())?;
                let mut all = Vec::new();
                for value in values.iter().filter(|value| !value.is_name_expr()) {
                    all.extend(self.items(value)?);
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// Whether an environment has a variable that is a concern, or one that cannot be read.
    pub(super) fn sets_risky(&self, environment: &Expr) -> bool {
        let Some(items) = self.items(environment) else {
            return true;
        };
        let mut names = items.into_iter().flat_map(|(names, _)| names);
        names.any(|name| is_risky(&name.to_uppercase()))
    }

    /// A variable that is set.
    pub(super) fn variable(
        &mut self,
        range: TextRange,
        names: &BTreeSet<String>,
        value: Option<&Expr>,
    ) {
        if names.is_empty() {
            let what = "sets a variable that is only known at run time";
            self.add(range, Concern::Environment, what);
        }
        let texts = value
            .map(|value| self.names.texts(value))
            .unwrap_or_default();
        for name in names {
            let upper = name.to_uppercase();
            let is_known = HARMLESS.contains(&upper.as_str())
                || KNOWN.iter().any(|start| upper.starts_with(start))
                || ["RANK", "WORLD_SIZE"].contains(&upper.as_str());
            let is_plain = |text: &String| {
                text.chars()
                    .all(|char| char.is_ascii_alphanumeric() || "_,+-= ".contains(char))
            };
            let leads_out = texts.iter().any(|text| files::is_outside(text));
            let is_vague = !is_known && value.is_some() && !texts.iter().all(is_plain);
            let is_unread = !is_known
                && value.is_some_and(|value| texts.is_empty() && !value.is_number_literal_expr());
            if is_risky(&upper) || leads_out || is_vague || is_unread {
                self.add(range, Concern::Environment, format!("sets `{name}`"));
            }
            if name == "MASTER_ADDR" && texts.iter().any(|host| !is_local(host)) {
                let what = "joins processes of another machine";
                self.add(range, Concern::Network, what);
            }
        }
    }

    /// A setting of PyTorch's compiler: `torch._inductor.config.cpp.cxx = ...`.
    pub(super) fn setting(&mut self, target: &Expr, value: &Expr) {
        if !target.is_attribute_expr() {
            return;
        }
        for path in self.names.resolve(target) {
            self.setting_at(&path, value);
        }
    }

    /// A setting by its path.
    pub(super) fn setting_at(&mut self, path: &str, value: &Expr) {
        let path = table::canonical(path);
        if let Some((_, key)) = path.split_once(".config.")
            && path.starts_with("torch.")
        {
            self.setting_of(key, value);
        }
    }

    /// `config.__dict__["cpp.cxx"] = ...`, and `options["cpp.cxx"] = ...` of options that are
    /// passed to the compiler.
    pub(super) fn setting_by_key(&mut self, subscript: &'a ast::ExprSubscript, value: &Expr) {
        let objects = self.names.resolve(&subscript.value);
        let is_config = objects.iter().any(|path| path.contains(".config"));
        let is_options = |node: &Node<'_>| match node.node {
            AnyNodeRef::Keyword(keyword) => {
                keyword.arg.as_deref() == Some("options")
                    && keyword.value.as_name_expr().map(|name| &name.id)
                        == subscript.value.as_name_expr().map(|name| &name.id)
            }
            _ => false,
        };
        if is_config || self.tree.nodes.iter().any(is_options) {
            for key in self.names.texts(&subscript.slice) {
                self.setting_of(&key, value);
            }
        }
    }

    /// Settings in a dictionary: `config.patch({...})`, `torch.compile(options={...})`.
    pub(super) fn settings(&mut self, dict: &Expr) {
        for (keys, value) in self.items(dict).unwrap_or_default() {
            for key in keys {
                self.setting_of(&key, value);
            }
        }
    }

    pub(super) fn setting_of(&mut self, key: &str, value: &Expr) {
        let lower = key.to_lowercase();
        let is_risky = COMMAND_SETTINGS.iter().any(|part| lower.contains(part))
            && !matches!(
                value,
                Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) | Expr::NumberLiteral(_)
            )
            && !self.is_temporary(value);
        if is_risky {
            let what = format!("sets `{key}` of the compiler");
            self.add(value.range(), Concern::Commands, what);
        }
    }
}

fn is_risky(name: &str) -> bool {
    if HARMLESS.contains(&name) {
        return false;
    }
    RISKY.contains(&name)
        || RISKY_PARTS.iter().any(|part| name.contains(part))
        || RISKY_BEGINNINGS.iter().any(|start| name.starts_with(start))
}
