//! Names that are only looked up at run time: attributes, modules and variables by texts. Called by
//! the rules.

use minrepro_reducers::{
    analysis::names::held_module,
    syntax::{
        AnyNodeRef, Ranged,
        ast::{self, Expr, ExprContext},
    },
};

use super::{
    Concern, hidden,
    rules::{NodePlace, Reviewer},
    table::{self, NameJudgement},
};

impl<'a> Reviewer<'a> {
    /// `getattr(x, name)` and its kin.
    pub(super) fn lookup(&mut self, path: &str, call: &'a ast::ExprCall, place: NodePlace<'a>) {
        let args = &call.arguments.args;
        let (object, name) = match path {
            "builtins.globals" | "builtins.locals" => return self.namespace(call, place),
            "builtins.vars" => {
                return match args.first() {
                    None => self.namespace(call, place),
                    Some(object) if !self.names.resolve(object).is_empty() => {
                        self.check_vars(call, object, place);
                    }
                    Some(_) => {}
                };
            }
            "operator.attrgetter" | "operator.methodcaller" => (None, args.first()),
            "builtins.getattr"
            | "builtins.setattr"
            | "builtins.delattr"
            | "builtins.hasattr"
            | "inspect.getattr_static"
            | "unittest.mock.patch.object" => (args.first(), args.get(1)),
            _ => return,
        };
        let Some(name) = name else { return };
        let texts = self.names.texts(name);
        let is_module = object.is_some_and(|object| {
            self.names
                .resolve(object)
                .iter()
                .any(|path| table::is_capability(&table::canonical(path)))
        });
        if matches!(path, "builtins.setattr" | "unittest.mock.patch.object") {
            self.set_by_name(call, place);
        }
        let is_unread = texts.is_empty()
            && path != "builtins.hasattr"
            && (is_module
                || self.is_computed(name, 4)
                || (object.is_none() && !name.is_name_expr()));
        if is_unread {
            let what = "looks up a name that is only known at run time";
            self.add(call.range(), Concern::Obfuscation, what);
        }
        let leads_out = texts.iter().flat_map(|text| text.split('.')).any(|part| {
            hidden::is_internal(part)
                || (object.is_none() && (hidden::leads_out(part) || held_module(part).is_some()))
        });
        if leads_out {
            let what = "reaches the internals of the interpreter";
            self.add(call.range(), Concern::Obfuscation, what);
        }
    }

    /// `setattr(os, "environ", x)` is `os.environ = x`.
    fn set_by_name(&mut self, call: &'a ast::ExprCall, place: NodePlace<'a>) {
        let [object, name, value, ..] = &*call.arguments.args else {
            return;
        };
        let (objects, names) = (self.names.resolve(object), self.names.texts(name));
        for object in &objects {
            for name in &names {
                let path = format!("{object}.{name}");
                self.setting_at(&path, value);
                self.obtained(&[path].into(), true, place);
            }
        }
    }

    /// `vars(os)`, unless a name that can be read is taken from it.
    fn check_vars(&mut self, call: &ast::ExprCall, object: &Expr, place: NodePlace<'a>) {
        let objects = self.names.resolve(object);
        let is_known = objects.iter().any(|path| {
            !path.ends_with(')')
                && table::judge(&table::canonical(path)) != NameJudgement::Unknown
                && !path.starts_with("builtins.")
        });
        if is_known && !self.is_readable_lookup(place) {
            let what = "takes all names of something outside the script";
            self.add(call.range(), Concern::Obfuscation, what);
        }
    }

    /// `globals()`: harmless if a name that can be read is taken from it.
    fn namespace(&mut self, call: &ast::ExprCall, place: NodePlace<'a>) {
        let is_passed_as_scope = match place.above {
            Some(AnyNodeRef::Keyword(keyword)) => {
                let name = keyword.arg.as_deref();
                matches!(name, Some("globals" | "locals"))
            }
            _ => false,
        };
        if !is_passed_as_scope && !self.is_readable_lookup(place) {
            let what = "takes all names of the script";
            self.add(call.range(), Concern::Obfuscation, what);
        }
    }

    /// Whether a name that can be read is taken from a mapping of names.
    pub(super) fn is_readable_lookup(&self, place: NodePlace<'a>) -> bool {
        match place.above {
            Some(AnyNodeRef::ExprSubscript(subscript)) => {
                subscript.value.range() == place.range
                    && !self.names.texts(&subscript.slice).is_empty()
            }
            Some(AnyNodeRef::ExprCompare(_)) => true,
            Some(AnyNodeRef::ExprAttribute(method)) => {
                let mut above = self.tree.ancestors(place.index).skip(1);
                let called = match above.next() {
                    Some(AnyNodeRef::ExprCall(call)) => call.arguments.args.first(),
                    _ => None,
                };
                matches!(method.attr.as_str(), "get" | "pop" | "setdefault")
                    && called.is_some_and(|name| !self.names.texts(name).is_empty())
            }
            _ => false,
        }
    }

    /// A key of a mapping of names or modules that is only known at run time.
    pub(super) fn hidden_key(&mut self, subscript: &'a ast::ExprSubscript) {
        let object = self.names.resolve(&subscript.value);
        let texts = self.names.texts(&subscript.slice);
        let is_mapping = object.iter().any(|path| {
            path.ends_with(".__dict__")
                || path == "sys.modules"
                || path == "globals"
                || path.ends_with("__builtins__")
                || path == "builtins"
        });
        let is_replaced = subscript.ctx != ExprContext::Load
            && object.contains("sys.modules")
            && !matches!(subscript.ctx, ExprContext::Del);
        if is_mapping && (texts.is_empty() || is_replaced) {
            let what = "looks up a name that is only known at run time";
            self.add(subscript.range(), Concern::Obfuscation, what);
        }
        if is_mapping && texts.iter().any(|text| hidden::is_internal(text)) {
            let what = "reaches the internals of the interpreter";
            self.add(subscript.range(), Concern::Obfuscation, what);
        }
    }

    /// A module, or a name in one, that is imported by a text.
    pub(super) fn import_by_name(&mut self, path: &str, call: &'a ast::ExprCall) {
        if path.contains('(') {
            return;
        }
        let first = call.arguments.args.first().or_else(|| {
            let keyword = call.arguments.find_keyword("name");
            keyword.map(|keyword| &keyword.value)
        });
        let texts = first.map(|name| self.names.texts(name)).unwrap_or_default();
        if texts.is_empty() {
            let what = "imports a module whose name is only known at run time";
            self.add(call.range(), Concern::Commands, what);
        }
        for text in texts {
            let name = table::canonical(&text.replace(':', "."));
            let concern = match table::judge(&name) {
                NameJudgement::Unknown | NameJudgement::Unlisted => Concern::Unlisted,
                NameJudgement::Danger(concern, _) if name.contains('.') => concern,
                _ => continue,
            };
            let what = format!("imports `{name}` by a text");
            self.add(call.range(), concern, what);
        }
    }

    /// Whether a text is put together at run time from parts that cannot be read.
    pub(super) fn is_computed(&self, expr: &Expr, depth: usize) -> bool {
        let Some(deeper) = depth.checked_sub(1) else {
            return false;
        };
        if !self.names.texts(expr).is_empty() {
            return false;
        }
        match expr {
            Expr::Name(name) => {
                let values = self.values.get(name.id.as_str());
                let mut values = values.into_iter().flatten();
                values.any(|value| self.is_computed(value, deeper))
            }
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) => matches!(
                    method.attr.as_str(),
                    "join" | "decode" | "translate" | "replace" | "fromhex" | "read" | "to_bytes"
                ),
                function => {
                    let paths = self.names.resolve(function);
                    [
                        "builtins.chr",
                        "builtins.bytes",
                        "builtins.bytearray",
                        "builtins.input",
                    ]
                    .iter()
                    .any(|path| paths.contains(*path))
                }
            },
            Expr::BinOp(operation) => {
                self.is_computed(&operation.left, deeper)
                    || self.is_computed(&operation.right, deeper)
                    || operation.left.is_string_literal_expr() && operation.op == ast::Operator::Mod
            }
            Expr::Subscript(subscript) => subscript.slice.is_slice_expr(),
            _ => false,
        }
    }
}
