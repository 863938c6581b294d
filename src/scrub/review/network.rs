//! Connections to other machines, and the names of this one. Called by the rules.

use std::collections::BTreeSet;

use minrepro_reducers::syntax::ast::{self, Expr};

use super::rules::Reviewer;

impl Reviewer<'_> {
    /// The connections that a call makes to other machines.
    pub(super) fn connections(
        &self,
        path: &str,
        call: &ast::ExprCall,
        first: Option<&Expr>,
    ) -> Vec<&'static str> {
        let mut found = Vec::new();
        let texts = |expr: Option<&Expr>| -> BTreeSet<String> {
            expr.map(|expr| self.names.texts(expr)).unwrap_or_default()
        };
        let host = |expr: Option<&Expr>| match expr {
            Some(Expr::Tuple(pair)) => pair
                .elts
                .first()
                .map(|host| self.names.texts(host))
                .unwrap_or_default(),
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
                self.names.resolve(address).contains("socket.gethostname()")
            });
            if speaks && !asks_for_itself && is_elsewhere(&host(address)) {
                found.push("connects to another machine");
            }
        }
        if name == "init_process_group" || name == "init_rpc" {
            let method = texts(
                call.arguments
                    .find_keyword("init_method")
                    .map(|keyword| &keyword.value),
            );
            let is_far = method.iter().any(|url| {
                url.strip_prefix("tcp://").is_some_and(|rest| {
                    !is_local(rest.rsplit_once(':').map_or(rest, |(host, _)| host))
                })
            });
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

/// Whether a host is this machine.
pub(super) fn is_local(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    matches!(host, "" | "localhost" | "::1" | "ip6-localhost") || host.starts_with("127.")
}
