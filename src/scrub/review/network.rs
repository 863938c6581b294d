//! Connections to other machines, and the names of this one. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::calls::any_argument,
    syntax::{
        Ranged,
        ast::{self, Expr},
    },
};

use super::{Concern, files, rules::Reviewer};

impl Reviewer<'_> {
    pub(super) fn network(&mut self, path: &str, call: &ast::ExprCall) {
        for what in self.connections(path, call) {
            self.add(call.range(), Concern::Network, what);
        }
    }

    /// The connections that a call makes to other machines.
    fn connections(&self, path: &str, call: &ast::ExprCall) -> Vec<&'static str> {
        let mut found = Vec::new();
        let texts = |expr: Option<&Expr>| -> BTreeSet<String> {
            expr.map(|expr| self.names.texts(expr)).unwrap_or_default()
        };
        let first = any_argument(call, 0, &["address", "host", "host_name"]);
        let host = |expr: Option<&Expr>| match expr {
            Some(Expr::Tuple(pair)) => texts(pair.elts.first()),
            other => texts(other),
        };
        let is_elsewhere =
            |hosts: &BTreeSet<String>| hosts.is_empty() || hosts.iter().any(|host| !is_local(host));
        let name = path.rsplit('.').next().unwrap_or_default();
        if path.starts_with("socket.") {
            let speaks = matches!(
                path,
                "socket.create_connection"
                    | "socket.gethostbyname"
                    | "socket.getaddrinfo"
                    | "socket.create_server"
            ) || (path.starts_with("socket.socket()")
                && matches!(name, "connect" | "connect_ex" | "sendto" | "bind"));
            let address = if name == "sendto" {
                call.arguments.args.last()
            } else {
                first
            };
            let asks_for_itself = address.is_some_and(|address| {
                let paths = self.names.resolve(address);
                paths.contains("socket.gethostname()")
            });
            if speaks && !asks_for_itself && is_elsewhere(&host(address)) {
                found.push("connects to another machine");
            }
            if matches!(name, "bind" | "create_server") && is_open_to_all(first, &host(address)) {
                found.push("accepts connections from other machines");
            }
        }
        if name == "init_process_group" || name == "init_rpc" {
            let given = call.arguments.find_keyword("init_method");
            let args = call.arguments.args.iter();
            let method: BTreeSet<String> = args
                .chain(given.map(|keyword| &keyword.value))
                .flat_map(|arg| texts(Some(arg)))
                .collect();
            let is_far = method.iter().any(|url| {
                url.strip_prefix("tcp://").is_some_and(|rest| {
                    !is_local(rest.rsplit_once(':').map_or(rest, |(host, _)| host))
                })
            });
            if method
                .iter()
                .any(|url| url.strip_prefix("file://").is_some_and(files::is_outside))
            {
                found.push("meets other processes in a file outside the script's folder");
            }
            if is_far {
                found.push("joins processes of another machine");
            }
        }
        if name == "TCPStore" && is_elsewhere(&texts(first)) {
            found.push("joins processes of another machine");
        }
        let is_set = |keyword: &str| {
            call.arguments.find_keyword(keyword).is_some_and(|keyword| {
                !matches!(&keyword.value, Expr::NoneLiteral(_))
                    && !matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value)
            })
        };
        let downloads = name == "from_pretrained"
            || is_set("download")
            || is_set("pretrained")
            || (path.starts_with("torchvision.models.") && is_set("weights"));
        if downloads {
            found.push("downloads a model or data");
        }
        found
    }
}

/// Whether an address is that of all networks and has a port. Port 0 is how scripts find a free one.
fn is_open_to_all(address: Option<&Expr>, hosts: &BTreeSet<String>) -> bool {
    let Some(Expr::Tuple(pair)) = address else {
        return false;
    };
    let is_free = matches!(
        pair.elts.get(1),
        Some(Expr::NumberLiteral(port)) if port.value.as_int().is_some_and(|port| port.as_u8() == Some(0))
    );
    !is_free
        && hosts
            .iter()
            .any(|host| matches!(host.as_str(), "" | "0.0.0.0" | "::"))
}

/// Whether a host is this machine.
pub(super) fn is_local(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    matches!(host, "" | "localhost" | "::1" | "ip6-localhost" | "0.0.0.0")
        || (host.starts_with("127.")
            && host
                .chars()
                .all(|char| char.is_ascii_digit() || char == '.'))
}

/// Whether a text is an address of another machine.
pub(super) fn is_far_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        let end = rest.find(['/', ':', '?']).unwrap_or(rest.len());
        let is_scheme =
            !scheme.is_empty() && scheme.chars().all(|char| char.is_ascii_alphanumeric());
        is_scheme && !matches!(scheme, "file" | "env") && !is_local(&rest[..end])
    })
}
