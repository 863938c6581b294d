//! Collects bindings and uses in the order in which CPython's compiler looks at them, then resolves
//! each use. Called by the module above.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
    sync::OnceLock,
};

use super::{Binding, BindingKind, ScopeKind, Scopes, Use, Variable};
use crate::syntax::{
    Ranged, TextRange,
    ast::{
        self, Expr, ExprContext, Stmt,
        name::Name,
        visitor::{self, Visitor},
    },
};

#[derive(Default)]
struct Scope {
    kind: Option<ScopeKind>,
    parent: Option<usize>,
    bound: HashMap<Name, Vec<Binding>>,
    globals: HashMap<Name, TextRange>,
    nonlocals: HashMap<Name, TextRange>,
    order: Vec<Name>,
    is_async: bool,
    /// A lambda or a `def`, where `return` and `yield` may stand.
    is_callable: bool,
}

/// Walks a program and collects bindings and uses.
#[derive(Default)]
pub(super) struct Builder {
    scopes: Vec<Scope>,
    stack: Vec<usize>,
    statements: Vec<TextRange>,
    uses: Vec<(usize, Use)>,
    loops: u32,
    misplaced: Option<TextRange>,
    seen_other_than_future: bool,
}

impl Builder {
    /// Opens a scope within the one that is open now.
    pub(super) fn open(&mut self, kind: ScopeKind) -> usize {
        let index = self.scopes.len();
        self.scopes.push(Scope {
            kind: Some(kind),
            parent: self.stack.last().copied(),
            ..Scope::default()
        });
        self.stack.push(index);
        index
    }

    fn close(&mut self) {
        self.stack.pop();
    }

    fn innermost(&self) -> usize {
        *self
            .stack
            .last()
            .expect("the module's scope is open throughout")
    }

    fn here(&mut self) -> &mut Scope {
        let index = self.innermost();
        &mut self.scopes[index]
    }

    /// The innermost scope that is no comprehension: where a walrus binds, where `await` looks.
    fn function_like(&self) -> usize {
        let kind = |index: &&usize| self.scopes[**index].kind != Some(ScopeKind::Comprehension);
        *self
            .stack
            .iter()
            .rev()
            .find(kind)
            .expect("the module's scope is open throughout")
    }

    fn statement(&self, fallback: TextRange) -> TextRange {
        self.statements.last().copied().unwrap_or(fallback)
    }

    fn bind(&mut self, name: &str, kind: BindingKind, range: TextRange) {
        self.bind_in(self.innermost(), name, kind, range);
    }

    fn bind_in(&mut self, scope: usize, name: &str, kind: BindingKind, range: TextRange) {
        let statement = self.statement(range);
        let name = Name::new(name);
        let scope = &mut self.scopes[scope];
        let bindings = scope.bound.entry(name.clone()).or_default();
        if bindings.is_empty() {
            scope.order.push(name);
        }
        bindings.push(Binding {
            kind,
            range,
            statement,
        });
    }

    fn load(&mut self, name: &Name, range: TextRange) {
        let scope = self.innermost();
        let statement = self.statement(range);
        self.uses.push((
            scope,
            Use {
                name: name.clone(),
                range,
                statement,
            },
        ));
    }

    fn misplace(&mut self, range: TextRange) {
        self.misplaced.get_or_insert(range);
    }

    fn require_async(&mut self, range: TextRange) {
        let scope = self.function_like();
        if !self.scopes[scope].is_async {
            self.misplace(range);
        }
    }

    fn require_callable(&mut self, range: TextRange) {
        let scope = self.function_like();
        if !self.scopes[scope].is_callable {
            self.misplace(range);
        }
    }

    /// A name that is declared must not be bound yet.
    fn require_unbound(&mut self, name: &ast::Identifier) {
        if self.here().bound.contains_key(&name.id) {
            self.misplace(name.range);
        }
    }

    /// Only a docstring may stand before an import from `__future__`.
    fn require_future_first(&mut self, stmt: &Stmt) {
        let is_future = matches!(stmt, Stmt::ImportFrom(import) if import.module.as_deref() == Some("__future__"));
        if is_future && self.seen_other_than_future {
            self.misplace(stmt.range());
        }
        let is_text = matches!(stmt, Stmt::Expr(stmt) if stmt.value.is_string_literal_expr());
        self.seen_other_than_future |= !is_future && !is_text;
    }

    fn parameters(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters {
            let name = parameter.name();
            self.require_unbound(name);
            self.bind(&name.id, BindingKind::Parameter, name.range);
        }
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.visit_expr(&decorator.expression);
        }
        for default in parameter_defaults(&def.parameters) {
            self.visit_expr(default);
        }
        self.bind(&def.name.id, BindingKind::Function, def.name.range);
        let generic = self.type_parameters(def.type_params.as_deref());
        for annotation in parameter_annotations(&def.parameters).chain(def.returns.as_deref()) {
            self.visit_expr(annotation);
        }
        self.open(ScopeKind::Function);
        self.here().is_async = def.is_async;
        self.here().is_callable = true;
        self.parameters(&def.parameters);
        let loops = std::mem::take(&mut self.loops);
        self.visit_body(&def.body);
        self.loops = loops;
        self.close();
        if generic {
            self.close();
        }
    }

    fn class(&mut self, def: &ast::StmtClassDef) {
        for decorator in &def.decorator_list {
            self.visit_expr(&decorator.expression);
        }
        self.bind(&def.name.id, BindingKind::Class, def.name.range);
        let generic = self.type_parameters(def.type_params.as_deref());
        if let Some(arguments) = &def.arguments {
            self.visit_arguments(arguments);
        }
        self.open(ScopeKind::Class);
        let loops = std::mem::take(&mut self.loops);
        self.visit_body(&def.body);
        self.loops = loops;
        self.close();
        if generic {
            self.close();
        }
    }

    /// Opens a scope for type parameters, if there are any.
    fn type_parameters(&mut self, parameters: Option<&ast::TypeParams>) -> bool {
        let Some(parameters) = parameters else {
            return false;
        };
        self.open(ScopeKind::Function);
        for parameter in &parameters.type_params {
            let name = parameter.name();
            self.bind(&name.id, BindingKind::Value, name.range);
        }
        for parameter in &parameters.type_params {
            if let ast::TypeParam::TypeVar(variable) = parameter
                && let Some(bound) = &variable.bound
            {
                self.visit_expr(bound);
            }
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
        true
    }

    fn import(&mut self, import: &ast::StmtImport) {
        for alias in &import.names {
            let bound = alias.asname.as_ref().map_or_else(
                || alias.name.split('.').next().unwrap_or_default(),
                |name| name.id.as_str(),
            );
            self.bind(bound, BindingKind::Import, alias.range);
        }
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) {
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            if name.id != "*" {
                self.bind(&name.id, BindingKind::Import, alias.range);
            } else if self.stack.len() > 1 {
                self.misplace(alias.range);
            }
        }
    }

    /// The body of a loop and its `else`.
    fn repeated(&mut self, body: &[Stmt], orelse: &[Stmt]) {
        self.loops += 1;
        self.visit_body(body);
        self.loops -= 1;
        self.visit_body(orelse);
    }

    fn annotated(&mut self, stmt: &ast::StmtAnnAssign) {
        // Inside functions annotations of variables are never evaluated.
        if !self.here().is_callable {
            self.visit_expr(&stmt.annotation);
        }
        if let Some(value) = &stmt.value {
            self.visit_expr(value);
            self.visit_expr(&stmt.target);
        } else if let Expr::Name(name) = &*stmt.target {
            self.bind(&name.id, BindingKind::Weak, name.range);
        } else {
            self.visit_expr(&stmt.target);
        }
    }

    fn comprehension(&mut self, generators: &[ast::Comprehension], elements: &[&Expr]) {
        let Some(first) = generators.first() else {
            return;
        };
        self.visit_expr(&first.iter);
        self.open(ScopeKind::Comprehension);
        for (index, generator) in generators.iter().enumerate() {
            if index > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            for condition in &generator.ifs {
                self.visit_expr(condition);
            }
        }
        for element in elements {
            self.visit_expr(element);
        }
        self.close();
    }

    /// Resolves every use, now that all bindings are known.
    pub(super) fn finish(self) -> Scopes {
        let mut misplaced = self.misplaced;
        // Where each name of each scope really lives: `global` and `nonlocal` send it elsewhere.
        let home = |scope: usize, name: &Name| -> Option<usize> {
            let here = &self.scopes[scope];
            if here.globals.contains_key(name) {
                return Some(0);
            }
            if here.nonlocals.contains_key(name) {
                return enclosing(&self.scopes, here.parent, name);
            }
            here.bound.contains_key(name).then_some(scope)
        };
        let mut variables: Vec<Variable> = Vec::new();
        let mut index: HashMap<(usize, Name), usize> = HashMap::new();
        for (number, scope) in self.scopes.iter().enumerate() {
            for (name, range) in &sorted(&scope.nonlocals) {
                if home(number, name).is_none() {
                    misplaced.get_or_insert(*range);
                }
            }
            for name in &scope.order {
                let home = home(number, name).unwrap_or(number);
                let at = *index.entry((home, name.clone())).or_insert_with(|| {
                    variables.push(Variable {
                        name: name.clone(),
                        scope: self.scopes[home].kind.unwrap_or(ScopeKind::Module),
                        bindings: Vec::new(),
                        uses: Vec::new(),
                    });
                    variables.len() - 1
                });
                variables[at].bindings.extend(&scope.bound[name]);
            }
        }
        let mut unbound = Vec::new();
        let mut builtins = BTreeSet::new();
        for (scope, load) in self.uses {
            let found = resolve(&self.scopes, scope, &load.name, |at| {
                index.get(&(at, load.name.clone())).copied().filter(|&at| {
                    variables[at]
                        .bindings
                        .iter()
                        .any(|binding| binding.kind != BindingKind::Weak)
                })
            });
            match found {
                Some(at) => variables[at].uses.push(load),
                None if is_builtin(&load.name) => {
                    builtins.insert(load.name);
                }
                None => unbound.push(load),
            }
        }
        Scopes {
            variables,
            unbound,
            builtins,
            misplaced,
            index: OnceLock::new(),
        }
    }
}

fn sorted(names: &HashMap<Name, TextRange>) -> Vec<(Name, TextRange)> {
    let mut names: Vec<_> = names
        .iter()
        .map(|(name, range)| (name.clone(), *range))
        .collect();
    names.sort_by_key(|(_, range)| range.start());
    names
}

/// The nearest enclosing function that binds a name.
fn enclosing(scopes: &[Scope], from: Option<usize>, name: &Name) -> Option<usize> {
    std::iter::successors(from, |&at| scopes[at].parent).find(|&at| {
        scopes[at].kind == Some(ScopeKind::Function)
            && scopes[at].bound.contains_key(name)
            && !scopes[at].globals.contains_key(name)
    })
}

/// Looks a name up from a scope outwards: the scope itself, then all enclosing ones but classes.
fn resolve(
    scopes: &[Scope],
    scope: usize,
    name: &Name,
    variable_in: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = Some(scope);
    while let Some(index) = at {
        let here = &scopes[index];
        if index == 0 || here.globals.contains_key(name) {
            return variable_in(0);
        }
        if !here.nonlocals.contains_key(name)
            && (index == scope || here.kind != Some(ScopeKind::Class))
            && here.bound.contains_key(name)
        {
            // A function's local is never looked up further out; a class's or module's may be a
            // builtin as well.
            return match (variable_in(index), here.kind) {
                (None, Some(ScopeKind::Class)) => resolve(scopes, here.parent?, name, variable_in),
                (found, _) => found,
            };
        }
        at = here.parent;
    }
    None
}

fn parameter_defaults(parameters: &ast::Parameters) -> impl Iterator<Item = &Expr> {
    parameters
        .iter_non_variadic_params()
        .filter_map(|parameter| parameter.default.as_deref())
}

fn parameter_annotations(parameters: &ast::Parameters) -> impl Iterator<Item = &Expr> {
    parameters
        .iter()
        .filter_map(ast::AnyParameterRef::annotation)
}

impl<'a> Visitor<'a> for Builder {
    // One arm for each kind of statement that binds or may be misplaced.
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.statements.push(stmt.range());
        self.require_future_first(stmt);
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Global(global) => {
                for name in &global.names {
                    self.require_unbound(name);
                    self.here().globals.insert(name.id.clone(), name.range);
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                for name in &nonlocal.names {
                    if self.stack.len() == 1 {
                        self.misplace(name.range);
                    }
                    self.require_unbound(name);
                    self.here().nonlocals.insert(name.id.clone(), name.range);
                }
            }
            Stmt::Return(_) => {
                if !self.here().is_callable {
                    self.misplace(stmt.range());
                }
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Break(_) | Stmt::Continue(_) => {
                if self.loops == 0 {
                    self.misplace(stmt.range());
                }
            }
            Stmt::For(stmt) => {
                if stmt.is_async {
                    self.require_async(stmt.range);
                }
                self.visit_expr(&stmt.iter);
                self.visit_expr(&stmt.target);
                self.repeated(&stmt.body, &stmt.orelse);
            }
            Stmt::While(stmt) => {
                self.visit_expr(&stmt.test);
                self.repeated(&stmt.body, &stmt.orelse);
            }
            Stmt::AugAssign(stmt) => {
                self.visit_expr(&stmt.value);
                if let Expr::Name(name) = &*stmt.target {
                    self.bind(&name.id, BindingKind::Weak, name.range);
                    self.load(&name.id, name.range);
                } else {
                    self.visit_expr(&stmt.target);
                }
            }
            Stmt::AnnAssign(stmt) => self.annotated(stmt),
            Stmt::TypeAlias(stmt) => {
                if let Expr::Name(name) = &*stmt.name {
                    self.bind(&name.id, BindingKind::Value, name.range);
                }
                let generic = self.type_parameters(stmt.type_params.as_deref());
                self.visit_expr(&stmt.value);
                if generic {
                    self.close();
                }
            }
            Stmt::With(with) => {
                if with.is_async {
                    self.require_async(with.range);
                }
                visitor::walk_stmt(self, stmt);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
        self.statements.pop();
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => match name.ctx {
                ExprContext::Load | ExprContext::Invalid => self.load(&name.id, name.range),
                ExprContext::Store => self.bind(&name.id, BindingKind::Value, name.range),
                ExprContext::Del => {
                    self.bind(&name.id, BindingKind::Weak, name.range);
                    self.load(&name.id, name.range);
                }
            },
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    let scope = self.function_like();
                    self.bind_in(scope, &name.id, BindingKind::Value, name.range);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    for default in parameter_defaults(parameters) {
                        self.visit_expr(default);
                    }
                }
                self.open(ScopeKind::Function);
                self.here().is_callable = true;
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.close();
            }
            Expr::ListComp(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::SetComp(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::Generator(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::DictComp(comp) => self.comprehension(&comp.generators, &[&comp.key, &comp.value]),
            Expr::Await(_) => {
                self.require_async(expr.range());
                visitor::walk_expr(self, expr);
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.require_callable(expr.range());
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(name) = &handler.name {
            self.bind(&name.id, BindingKind::Value, name.range);
        }
        if let Some(class) = &handler.type_ {
            self.visit_expr(class);
        }
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        let captured = match pattern {
            ast::Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            ast::Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            ast::Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = captured {
            self.bind(&name.id, BindingKind::Value, name.range);
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// Whether CPython, any of 3.8 to 3.14, binds a name in a script without being asked.
pub fn is_builtin(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("builtins.txt").lines().collect());
    NAMES.contains(name)
}
