//! The environment variables that a script may set. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::syntax::{TextRange, ast::Expr};

use super::{Concern, network::is_local, rules::Reviewer};

impl Reviewer<'_> {
    /// `os.environ.update(...)` and `os.environ |= ...`.
    pub(super) fn updated(&mut self, range: TextRange, args: &[Expr], keywords: &[String]) {
        for key in keywords {
            self.variable(range, &[key.clone()].into(), None);
        }
        for arg in args {
            let Expr::Dict(dict) = arg else {
                self.add(
                    range,
                    Concern::Environment,
                    "sets variables that are only known at run time".to_owned(),
                );
                continue;
            };
            for item in &dict.items {
                let texts = item
                    .key
                    .as_ref()
                    .map(|key| self.names.texts(key))
                    .unwrap_or_default();
                self.variable(range, &texts, Some(&item.value));
            }
        }
    }

    pub(super) fn variable(
        &mut self,
        range: TextRange,
        names: &BTreeSet<String>,
        value: Option<&Expr>,
    ) {
        if names.is_empty() {
            self.add(
                range,
                Concern::Environment,
                "sets a variable that is only known at run time".to_owned(),
            );
        }
        for name in names {
            if is_dangerous(name) {
                self.add(range, Concern::Environment, format!("sets `{name}`"));
            }
            let far = value
                .map(|value| self.names.texts(value))
                .unwrap_or_default();
            if name == "MASTER_ADDR" && far.iter().any(|host| !is_local(host)) {
                self.add(
                    range,
                    Concern::Network,
                    "joins processes of another machine".to_owned(),
                );
            }
        }
    }
}

/// Whether a variable changes the behaviour of other programs: where they look for programs,
/// libraries and modules, whom they trust, and which compiler they use.
fn is_dangerous(name: &str) -> bool {
    let name = name.to_uppercase();
    let names = [
        "PATH",
        "HOME",
        "SHELL",
        "IFS",
        "ENV",
        "BASH_ENV",
        "CC",
        "CXX",
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
    let is_harmless = [
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
        "PYTHONFAULTHANDLER",
        "PYTHONWARNINGS",
    ]
    .contains(&name.as_str());
    let prefixes = [
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
    ];
    names.contains(&name.as_str())
        || name.ends_with("_PROXY")
        || (prefixes.iter().any(|prefix| name.starts_with(prefix)) && !is_harmless)
}
