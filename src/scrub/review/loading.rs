//! Calls that read files which can hold code. Called by the rules.

use minrepro_reducers::{
    analysis::calls::any_argument,
    syntax::{
        AnyNodeRef, Node, Ranged,
        ast::{self, Expr},
    },
};

use super::{
    Concern, pickled,
    rules::{Reviewer, shown},
    table,
};

/// Keywords that name the file to read.
const NAMED: &[&str] = &[
    "f",
    "file",
    "path",
    "fname",
    "filepath_or_buffer",
    "filename",
    "package_path",
];

/// How many names, functions and mappings a value is followed through.
const DEEP: usize = 4;

impl<'a> Reviewer<'a> {
    /// A function that unpickles or loads code. It is harmless if it cannot run code, or reads a
    /// file that the script wrote.
    pub(super) fn loading(&mut self, path: &str, call: &'a ast::ExprCall) {
        if path.contains('(') {
            return;
        }
        let range = call.range();
        let first = any_argument(call, 0, NAMED);
        let is_spread = call
            .arguments
            .keywords
            .iter()
            .any(|keyword| keyword.arg.is_none());
        let is_safe = match path {
            "torch.load" | "torch.serialization.load" => is_set(call, "weights_only"),
            "numpy.load" => !may_be_set(call, "allow_pickle"),
            _ => false,
        } && !is_spread
            && call.arguments.find_keyword("pickle_module").is_none();
        if is_safe {
            return self.paths(path, call);
        }
        if first.is_some_and(|loaded| self.is_own(loaded)) {
            return;
        }
        let what = format!("`{}` {}", shown(path), table::reason(path));
        self.add(range, Concern::Loading, what);
    }

    /// Whether something that is loaded was written by the script.
    fn is_own(&self, loaded: &Expr) -> bool {
        if let Expr::BytesLiteral(bytes) = loaded {
            let bytes: Vec<u8> = bytes.value.bytes().collect();
            return pickled::is_data(&bytes);
        }
        let texts = self.names.texts(loaded);
        if self.writes_foreign_bytes() {
            return false;
        }
        if texts.iter().any(|text| self.saved.contains(text)) {
            return true;
        }
        let paths = self.names.resolve(loaded);
        let is_made = paths.iter().any(|path| {
            let made = [
                "io.BytesIO()",
                "io.BytesIO().getvalue()",
                "pickle.dumps()",
                "torch._inductor.aoti_compile_and_package()",
            ];
            made.contains(&&*table::canonical(path))
        });
        let opened = match loaded {
            Expr::Call(call) if self.names.resolve(&call.func).contains("builtins.open") => {
                call.arguments.args.first()
            }
            _ => None,
        };
        is_made
            || self.is_dumped(loaded, DEEP)
            || (self.is_temporary(loaded) && !texts.iter().any(|text| text.contains("..")))
            || self.is_opened_own(loaded)
            || opened.is_some_and(|path| self.is_own(path))
    }

    /// `with open("x.pkl", "rb") as f: pickle.load(f)`, where the script wrote `x.pkl`.
    fn is_opened_own(&self, loaded: &Expr) -> bool {
        let Expr::Name(name) = loaded else {
            return false;
        };
        let values = self.values.get(name.id.as_str());
        values.is_some_and(|values| {
            values.iter().all(|value| match value {
                Expr::Call(call) => {
                    let opens = self.names.resolve(&call.func).contains("builtins.open");
                    let path = call.arguments.args.first();
                    opens && path.is_some_and(|path| self.is_own(path))
                }
                _ => false,
            })
        })
    }

    /// Whether the script writes bytes that neither `save` nor `dumps` made. Files that it reads
    /// back may then hold anything.
    fn writes_foreign_bytes(&self) -> bool {
        self.tree.nodes.iter().any(|node| {
            let AnyNodeRef::ExprCall(call) = node.node else {
                return false;
            };
            let first = call.arguments.args.first();
            let makes_buffer = self.names.resolve(&call.func).contains("io.BytesIO");
            let writes = matches!(
                &*call.func,
                Expr::Attribute(method)
                    if matches!(method.attr.as_str(), "write" | "write_bytes" | "writelines")
            );
            first.is_some_and(|bytes| {
                let is_text = bytes.is_string_literal_expr() || bytes.is_f_string_expr();
                (makes_buffer || writes) && !is_text && !self.is_dumped(bytes, DEEP)
            })
        })
    }

    /// `pickle.dumps(x)` and `buffer.getvalue()`, perhaps passed through names, functions and
    /// mappings of the script.
    fn is_dumped(&self, bytes: &Expr, depth: usize) -> bool {
        let paths = self.names.resolve(bytes);
        let is_direct = paths
            .iter()
            .any(|path| path.ends_with(".getvalue()") || path.ends_with("pickle.dumps()"))
            || matches!(bytes, Expr::Call(call) if matches!(&*call.func, Expr::Attribute(method) if method.attr.as_str() == "getvalue"));
        let Some(deeper) = depth.checked_sub(1) else {
            return is_direct;
        };
        let sources = match bytes {
            Expr::Name(name) => match self.values.get(name.id.as_str()) {
                // A loop, or a parameter of this name, would bind other values.
                Some(values) => (self.stores(name.id.as_str()) == values.len()
                    && !self.is_parameter(name.id.as_str()))
                .then(|| values.clone()),
                None if self.stores(name.id.as_str()) == 0 => self.passed(name.id.as_str()),
                None => None,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => self.returned(name.id.as_str()),
                _ => None,
            },
            Expr::Subscript(item) => self.stored_in(&item.value),
            _ => None,
        };
        is_direct
            || sources.is_some_and(|sources| {
                !sources.is_empty() && sources.iter().all(|source| self.is_dumped(source, deeper))
            })
    }

    /// How often a name is bound other than as a parameter.
    fn stores(&self, name: &str) -> usize {
        let nodes = self.tree.nodes.iter();
        let is_it = |node: &Node<'_>| {
            matches!(node.node, AnyNodeRef::ExprName(bound)
                if bound.id == name && bound.ctx == ast::ExprContext::Store)
        };
        nodes.filter(|node| is_it(node)).count()
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.tree.nodes.iter().any(|node| {
            matches!(node.node, AnyNodeRef::Parameter(parameter) if parameter.name.as_str() == name)
        })
    }

    /// The values that calls pass to the parameters of a name; none if one cannot be told.
    fn passed(&self, name: &str) -> Option<Vec<&'a Expr>> {
        let mut found = Vec::new();
        for node in &self.tree.nodes {
            let AnyNodeRef::StmtFunctionDef(def) = node.node else {
                continue;
            };
            let is_it = |parameter: &ast::ParameterWithDefault| parameter.name().as_str() == name;
            let Some(at) = def.parameters.args.iter().position(is_it) else {
                continue;
            };
            let first = def.parameters.args.first();
            let is_method = first.is_some_and(|first| first.name().as_str() == "self");
            // A decorator may call the function with anything.
            if !def.decorator_list.is_empty() {
                return None;
            }
            let at = at.checked_sub(usize::from(is_method))?;
            let mut calls = 0;
            for node in &self.tree.nodes {
                let mentions = match node.node {
                    AnyNodeRef::ExprName(function) => function.id == *def.name.id(),
                    AnyNodeRef::ExprAttribute(method) => method.attr == def.name,
                    _ => false,
                };
                if !mentions {
                    continue;
                }
                // Whoever is handed the function may call it with anything.
                let parent = self.tree.nodes[node.parent? as usize];
                let AnyNodeRef::ExprCall(call) = parent.node else {
                    return None;
                };
                if call.func.range() != node.node.range() {
                    return None;
                }
                found.push(any_argument(call, at, &[name])?);
                calls += 1;
            }
            if calls == 0 {
                return None;
            }
        }
        Some(found)
    }

    /// The values that the functions of a name return; none if one returns nothing.
    fn returned(&self, name: &str) -> Option<Vec<&'a Expr>> {
        let mut found = Vec::new();
        for node in &self.tree.nodes {
            let AnyNodeRef::StmtFunctionDef(def) = node.node else {
                continue;
            };
            if def.name.as_str() != name {
                continue;
            }
            for inner in &self.tree.nodes {
                if let AnyNodeRef::StmtReturn(stmt) = inner.node
                    && def.range().contains_range(stmt.range())
                {
                    found.push(stmt.value.as_deref()?);
                }
            }
        }
        Some(found)
    }

    /// The values stored under the keys of a mapping of the script; none if it is made with any, or
    /// used in another way than by its keys.
    fn stored_in(&self, mapping: &Expr) -> Option<Vec<&'a Expr>> {
        let last = |expr: &Expr| match expr {
            Expr::Name(name) => Some(name.id.as_str().to_owned()),
            Expr::Attribute(attribute) => Some(attribute.attr.as_str().to_owned()),
            _ => None,
        };
        let name = last(mapping)?;
        let is_foreign = !self.names.resolve(mapping).is_empty() || self.is_parameter(&name);
        let is_kept = |node: &Node<'a>| {
            let is_stored = match node.node {
                AnyNodeRef::ExprName(expr) if expr.id == name => !expr.ctx.is_load(),
                AnyNodeRef::ExprAttribute(expr) if expr.attr == *name => !expr.ctx.is_load(),
                _ => return true,
            };
            let parent = node.parent.map(|at| self.tree.nodes[at as usize].node);
            match parent {
                Some(AnyNodeRef::ExprSubscript(item)) => item.value.range() == node.node.range(),
                Some(AnyNodeRef::StmtAssign(_) | AnyNodeRef::StmtAnnAssign(_)) => is_stored,
                _ => false,
            }
        };
        if is_foreign || !self.tree.nodes.iter().all(is_kept) {
            return None;
        }
        let mut found = Vec::new();
        for node in &self.tree.nodes {
            let (targets, value) = match node.node {
                AnyNodeRef::StmtAssign(assign) => (assign.targets.as_slice(), Some(&*assign.value)),
                AnyNodeRef::StmtAnnAssign(assign) => (
                    std::slice::from_ref(&*assign.target),
                    assign.value.as_deref(),
                ),
                _ => continue,
            };
            for target in targets {
                let is_empty = value
                    .is_none_or(|value| matches!(value, Expr::Dict(dict) if dict.items.is_empty()));
                match target {
                    Expr::Subscript(item) if last(&item.value).as_ref() == Some(&name) => {
                        found.push(value?);
                    }
                    target if last(target).as_ref() == Some(&name) && !is_empty => return None,
                    _ => {}
                }
            }
        }
        Some(found)
    }
}

/// Whether a keyword is `True`.
fn is_set(call: &ast::ExprCall, keyword: &str) -> bool {
    let value = call.arguments.find_keyword(keyword);
    value
        .is_some_and(|keyword| matches!(&keyword.value, Expr::BooleanLiteral(value) if value.value))
}

/// Whether a keyword is given, and not as `False`.
fn may_be_set(call: &ast::ExprCall, keyword: &str) -> bool {
    let value = call.arguments.find_keyword(keyword);
    value.is_some_and(
        |keyword| !matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value),
    )
}
