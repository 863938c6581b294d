//! The search for the parts of one program, with the edits that leave each of them out.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        assignments::assigned_values,
        calls::{Others, is_of_data, reads_command_line},
        names::ImportedNames,
        omissions::words::{Libraries, Omission, argument_word, last, word},
        special_names::is_hook,
    },
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, ExprCall, Keyword, StmtFunctionDef, UnaryOp},
        rows::RowKind,
    },
};

/// The replacement for a context that is left out.
const NO_CONTEXT: &str = "__import__('contextlib').nullcontext()";

/// Methods that only convert: the target of the conversion says more than their names.
const CONVERSIONS: [&str; 3] = ["to", "type", "astype"];

/// Functions that start or end a program.
const STARTING_OR_ENDING: [&str; 4] = ["_exit", "exit", "main", "quit"];

/// Functions and methods that copy: to make a thing once more is as good.
const COPIES: [&str; 3] = ["clone", "copy", "deepcopy"];

/// Methods by which an object of a package gives plain numbers.
const GIVING_NUMBERS: [&str; 9] = [
    "dim",
    "element_size",
    "item",
    "nelement",
    "ndimension",
    "numel",
    "size",
    "stride",
    "tolist",
];

/// Attributes of an object of a package that are such objects as well.
const VIEWS: [&str; 6] = ["H", "T", "data", "grad", "mH", "mT"];

/// How many names may stand between an object and the call that makes it.
const DEPTH: usize = 8;

/// Where a part stands.
pub(super) struct Occurrences {
    pub(super) edits: EditSet,
    pub(super) words: BTreeSet<String>,
    pub(super) size: u32,
    /// In how many places it stands.
    pub(super) count: usize,
    /// Where it stands first.
    pub(super) first: u32,
    /// The line of the statement that is nothing else.
    pub(super) statement: Option<u32>,
    /// The lines on which other calls go with it, each with the last.
    pub(super) swallowing: Vec<(u32, u32)>,
}

pub(super) type Parts = BTreeMap<Omission, Occurrences>;

/// Looks for the parts of one program.
pub(super) struct PartSearch<'a> {
    program: &'a Program,
    libraries: Libraries,
    others: Others<'a>,
    imported: ImportedNames<'a>,
    found: Parts,
    /// Those that stand somewhere where they cannot be left out.
    fixed: BTreeSet<Omission>,
}

impl<'a> PartSearch<'a> {
    pub(super) fn of(program: &'a Program, libraries: Libraries) -> Self {
        Self {
            program,
            libraries,
            others: Others::of(program),
            imported: ImportedNames::of(program.tree()),
            found: Parts::new(),
            fixed: BTreeSet::new(),
        }
    }

    /// All parts; none in a program that imports no such library.
    pub(super) fn parts(mut self) -> Parts {
        if !self
            .imported
            .paths()
            .any(|path| self.libraries.contain(path))
        {
            return Parts::new();
        }
        for (index, node) in self.program.tree().nodes.iter().enumerate() {
            match node.node {
                AnyNodeRef::ExprCall(call) => {
                    let Some(called) = self.called(call) else {
                        continue;
                    };
                    for keyword in &*call.arguments.keywords {
                        self.keyword(keyword);
                    }
                    self.call(called, call, index);
                }
                AnyNodeRef::StmtFunctionDef(def) if is_hook(&def.name) => self.hook(def),
                AnyNodeRef::ExprBinOp(operation) => {
                    self.operator(operation.op.as_str(), operation.range, &operation.left);
                }
                // To ask the other way round is no operation.
                AnyNodeRef::ExprUnaryOp(operation) if operation.op != UnaryOp::Not => {
                    self.operator(operation.op.as_str(), operation.range, &operation.operand);
                }
                _ => {}
            }
        }
        let fixed = self.fixed;
        self.found.retain(|omission, _| !fixed.contains(omission));
        self.found
    }

    /// The callee of a call that belongs to a package.
    fn called(&self, call: &'a ExprCall) -> Option<&'a str> {
        let name = self.others.called(call)?;
        let path = self.imported.path(&call.func);
        let is_method = call.func.is_attribute_expr() && path.is_none();
        let is_of_data = is_of_data(name);
        let is_foreign =
            path.is_some_and(|path| self.libraries.contain(&path)) || is_method && !is_of_data;
        // Seeds decide about chance, not about the computed values, and a number is as good as the
        // call that gives it. A program that is not started or ended, checks nothing or does not
        // get what it works on shows nothing.
        let is_needless = COPIES.contains(&name)
            || STARTING_OR_ENDING.contains(&name)
            || GIVING_NUMBERS.contains(&name)
            || reads_command_line(name)
            || name.starts_with("__")
            || name.starts_with("assert")
            || name.contains("seed");
        (is_foreign && !is_needless).then_some(name)
    }

    fn keyword(&mut self, keyword: &'a Keyword) {
        let Some(name) = &keyword.arg else {
            return;
        };
        let item = self.item(RowKind::Arguments, keyword.range);
        let omission = Omission::Keyword(name.to_string());
        // A keyword's text may be given by position, but not stand elsewhere.
        let words = match keyword.value.as_string_literal_expr() {
            Some(text) => BTreeSet::from([argument_word(text.value.to_str())]),
            None => self.meant(&keyword.value),
        };
        let words = if words.is_empty() {
            BTreeSet::from([word(name)])
        } else {
            words
        };
        match item {
            Some(edits) => self.add(omission, edits, words, keyword.range, None),
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// A method that the interpreter or a library asks for, if the class has it.
    fn hook(&mut self, def: &StmtFunctionDef) {
        let omission = Omission::Hook(def.name.to_string());
        let words = BTreeSet::from([word(&def.name)]);
        match self.item(RowKind::Suite, def.range) {
            Some(edits) => self.add(omission, edits, words, def.range, None),
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// An operation that its first operand can stand for, if that is of a package. Operations with
    /// plain numbers are as good as their results.
    fn operator(&mut self, symbol: &str, range: TextRange, operand: &Expr) {
        if !self.is_made_by_package(operand, DEPTH) {
            return;
        }
        let omission = Omission::Operator(symbol.to_owned());
        match keep_part(self.program, range, operand) {
            Some(edits) => {
                let words = BTreeSet::from([symbol.to_owned()]);
                self.add(omission.clone(), edits, words, range, None);
                self.swallow(&omission, range, operand.range());
            }
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// Whether an expression is the result of a package's call, or is computed from one.
    fn is_made_by_package(&self, value: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match value {
            Expr::Call(call) => self.called(call).is_some(),
            Expr::BinOp(operation) => {
                self.is_made_by_package(&operation.left, depth)
                    || self.is_made_by_package(&operation.right, depth)
            }
            Expr::UnaryOp(operation) => self.is_made_by_package(&operation.operand, depth),
            Expr::Subscript(subscript) => self.is_made_by_package(&subscript.value, depth),
            Expr::Attribute(attribute) => {
                VIEWS.contains(&attribute.attr.as_str())
                    && self.is_made_by_package(&attribute.value, depth)
            }
            Expr::Name(name) => {
                let values = assigned_values(self.program, &name.id);
                values.is_some_and(|values| {
                    let mut values = values.into_iter();
                    values.all(|value| self.is_made_by_package(value, depth))
                })
            }
            _ => false,
        }
    }

    fn call(&mut self, name: &str, call: &'a ExprCall, index: usize) {
        let tree = self.program.tree();
        let omission = Omission::Call(name.to_owned());
        let parent = tree.nodes[index].parent;
        let parent = parent.map(|parent| tree.nodes[parent as usize].node);
        let mut statement = None;
        let edits = match parent {
            Some(AnyNodeRef::StmtExpr(only)) => {
                statement = Some(self.program.line_of(only.range.start()));
                if self.holds_calls(call) {
                    // They are parts of their own.
                    let part = self.stands_for(call);
                    part.and_then(|part| keep_part(self.program, call.range, part))
                } else {
                    let suite = self.item(RowKind::Suite, only.range);
                    suite.or_else(|| self.item(RowKind::Module, only.range))
                }
            }
            Some(AnyNodeRef::Decorator(decorator)) => {
                self.item(RowKind::Decorators, decorator.range)
            }
            Some(AnyNodeRef::WithItem(_)) => {
                Some(EditSet::one(Edit::replace(call.range, NO_CONTEXT)))
            }
            _ => {
                statement = self.is_all_of(index);
                let part = self.stands_for(call);
                part.and_then(|part| keep_part(self.program, call.range, part))
            }
        };
        let mut words = BTreeSet::from([word(name)]);
        if CONVERSIONS.contains(&name) {
            let arguments = call.arguments.args.iter();
            let meant: BTreeSet<_> = arguments.flat_map(|value| self.meant(value)).collect();
            if !meant.is_empty() {
                words = meant;
            }
        }
        match edits {
            Some(edits) => {
                let kept = self.stands_for(call).map_or(call.range, Ranged::range);
                self.add(omission.clone(), edits, words, call.range, statement);
                self.swallow(&omission, call.range, kept);
            }
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// Notes the lines of an expression if calls other than itself stand outside the part of it
    /// that is kept. If the program's own functions are among them, more than this part would go.
    fn swallow(&mut self, omission: &Omission, whole: TextRange, kept: TextRange) {
        let within = self.program.tree().within(whole);
        let calls = within.filter_map(|node| node.as_expr_call().copied());
        let lost: Vec<&ExprCall> = calls
            .filter(|call| call.range != whole && !kept.contains_range(call.range))
            .collect();
        if lost.iter().any(|call| self.others.called(call).is_none()) {
            self.fixed.insert(omission.clone());
        } else if !lost.is_empty()
            && let Some(place) = self.found.get_mut(omission)
        {
            let line = |at| self.program.line_of(at);
            place
                .swallowing
                .push((line(whole.start()), line(whole.end())));
        }
    }

    /// Whether there are calls within a call.
    fn holds_calls(&self, call: &ExprCall) -> bool {
        let mut within = self.program.tree().within(call.range);
        within.any(|node| matches!(node, AnyNodeRef::ExprCall(inner) if inner.range != call.range))
    }

    /// The line of a statement whose whole value is an expression: the value that it assigns or
    /// asserts.
    fn is_all_of(&self, index: usize) -> Option<u32> {
        let nodes = &self.program.tree().nodes;
        let mut parent = nodes[index].parent;
        while let Some(at) = parent {
            let range = match nodes[at as usize].node {
                AnyNodeRef::ExprUnaryOp(negated) if negated.op == UnaryOp::Not => {
                    parent = nodes[at as usize].parent;
                    continue;
                }
                AnyNodeRef::StmtAssign(assign) => assign.range,
                AnyNodeRef::StmtAssert(assert) => assert.range,
                _ => return None,
            };
            return Some(self.program.line_of(range.start()));
        }
        None
    }

    /// The expression that can replace a call: the receiver of its method, or its first argument,
    /// unless that is a plain number or text.
    fn stands_for(&self, call: &'a ExprCall) -> Option<&'a Expr> {
        if let Expr::Attribute(method) = &*call.func
            && self.imported.path(&method.value).is_none()
        {
            return Some(&method.value);
        }
        let first = call.arguments.args.first()?;
        (!first.is_starred_expr() && !first.is_literal_expr()).then_some(first)
    }

    /// The names of packages, and the texts, that a value is.
    fn meant(&self, value: &Expr) -> BTreeSet<String> {
        match value {
            Expr::StringLiteral(text) => BTreeSet::from([word(text.value.to_str())]),
            Expr::Name(_) | Expr::Attribute(_) => {
                let path = self.imported.path(value);
                path.map(|path| word(last(&path))).into_iter().collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// The removal of a thing of a row.
    fn item(&self, kind: RowKind, range: TextRange) -> Option<EditSet> {
        let mut items = self.program.items();
        let found = items.find(|(_, row, item)| row.kind == kind && *item == range)?;
        Some(EditSet::removal(found.0))
    }

    fn add(
        &mut self,
        omission: Omission,
        edits: EditSet,
        words: BTreeSet<String>,
        range: TextRange,
        statement: Option<u32>,
    ) {
        let size = u32::from(range.len());
        let first = u32::from(range.start());
        self.found
            .entry(omission)
            .and_modify(|place| {
                place.edits.extend(&edits);
                // Any of several words is enough.
                place.words.retain(|word| words.contains(word));
                place.size += size;
                place.count += 1;
                place.statement = place.statement.filter(|_| statement.is_some());
            })
            .or_insert(Occurrences {
                edits,
                words,
                size,
                count: 1,
                first,
                statement,
                swallowing: Vec::new(),
            });
    }
}
