//! Calls that read files which can hold code. Called by the rules.

use minrepro_reducers::{
    analysis::calls::any_argument,
    syntax::{
        AnyNodeRef, Ranged,
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
                (makes_buffer || writes) && !is_text && !self.is_dumped(bytes)
            })
        })
    }

    /// `pickle.dumps(x)` and `buffer.getvalue()`.
    fn is_dumped(&self, bytes: &Expr) -> bool {
        let paths = self.names.resolve(bytes);
        paths
            .iter()
            .any(|path| path.ends_with(".getvalue()") || path.ends_with("pickle.dumps()"))
            || matches!(bytes, Expr::Call(call) if matches!(&*call.func, Expr::Attribute(method) if method.attr.as_str() == "getvalue"))
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
