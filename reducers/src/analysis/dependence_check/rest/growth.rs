//! How the slice grows: from a statement, a part of one, a variable or an attribute to what these
//! depend on. Called by the dependences of a statement.

use super::Rest;
use crate::{
    analysis::{
        calls::{callee_name, fields},
        dependence_check::{
            FOR_EFFECT,
            operations::{UNFILLED, is_neutral},
            passing::{elements, is_method},
        },
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, name::Name},
        scope::{Binding, BindingKind, ScopeKind, Variable},
    },
    torch::producers::made_by,
};

impl Rest<'_, '_> {
    pub(super) fn grow_all(&mut self) {
        while let Some(statement) = self.todo.pop() {
            if self.seen.insert(statement) {
                self.grow(statement);
                let mut around = self.conditions(statement);
                let outline = self.outline;
                around.retain(|&at| !self.is_flow || !outline.statements[at].node.is_stmt_for());
                self.todo.extend(around);
                let attempts = self.attempts(statement);
                self.todo.extend(attempts);
                if self.is_everywhere {
                    self.grow_by_handing(statement);
                }
            }
        }
    }

    fn grow(&mut self, index: usize) {
        let statement = &self.outline.statements[index];
        let counted: Option<TextRange> = match statement.node {
            // The words of its message are not part of its dependences.
            AnyNodeRef::StmtRaise(_)
            | AnyNodeRef::StmtFunctionDef(_)
            | AnyNodeRef::StmtClassDef(_) => None,
            AnyNodeRef::StmtAssert(it) => Some(it.test.range()),
            // Elsewhere an annotation computes nothing.
            AnyNodeRef::StmtAnnAssign(it) if !self.is_field_of_package(index) => {
                it.value.as_ref().map(|value| value.range())
            }
            _ => Some(statement.range),
        };
        match statement.node {
            AnyNodeRef::StmtFunctionDef(def) => {
                if self.is_making() && is_of_protocol(&def.name) {
                    let body = self.graph.body(index).next();
                    let ran = body.map(|_| format!("def {}", def.name));
                    self.of.operations.extend(ran);
                }
                self.results_of(index);
            }
            AnyNodeRef::StmtClassDef(class) => {
                if class.bases().iter().any(|base| self.is_own_class(base)) {
                    // An inherited base class counts like a computed value.
                    self.of.operations.insert("class".to_owned());
                }
                // The interpreter calls methods that no attribute names, and so do base classes
                // that are not the program's own.
                let inherits = class.bases().iter().any(|base| !self.is_own_class(base));
                let is_called = |child: &&usize| match self.outline.statements[**child].node {
                    AnyNodeRef::StmtFunctionDef(def) => {
                        let is_named = self.outline.attributes.contains_key(&def.name.id);
                        def.name.starts_with("__") || inherits && !is_named
                    }
                    _ => false,
                };
                let methods = statement.children.iter().filter(is_called);
                self.todo.extend(methods.copied().collect::<Vec<_>>());
            }
            AnyNodeRef::StmtAnnAssign(it) if self.is_field_of_package(index) => {
                let types = self.types(index, it.annotation.range());
                self.of.operations.extend(types);
            }
            AnyNodeRef::StmtAugAssign(it) if !is_neutral(it.op, &it.value) => {
                self.of.operations.insert(it.op.as_str().to_owned());
            }
            AnyNodeRef::StmtTry(it) if self.is_making() && self.handles(it) => {
                self.of.operations.insert("except".to_owned());
            }
            AnyNodeRef::StmtWith(it) if self.is_held_open(index, it) => {
                self.of.operations.insert("with yield".to_owned());
            }
            AnyNodeRef::StmtDelete(it) if !it.targets.iter().all(Expr::is_name_expr) => {
                self.of.operations.insert("del".to_owned());
            }
            AnyNodeRef::StmtAssign(it) => {
                let targets: Vec<&Expr> = it.targets.iter().flat_map(elements).collect();
                if targets.iter().any(|target| target.is_subscript_expr()) {
                    self.of.operations.insert("[]=".to_owned());
                } else if targets
                    .iter()
                    .any(|target| self.is_set_from_outside(target))
                {
                    self.of.operations.insert(".=".to_owned());
                }
            }
            _ => {}
        }
        if let Some(counted) = counted {
            self.grow_by_part(index, counted);
        }
    }

    /// Follows what hands on the function in which a statement stands, unless a trace shows that it
    /// ran.
    pub(super) fn grow_by_handing(&mut self, statement: usize) {
        if self.outline.is_traced && self.outline.statements[statement].is_executed {
            return;
        }
        let handing = self.passing().handing(statement);
        if !handing.is_empty() {
            self.todo.push(statement);
        }
        self.todo.extend(&handing);
        self.handing.extend(handing);
    }

    /// Follows the operations and reads of a part of a statement.
    pub(super) fn grow_by_part(&mut self, index: usize, counted: TextRange) {
        let outline = self.outline;
        let statement = &outline.statements[index];
        let condition = match statement.node {
            AnyNodeRef::StmtIf(it) => Some(&*it.test),
            AnyNodeRef::StmtWhile(it) => Some(&*it.test),
            _ => None,
        };
        let asked = condition.filter(|condition| counted.contains_range(condition.range()));
        let asked = asked.map(|condition| self.truth(condition, index));
        self.of.operations.extend(asked.into_iter().flatten());
        // To be asked each time is another thing than to be done each time.
        let is_asked = statement.node.is_stmt_if() && self.is_making();
        let is_counted = condition.is_some_and(|test| counted.contains_range(test.range()));
        if is_asked && is_counted && outline.goes_both_ways(index) {
            self.of.operations.insert("if".to_owned());
        }
        for node in &self.nodes[index] {
            if counted.contains_range(node.range()) {
                self.of.operations.extend(self.operation(*node, index));
                let start = node.start();
                self.of
                    .literals
                    .extend(self.literal(*node).map(|text| (start, text)));
                self.of
                    .names
                    .extend(self.foreign_name(*node).map(|name| (start, name)));
                if self.is_changed() {
                    self.todo.extend(self.writers(*node));
                }
                if let Some(name) = attribute_by_name(*node)
                    && self.attributes.insert(name.clone())
                {
                    self.grow_by_attribute(&name);
                }
            }
        }
        for (variable, range) in &statement.reads {
            if counted.contains_range(*range) && self.variables.insert(*variable) {
                self.grow_by_variable(*variable);
            }
        }
        for (name, range) in &statement.attributes {
            if counted.contains_range(*range) && self.attributes.insert(name.clone()) {
                self.grow_by_attribute(name);
            }
        }
    }

    /// Whether an expression is an attribute that no class of the program has or sets. Reading it
    /// asks for something that a library computed from the object. An attribute that a class sets
    /// is like a variable.
    fn is_set_from_outside(&self, target: &Expr) -> bool {
        let Some(attribute) = target.as_attribute_expr() else {
            return false;
        };
        let is_own = |target: &Expr| {
            let its = target.as_attribute_expr();
            its.is_some_and(|its| {
                let object = its.value.as_name_expr();
                its.attr == attribute.attr && object.is_some_and(|name| is_receiver(&name.id))
            })
        };
        self.graph.members(&attribute.attr).is_empty()
            && self.graph.stores(&attribute.attr).all(|statement| {
                let target = self.outline.statements[statement].target();
                target.is_some_and(|target| !is_own(target))
            })
    }

    /// Whether an expression names a class of the program.
    fn is_own_class(&self, expr: &Expr) -> bool {
        let name = expr.as_name_expr();
        name.is_some_and(|name| self.outline.program.scopes().is_class(&name.id))
    }

    /// Follows the values that a function returns, and the conditions that decide which.
    fn results_of(&mut self, function: usize) {
        let is_result = |statement: &usize| {
            let statement = &self.outline.statements[*statement];
            statement.yields || matches!(statement.node, AnyNodeRef::StmtReturn(_))
        };
        let results = self.graph.body(function).filter(is_result);
        self.todo.extend(results);
        if self.is_changed() {
            let changes = self.passing().changes_of_kept(function);
            self.todo.extend(changes);
        }
    }

    fn grow_by_variable(&mut self, index: usize) {
        let variable = &self.outline.program.scopes().variables[index];
        if self.is_part() && variable.scope == ScopeKind::Comprehension {
            // The iterable stands beside the name, in the same part, but not in its argument.
            if self.is_making() {
                self.grow_by_comprehension(variable);
            }
            return;
        }
        for binding in &variable.bindings {
            match binding.kind {
                BindingKind::Import => {}
                BindingKind::Parameter => self.grow_by_parameter(variable, binding),
                _ if self.graph.is_overwritten(variable, binding) => {}
                _ => match (
                    self.graph.executed(binding.statement),
                    self.element(binding),
                ) {
                    (Some(statement), Some(element)) if self.is_part() => {
                        self.grow_by_part(statement, element);
                    }
                    (statement, _) => self.todo.extend(statement),
                },
            }
        }
        self.todo.extend(self.graph.changes_in_place(index));
        let unfilled = self.graph.is_unfilled(index);
        let unfilled = unfilled.then(|| UNFILLED.to_owned());
        self.of.operations.extend(unfilled);
        if self.is_changed() {
            let missed: Vec<usize> = self.graph.missed(index).collect();
            self.grow_by_missed(&missed);
            self.grow_by_contexts(variable);
            let uses: Vec<(usize, TextRange)> = self.graph.uses(index).collect();
            for (statement, range) in uses {
                let passing = self.passing();
                let changes = passing.changes(statement, range);
                let kept = passing.keeps_changing(statement, range);
                self.todo.extend(changes);
                self.of.operations.extend(kept);
            }
            for (statement, part) in self.passing().taking(index) {
                self.grow_by_effect(statement, part);
            }
        }
    }

    /// Follows what calls of a function give it for a parameter.
    fn grow_by_parameter(&mut self, variable: &Variable, binding: &Binding) {
        let function = self.outline.at(binding.statement);
        if let Some(statement) = function {
            for part in self.passing().beside_lambda(statement, binding.range) {
                self.grow_by_part(statement, part);
            }
        }
        let is_receiver = is_method(self.outline, function) && is_receiver(&variable.name);
        if self.is_part() && is_receiver {
            return;
        }
        if function.is_some_and(|function| !self.is_called(function)) {
            self.given.insert(variable.name.clone());
        }
        let calls = self.frames.windows(2);
        let passing: Vec<usize> = calls
            .filter(|pair| self.outline.function_of(pair[1]) == function)
            .map(|pair| pair[0])
            .collect();
        let mut is_given = is_receiver;
        if passing.is_empty() && self.is_changed() && !is_receiver {
            let calls = function.map(|function| self.passing().arguments(function, &variable.name));
            for (statement, argument) in calls.into_iter().flatten() {
                is_given = true;
                self.grow_by_part(statement, argument);
            }
        }
        for statement in passing {
            let argument = self.passing().argument(statement, function, &variable.name);
            is_given |= argument.is_some();
            match argument {
                Some(argument) if self.is_part() => self.grow_by_part(statement, argument),
                _ => self.todo.push(statement),
            }
        }
        if !is_given {
            self.grow_by_decorators(function);
        }
    }

    /// Follows what a comprehension iterates over, and what it asks of each.
    fn grow_by_comprehension(&mut self, variable: &Variable) {
        for binding in &variable.bindings {
            let Some(statement) = self.graph.executed(binding.statement) else {
                continue;
            };
            let its = self.nodes[statement].iter();
            let its = its.filter_map(|node| node.as_comprehension().copied());
            let its = its.filter(|each| each.target.range().contains_range(binding.range));
            let parts = its.flat_map(|each| std::iter::once(&each.iter).chain(&each.ifs));
            let parts: Vec<TextRange> = parts.map(Ranged::range).collect();
            for part in parts {
                self.grow_by_part(statement, part);
            }
        }
    }

    /// Follows a part of a statement for its effect alone, whoever uses its result.
    fn grow_by_effect(&mut self, statement: usize, part: TextRange) {
        let its = self.nodes[statement].iter();
        let its = its.filter(|node| node.range() == part);
        let operations: Vec<String> = its
            .flat_map(|node| self.operation(*node, statement))
            .map(|operation| format!("{}{FOR_EFFECT}", operation.trim_end_matches(FOR_EFFECT)))
            .collect();
        self.of.operations.extend(operations);
        let conditions = self.conditions(statement);
        self.todo.extend(conditions);
    }

    /// Follows the decorators of a function: what no call gives it, they do.
    fn grow_by_decorators(&mut self, function: Option<usize>) {
        let outline = self.outline;
        let def = function.and_then(|at| outline.statements[at].node.as_stmt_function_def());
        if let Some((function, def)) = function.zip(def) {
            for decorator in &def.decorator_list {
                let nodes = self.nodes[function].iter();
                let its = nodes.filter(|node| decorator.range.contains_range(node.range()));
                let operations: Vec<_> = its
                    .flat_map(|node| self.operation(*node, function))
                    .collect();
                self.decorating.extend(operations);
                self.grow_by_part(function, decorator.range);
            }
        }
    }

    /// Follows what decided that statements were not reached: the value that they would have given
    /// is missing because of it.
    fn grow_by_missed(&mut self, missed: &[usize]) {
        self.unreached.extend(missed);
        for &statement in missed {
            if self.is_everywhere {
                self.grow_by_handing(statement);
            }
            let mut deciding = self.conditions(statement);
            deciding.extend(self.handled(statement));
            let outline = self.outline;
            deciding.retain(|&at| outline.statements[at].is_executed);
            self.todo.extend(&deciding);
            let is_loop = |at: &usize| {
                let node = outline.statements[*at].node;
                node.is_stmt_for() || node.is_stmt_while()
            };
            if deciding.iter().any(is_loop) {
                let tests = deciding.into_iter().filter(|&at| self.decides(at));
                self.missed.extend(tests.collect::<Vec<_>>());
            }
        }
    }

    /// The expression that a binding gets, where a statement assigns several to as many names.
    fn element(&self, binding: &Binding) -> Option<TextRange> {
        let statement = self.outline.at(binding.statement)?;
        let assign = self.outline.statements[statement].node.as_stmt_assign()?;
        let (Expr::Tuple(values), [Expr::Tuple(targets)]) = (&*assign.value, &*assign.targets)
        else {
            return None;
        };
        let mut pairs = targets.elts.iter().zip(&values.elts);
        let is_exact = targets.elts.len() == values.elts.len()
            && targets.elts.iter().all(Expr::is_name_expr)
            && !values.elts.iter().any(Expr::is_starred_expr);
        let pair = pairs.find(|(target, _)| target.range().contains_range(binding.range));
        pair.filter(|_| is_exact).map(|(_, value)| value.range())
    }

    fn grow_by_attribute(&mut self, name: &Name) {
        if let Some(maker) = made_by(name) {
            self.todo.extend(self.outline.executed_with(maker));
        }
        let members = self.graph.members(name).iter();
        let members: Vec<usize> = members.map(|definition| definition.statement).collect();
        for member in members {
            self.todo.push(member);
            // Calls of the class give its fields their values.
            let outline = self.outline;
            let class = outline.statements[member].parent;
            let class = class.and_then(|class| outline.statements[class].node.as_stmt_class_def());
            let Some(class) = class.filter(|_| self.is_changed()) else {
                continue;
            };
            let mut its = fields(class).into_iter();
            if let Some(position) = its.position(|(field, _)| field == name.as_str()) {
                for (statement, argument) in self.passing().given_for(&class.name, name, position) {
                    self.grow_by_part(statement, argument);
                }
            }
        }
        let mut stores = self.graph.stores(name).peekable();
        if self.graph.members(name).is_empty() && stores.peek().is_none() {
            // The language asks the program for what it doesn't find.
            let dynamic = self.outline.functions("__getattr__");
            self.todo.extend(dynamic.map(|(function, _)| function));
        }
        self.todo.extend(stores);
        self.todo
            .extend(self.graph.attribute_changes_in_place(name));
        let unfilled = self.graph.is_unfilled_attribute(name);
        let unfilled = unfilled.then(|| UNFILLED.to_owned());
        self.of.operations.extend(unfilled);
        if self.is_changed() {
            let missed: Vec<usize> = self.graph.missed_of_attribute(name).collect();
            self.grow_by_missed(&missed);
            let reads = self.outline.reads_of(name);
            let changes: Vec<usize> = reads
                .flat_map(|(statement, range)| self.passing().changes(statement, range))
                .collect();
            self.todo.extend(changes);
        }
    }
}

/// The attribute that a node reads by a text: `getattr(x, "name")` or `x.__dict__["name"]`.
fn attribute_by_name(node: AnyNodeRef<'_>) -> Option<Name> {
    let name = match node {
        AnyNodeRef::ExprCall(call) if callee_name(&call.func) == Some("getattr") => {
            call.arguments.args.get(1)?
        }
        AnyNodeRef::ExprSubscript(it) => {
            let of_attributes = match &*it.value {
                Expr::Attribute(object) => object.attr.as_str() == "__dict__",
                Expr::Call(call) => callee_name(&call.func) == Some("vars"),
                _ => false,
            };
            Some(&*it.slice).filter(|_| of_attributes)?
        }
        _ => return None,
    };
    Some(Name::new(name.as_string_literal_expr()?.value.to_str()))
}

/// Whether a method makes the language do something in another way for objects of its class.
fn is_of_protocol(name: &str) -> bool {
    const PLAIN: [&str; 3] = ["__init__", "__repr__", "__str__"];
    name.starts_with("__") && name.ends_with("__") && !PLAIN.contains(&name)
}

/// Whether a parameter stands for the receiver of a method. The reason why the method was called is
/// not part of what it computes.
fn is_receiver(name: &str) -> bool {
    matches!(name, "self" | "cls")
}
