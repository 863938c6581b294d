//! The rules of the review, applied to every node of a program: where a name outside the script is
//! obtained it must be harmless, or be used in a way that can be read. Called by the module above.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::names::{NameResolver, Paths, held_module},
    syntax::{
        AnyNodeRef, Node, Program, Ranged, TextRange, Tree,
        ast::{self, Expr, ExprContext},
    },
};

use super::{
    Concern, Finding, hidden, line_of,
    table::{self, Guard, NameJudgement},
};

/// Names of `from torch import *` that hide built-in ones.
const EXPORTS: &[&str] = &["torch.compile"];

/// Whether the program is the script or a text within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeOrigin {
    /// The script.
    Script,
    /// A text that the script may run.
    Text,
}

/// Reviews one program.
pub(super) struct Reviewer<'a> {
    pub(super) program: &'a Program,
    pub(super) tree: &'a Tree<'a>,
    pub(super) names: NameResolver,
    pub(super) depth: CodeOrigin,
    /// Whether the program opens files at paths that come from elsewhere in it.
    pub(super) opens_blindly: bool,
    /// Files that the program itself writes.
    pub(super) saved: BTreeSet<String>,
    /// The values assigned to each name, anywhere.
    pub(super) values: BTreeMap<&'a str, Vec<&'a Expr>>,
    /// The attributes that the program defines.
    pub(super) attributes: BTreeSet<&'a str>,
    found: Vec<Finding>,
}

/// A node and its ancestors.
#[derive(Clone, Copy)]
pub(super) struct NodePlace<'a> {
    pub(super) index: u32,
    pub(super) above: Option<AnyNodeRef<'a>>,
    pub(super) range: TextRange,
}

impl<'a> Reviewer<'a> {
    pub(super) fn new(program: &'a Program, depth: CodeOrigin) -> Self {
        let mut reviewer = Self {
            program,
            tree: program.tree(),
            names: NameResolver::of(program, EXPORTS),
            depth,
            opens_blindly: false,
            saved: BTreeSet::new(),
            values: BTreeMap::new(),
            attributes: BTreeSet::new(),
            found: Vec::new(),
        };
        reviewer.read_definitions();
        reviewer.saved = reviewer.saved();
        reviewer.opens_blindly = reviewer.opens_blindly();
        reviewer
    }

    pub(super) fn findings(mut self) -> Vec<Finding> {
        self.source();
        for index in 0..self.tree.nodes.len() {
            let Node { node, parent } = self.tree.nodes[index];
            let place = NodePlace {
                index: index as u32,
                above: self.above(parent),
                range: node.range(),
            };
            match node {
                AnyNodeRef::StmtImport(import) => {
                    for alias in &import.names {
                        self.imported(alias.name.as_str(), place.range);
                    }
                }
                AnyNodeRef::StmtImportFrom(import) => self.import_from(import),
                AnyNodeRef::ExprName(name) => self.access(node, name.ctx, place),
                AnyNodeRef::ExprAttribute(attribute) => {
                    self.attribute(attribute.attr.as_str(), place);
                    self.access(node, attribute.ctx, place);
                }
                AnyNodeRef::PatternKeyword(keyword) => {
                    self.attribute(keyword.attr.as_str(), place);
                }
                AnyNodeRef::ExprCall(call) => self.call(call, place),
                AnyNodeRef::ExprBinOp(operation) => self.joined_path(operation),
                AnyNodeRef::ExprSubscript(subscript) => self.subscript(subscript, place),
                AnyNodeRef::StmtAssign(assign) => {
                    for target in &assign.targets {
                        self.setting(target, &assign.value);
                    }
                    self.climbing(assign, place);
                }
                AnyNodeRef::StmtAugAssign(assign) => {
                    if self.names.is_environ(&assign.target) {
                        self.updated(place.range, std::slice::from_ref(&*assign.value), &[]);
                    }
                    self.setting(&assign.target, &assign.value);
                }
                AnyNodeRef::ExprBytesLiteral(bytes) => self.bytes(bytes, place),
                AnyNodeRef::ExprStringLiteral(text) => self.text(text, place),
                _ => {}
            }
            if node.is_statement() {
                self.characters(node);
            }
        }
        self.found
    }

    /// The node above a node; for an argument, the call.
    fn above(&self, parent: Option<u32>) -> Option<AnyNodeRef<'a>> {
        let parent = self.tree.nodes[parent? as usize];
        match parent.node {
            AnyNodeRef::Arguments(_) => self.above(parent.parent),
            node => Some(node),
        }
    }

    pub(super) fn add(&mut self, range: TextRange, concern: Concern, what: impl Into<String>) {
        // A script's text must not control the terminal that shows it.
        let what: String = what.into();
        let what = what.chars().take(200);
        let what = what.map(|char| if char.is_control() { '?' } else { char });
        self.found.push(Finding {
            line: line_of(self.program, range.start()),
            concern,
            what: what.collect(),
        });
    }

    /// Collects the values assigned to each name, and the attributes that the program defines.
    fn read_definitions(&mut self) {
        for node in &self.tree.nodes {
            let (target, value) = match node.node {
                AnyNodeRef::StmtAssign(assign) => {
                    for target in &assign.targets {
                        self.defined(target, &assign.value);
                    }
                    continue;
                }
                AnyNodeRef::StmtAnnAssign(assign) => {
                    if let Some(value) = &assign.value {
                        self.defined(&assign.target, value);
                    } else if let Expr::Name(name) = &*assign.target {
                        self.attributes.insert(name.id.as_str());
                    }
                    continue;
                }
                AnyNodeRef::StmtAugAssign(assign) => (&assign.target, &assign.value),
                AnyNodeRef::ExprNamed(named) => (&named.target, &named.value),
                AnyNodeRef::WithItem(item) => {
                    if let Some(target) = &item.optional_vars {
                        self.defined(target, &item.context_expr);
                    }
                    continue;
                }
                AnyNodeRef::StmtFunctionDef(def) => {
                    self.attributes.insert(def.name.as_str());
                    continue;
                }
                AnyNodeRef::Parameter(parameter) => {
                    self.attributes.insert(parameter.name.as_str());
                    continue;
                }
                _ => continue,
            };
            self.defined(target, value);
        }
    }

    fn defined(&mut self, target: &'a Expr, value: &'a Expr) {
        match target {
            Expr::Name(name) => {
                self.attributes.insert(name.id.as_str());
                self.values.entry(name.id.as_str()).or_default().push(value);
            }
            Expr::Attribute(attribute) => {
                let held = self.names.resolve(value);
                if !held.iter().any(|path| table::is_capability(path)) {
                    self.attributes.insert(attribute.attr.as_str());
                }
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for target in elts {
                    self.defined(target, value);
                }
            }
            _ => {}
        }
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) {
        let range = import.range();
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        if import.level > 0 {
            self.add(
                range,
                Concern::Unlisted,
                "imports a module that is not in the script",
            );
            return;
        }
        for alias in &import.names {
            let name = alias.name.as_str();
            if name == "*" {
                self.imported(module, range);
                continue;
            }
            // A module that others hold is as good as an import of it.
            let held = held_module(name);
            self.imported(held.unwrap_or(&format!("{module}.{name}")), range);
        }
    }

    /// A module alone does nothing that it was not written for, if it is known.
    fn imported(&mut self, path: &str, range: TextRange) {
        let path = table::canonical(path);
        match table::judge(&path) {
            NameJudgement::Unknown => {
                let package = path.split('.').next().unwrap_or_default();
                let what = format!("imports `{package}`, which is not on the list");
                self.add(range, Concern::Package, what);
            }
            NameJudgement::Unlisted => self.add(range, Concern::Unlisted, unlisted(&path)),
            NameJudgement::Danger(concern, what) if path.contains('.') => {
                self.add(range, concern, format!("`{path}` {what}"));
            }
            _ => {}
        }
    }

    /// A name or a chain of attributes, called or not.
    fn access(&mut self, node: AnyNodeRef<'a>, ctx: ExprContext, place: NodePlace<'a>) {
        // The longest chain is the most specific.
        if matches!(place.above, Some(AnyNodeRef::ExprAttribute(_))) {
            return;
        }
        let expr = match node {
            AnyNodeRef::ExprName(name) if ctx == ExprContext::Load => Expr::Name(name.clone()),
            AnyNodeRef::ExprAttribute(attribute) => Expr::Attribute(attribute.clone()),
            _ => return,
        };
        let paths = self.names.resolve(&expr);
        self.obtained(&paths, ctx != ExprContext::Load, place);
    }

    /// Paths that an expression stands for, each of which must be harmless.
    pub(super) fn obtained(&mut self, paths: &Paths, is_stored: bool, place: NodePlace<'a>) {
        let is_own = paths.iter().all(|path| path.starts_with("builtins."))
            || !paths.iter().any(|path| path.starts_with("builtins."));
        for path in paths {
            let path = table::canonical(path);
            if is_stored && path.contains(['(', '[']) {
                continue;
            }
            match table::judge(&path) {
                NameJudgement::Harmless | NameJudgement::Unknown => {}
                // A star import rarely hides a built-in name.
                NameJudgement::Unlisted if !is_own => continue,
                NameJudgement::Danger(..)
                    if self.is_printed(&path, place) || self.is_type_check(place) => {}
                // The value of a dangerous call or a stranger, which was reported where it was
                // obtained.
                NameJudgement::Unlisted | NameJudgement::Danger(..) if table::is_result(&path) => {
                    continue;
                }
                NameJudgement::Unlisted => {
                    self.add(place.range, Concern::Unlisted, unlisted(&path));
                    continue;
                }
                NameJudgement::Danger(concern, what) => {
                    self.add(place.range, concern, format!("`{}` {what}", shown(&path)));
                    continue;
                }
                NameJudgement::Guarded(guard) => {
                    if is_stored {
                        self.stored(guard, &path, place);
                        continue;
                    }
                    if self.is_guard_respected(guard, &path, place) {
                        continue;
                    }
                    if guard == Guard::Environ && !self.may_be_named(place) {
                        let what = "reads all variables of the environment";
                        self.add(place.range, Concern::Environment, what);
                        continue;
                    }
                }
            }
            let owner = path.strip_suffix(".__dict__").unwrap_or(&path);
            let may_be_named = if owner.len() < path.len() {
                self.is_readable_lookup(place)
            } else {
                self.may_be_named(place)
            };
            if !is_stored && table::is_capability(owner) && !may_be_named {
                let what = format!(
                    "passes `{}` on to where it cannot be followed",
                    shown(&path)
                );
                self.add(place.range, Concern::Obfuscation, what);
            }
        }
    }

    /// `print(torch.__file__)`
    fn is_printed(&self, path: &str, place: NodePlace<'a>) -> bool {
        let prints = |node: AnyNodeRef<'_>| match node {
            AnyNodeRef::ExprCall(call) => self.names.resolve(&call.func).contains("builtins.print"),
            _ => false,
        };
        path.ends_with(".__file__") && place.above.is_some_and(prints)
    }

    /// Whether a guarded path is used where its guard looks, or does nothing there.
    fn is_guard_respected(&self, guard: Guard, path: &str, place: NodePlace<'a>) -> bool {
        let is_below = !table::is_row(path);
        let is_called = matches!(
            place.above,
            Some(AnyNodeRef::ExprCall(call)) if call.func.range() == place.range
        );
        match guard {
            Guard::Environ | Guard::Search if is_below => true,
            // The value of a guarded function is not guarded.
            _ if path.contains(['(', '[']) => true,
            _ if is_called => true,
            Guard::Path if path.starts_with("pathlib.") => true,
            Guard::Lookup if path == "sys.modules" => self.is_readable_lookup(place),
            _ => is_below && guard != Guard::Path,
        }
    }

    /// Places where a module or function may be named because it stays in sight.
    fn may_be_named(&self, place: NodePlace<'a>) -> bool {
        let is_at = |expr: &Expr| expr.range() == place.range;
        let binds_name = |target: &Expr| target.is_name_expr();
        match place.above {
            Some(AnyNodeRef::StmtAssign(assign)) => {
                assign.targets.iter().all(binds_name) && !self.is_in_class_body(place)
            }
            Some(AnyNodeRef::StmtAnnAssign(assign)) => {
                is_at(&assign.annotation) || binds_name(&assign.target)
            }
            Some(AnyNodeRef::ExprNamed(named)) => binds_name(&named.target),
            Some(AnyNodeRef::ExprSubscript(subscript)) => is_at(&subscript.value),
            Some(
                AnyNodeRef::ParameterWithDefault(_)
                | AnyNodeRef::StmtExpr(_)
                | AnyNodeRef::ExprCompare(_),
            ) => true,
            Some(AnyNodeRef::ExprCall(call)) => {
                is_at(&call.func) || self.only_looks_at(call, place) || self.is_type_check(place)
            }
            _ => self.is_annotation(place),
        }
    }

    /// Functions that do nothing with a module but look at it.
    fn only_looks_at(&self, call: &ast::ExprCall, place: NodePlace<'a>) -> bool {
        const LOOK: &[&str] = &[
            "builtins.delattr",
            "builtins.dir",
            "builtins.getattr",
            "builtins.hasattr",
            "builtins.id",
            "builtins.isinstance",
            "builtins.issubclass",
            "builtins.repr",
            "builtins.setattr",
            "builtins.str",
            "builtins.type",
            "importlib.reload",
            "inspect.getattr_static",
            "unittest.mock.patch.object",
        ];
        let mut functions = self.names.resolve(&call.func).into_iter();
        let is_first = call.arguments.args.first().map(Ranged::range) == Some(place.range);
        functions.any(|path| {
            path == "builtins.print" || is_first && LOOK.contains(&table::canonical(&path).as_str())
        })
    }

    /// `isinstance(x, Path)`
    fn is_type_check(&self, place: NodePlace<'a>) -> bool {
        let Some(AnyNodeRef::ExprCall(call)) = place.above else {
            return false;
        };
        let functions = self.names.resolve(&call.func);
        ["builtins.isinstance", "builtins.issubclass"]
            .iter()
            .any(|check| functions.contains(*check))
            && call.arguments.args.get(1).map(Ranged::range) == Some(place.range)
    }

    fn is_in_class_body(&self, place: NodePlace<'a>) -> bool {
        let mut above = self.tree.ancestors(place.index).filter(|node| {
            matches!(
                node,
                AnyNodeRef::StmtClassDef(_) | AnyNodeRef::StmtFunctionDef(_)
            )
        });
        matches!(above.next(), Some(AnyNodeRef::StmtClassDef(_)))
    }

    fn is_annotation(&self, place: NodePlace<'a>) -> bool {
        let holds = |expr: &Option<Box<Expr>>| {
            expr.as_ref()
                .is_some_and(|expr| expr.range().contains_range(place.range))
        };
        self.tree.ancestors(place.index).any(|node| match node {
            AnyNodeRef::Parameter(parameter) => holds(&parameter.annotation),
            AnyNodeRef::StmtFunctionDef(def) => holds(&def.returns),
            AnyNodeRef::StmtAnnAssign(assign) => {
                assign.annotation.range().contains_range(place.range)
            }
            AnyNodeRef::ExceptHandlerExceptHandler(handler) => holds(&handler.type_),
            _ => false,
        })
    }

    /// An assignment to something guarded: `sys.path = ...`
    fn stored(&mut self, guard: Guard, path: &str, place: NodePlace<'a>) {
        match guard {
            Guard::Environ if matches!(place.above, Some(AnyNodeRef::StmtAugAssign(_))) => {}
            Guard::Environ => self.add(
                place.range,
                Concern::Environment,
                "replaces the environment",
            ),
            Guard::Search => self.add(
                place.range,
                Concern::Files,
                "changes where Python looks for modules",
            ),
            Guard::Import => {
                let what = format!("replaces `{}`", shown(path));
                self.add(place.range, Concern::Obfuscation, what);
            }
            _ => {}
        }
    }

    fn subscript(&mut self, subscript: &'a ast::ExprSubscript, place: NodePlace<'a>) {
        if self.names.is_environ(&subscript.value) {
            let texts = self.names.texts(&subscript.slice);
            if subscript.ctx == ExprContext::Load {
                self.variable_read(place.range, &texts);
            } else {
                let value = match place.above {
                    Some(AnyNodeRef::StmtAssign(assign)) => Some(&*assign.value),
                    _ => None,
                };
                self.variable(place.range, &texts, value);
            }
            return;
        }
        if subscript.ctx != ExprContext::Load
            && self.names.resolve(&subscript.value).contains("sys.path")
        {
            let what = "changes where Python looks for modules";
            self.add(place.range, Concern::Files, what);
        }
        if subscript.ctx != ExprContext::Load
            && let Some(AnyNodeRef::StmtAssign(assign)) = place.above
        {
            self.setting_by_key(subscript, &assign.value);
        }
        self.hidden_key(subscript);
        let whole = self.names.resolve(&Expr::Subscript(subscript.clone()));
        self.looked_up(&whole, place);
    }

    /// A call or a subscript that gives a function or a module.
    fn looked_up(&mut self, whole: &Paths, place: NodePlace<'a>) {
        let found: Paths = whole
            .iter()
            .filter(|path| !path.ends_with("()") && !path.ends_with(']'))
            .cloned()
            .collect();
        if !matches!(place.above, Some(AnyNodeRef::ExprAttribute(_))) {
            self.obtained(&found, false, place);
        }
    }

    fn call(&mut self, call: &'a ast::ExprCall, place: NodePlace<'a>) {
        let whole = self.names.resolve(&Expr::Call(call.clone()));
        self.looked_up(&whole, place);
        let functions: BTreeSet<String> = self
            .names
            .resolve(&call.func)
            .iter()
            .map(|path| table::canonical(path))
            .collect();
        for path in &functions {
            match table::judge(path) {
                NameJudgement::Guarded(guard) => self.guarded(guard, path, call, place),
                NameJudgement::Danger(Concern::Commands | Concern::Installing, _) => {
                    self.command_texts(call);
                }
                _ => {}
            }
            self.network(path, call);
        }
        self.method(call, &functions, place);
        self.keywords(call, &functions);
    }

    /// A call of a guarded function.
    fn guarded(&mut self, guard: Guard, path: &str, call: &'a ast::ExprCall, place: NodePlace<'a>) {
        match guard {
            Guard::Path => self.paths(path, call),
            Guard::Load => self.loading(path, call),
            Guard::Lookup => self.lookup(path, call, place),
            Guard::Import => self.import_by_name(path, call),
            Guard::Command => self.command(path, call),
            Guard::Code => self.inner_code(path, call),
            Guard::Decode => self.decoding(path, call),
            Guard::Process => self.process(path, call, place),
            Guard::Environ => self.environ_call(path, call),
            Guard::Search => self.search_path(path, call),
            Guard::Connect => {}
        }
    }

    /// An attribute that leads from any object to the internals of the interpreter.
    fn attribute(&mut self, name: &'a str, place: NodePlace<'a>) {
        if hidden::is_internal(name) {
            let what = format!("reaches the internals of the interpreter by `{name}`");
            self.add(place.range, Concern::Obfuscation, what);
        } else if !self.attributes.contains(name)
            && (hidden::leads_out(name) && !self.is_resolved(place, table::is_row)
                || held_module(name).is_some() && !self.is_resolved(place, |_| true))
        {
            let what = format!("`.{name}` of something unknown");
            self.add(place.range, Concern::Obfuscation, what);
        }
    }

    /// Whether an attribute stands for a path of a kind.
    fn is_resolved(&self, place: NodePlace<'a>, kind: fn(&str) -> bool) -> bool {
        match self.tree.nodes[place.index as usize].node {
            AnyNodeRef::ExprAttribute(attribute) => {
                let paths = self.names.resolve(&Expr::Attribute(attribute.clone()));
                paths.iter().any(|path| kind(&table::canonical(path)))
            }
            _ => false,
        }
    }
}

fn unlisted(path: &str) -> String {
    format!("`{}` is not on the list of harmless names", shown(path))
}

pub(super) fn shown(path: &str) -> &str {
    path.strip_prefix("builtins.").unwrap_or(path)
}
