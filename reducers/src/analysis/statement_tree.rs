//! The statements of a program as a tree, each with its reads and whether a traced run executed it;
//! and the text of a program of which only some statements are kept. Proposes nothing. Called by
//! the passes that use evidence.

mod change;
mod reads;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use change::stored_by_name;
pub(crate) use change::{Change, is_changing, is_in_place};
pub(crate) use reads::Read;

use crate::{
    analysis::statements::Statements,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprContext, StmtFunctionDef, name::Name},
        rows::ItemId,
    },
    trace::evidence::{Evidence, SourceLine},
};

/// The statements that failed in a traced run: those of the failure's frames.
pub fn failing(program: &Program, evidence: &Evidence) -> BTreeSet<ItemId> {
    let outline = StatementTree::of(program, evidence);
    let statements = evidence
        .failure
        .iter()
        .filter_map(|frame| outline.on_line(frame.line));
    statements
        .map(|statement| outline.statements[statement].place)
        .collect()
}

/// All statements of a program, in source order, parents before children.
pub(crate) struct StatementTree<'a> {
    /// Whether a trace says which statements ran.
    pub(crate) is_traced: bool,
    pub(crate) program: &'a Program,
    pub(crate) statements: Vec<Statement<'a>>,
    by_range: HashMap<(TextSize, TextSize), usize>,
    /// The statements that assign an attribute, or store it by its name in a text, by that name.
    pub(crate) stores: BTreeMap<Name, Vec<usize>>,
    /// The statements that may change what attributes of a name hold, and how.
    pub(crate) changes: BTreeMap<Name, Vec<(usize, Change)>>,
    /// The statements that read an attribute, and where, by its name.
    pub(crate) attributes: HashMap<Name, Vec<(usize, TextRange)>>,
    /// The functions and methods of a name.
    functions: HashMap<&'a str, Vec<usize>>,
    /// The statements that may decide whether those after them are reached: `if` and `try`.
    branches: Vec<usize>,
}

/// One statement.
pub(crate) struct Statement<'a> {
    pub(crate) node: AnyNodeRef<'a>,
    pub(crate) range: TextRange,
    pub(crate) place: ItemId,
    /// The statement around it.
    pub(crate) parent: Option<usize>,
    /// The innermost function around it.
    function: Option<usize>,
    pub(crate) children: Vec<usize>,
    /// Whether the traced run came by.
    pub(crate) is_executed: bool,
    /// How often its first line ran, as far as it was counted.
    times: u64,
    /// The variables it reads or changes itself, as indices into the scopes' list, and where.
    pub(crate) reads: Vec<(usize, TextRange)>,
    /// The names of the attributes it reads itself, and where.
    pub(crate) attributes: Vec<(Name, TextRange)>,
    /// Whether it yields.
    pub(crate) yields: bool,
    /// The calls and attributes in it that evaluate to the return value of a function of the
    /// program: where, and which function.
    pub(crate) results: Vec<(TextRange, usize)>,
}

impl<'a> Statement<'a> {
    /// The expression that it is, or whose value it assigns or returns.
    pub(crate) fn value(&self) -> Option<&'a Expr> {
        match self.node {
            AnyNodeRef::StmtExpr(statement) => Some(&statement.value),
            AnyNodeRef::StmtReturn(statement) => statement.value.as_deref(),
            AnyNodeRef::StmtAssign(statement) => Some(&statement.value),
            AnyNodeRef::StmtAnnAssign(statement) => statement.value.as_deref(),
            _ => None,
        }
    }

    /// The only thing that it assigns that value to.
    pub(crate) fn target(&self) -> Option<&'a Expr> {
        match self.node {
            AnyNodeRef::StmtAssign(statement) => match statement.targets.as_slice() {
                [target] => Some(target),
                _ => None,
            },
            AnyNodeRef::StmtAnnAssign(statement) => Some(&statement.target),
            _ => None,
        }
    }
}

impl<'a> StatementTree<'a> {
    /// The statements of a program that was traced.
    pub(crate) fn of(program: &'a Program, evidence: &Evidence) -> Self {
        let mut tree = Self::untraced(program);
        tree.mark_executed(evidence);
        tree
    }

    /// The statements of a program, all taken for executed.
    pub(crate) fn untraced(program: &'a Program) -> Self {
        let places = Statements::of(program);
        let tree = program.tree();
        let mut outline = Self {
            is_traced: false,
            program,
            statements: Vec::new(),
            by_range: HashMap::new(),
            stores: BTreeMap::new(),
            changes: BTreeMap::new(),
            attributes: HashMap::new(),
            functions: HashMap::new(),
            branches: Vec::new(),
        };
        // The innermost statement of each node.
        let mut around: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let parent = node.parent.and_then(|parent| around[parent as usize]);
            let range = node.node.range();
            let place = node
                .node
                .is_statement()
                .then(|| places.place(range))
                .flatten();
            let Some(place) = place else {
                around.push(parent);
                outline.learn(node.node, parent);
                continue;
            };
            let index = outline.statements.len();
            around.push(Some(index));
            if let Some(parent) = parent {
                outline.statements[parent].children.push(index);
            }
            outline.by_range.insert((range.start(), range.end()), index);
            match node.node {
                AnyNodeRef::StmtFunctionDef(def) => {
                    let same = outline.functions.entry(def.name.as_str()).or_default();
                    same.push(index);
                }
                AnyNodeRef::StmtIf(_) | AnyNodeRef::StmtTry(_) => outline.branches.push(index),
                _ => {}
            }
            let function = parent.and_then(|parent| {
                let around = &outline.statements[parent];
                let is_function = around.node.is_stmt_function_def();
                if is_function {
                    Some(parent)
                } else {
                    around.function
                }
            });
            outline.statements.push(Statement {
                node: node.node,
                range,
                place,
                parent,
                function,
                children: Vec::new(),
                is_executed: true,
                times: 0,
                reads: Vec::new(),
                attributes: Vec::new(),
                yields: false,
                results: Vec::new(),
            });
        }
        for (index, variable) in program.scopes().variables.iter().enumerate() {
            for used in &variable.uses {
                if let Some(statement) = outline.at(used.statement) {
                    outline.statements[statement]
                        .reads
                        .push((index, used.range));
                }
            }
        }
        outline.find_results(tree, &around);
        outline
    }

    /// Records what a node that is not a statement says about the innermost statement around it.
    fn learn(&mut self, node: AnyNodeRef<'a>, around: Option<usize>) {
        let Some(around) = around else { return };
        let statement = &mut self.statements[around];
        match node {
            AnyNodeRef::ExprAttribute(attribute) => {
                let name = attribute.attr.id.clone();
                if attribute.ctx != ExprContext::Load {
                    self.stores.entry(name).or_default().push(around);
                    return;
                }
                if let Some(change) = Change::of(self.program, statement.node, attribute.range) {
                    let changes = self.changes.entry(name.clone()).or_default();
                    changes.push((around, change));
                }
                statement.attributes.push((name.clone(), attribute.range));
                let reads = self.attributes.entry(name).or_default();
                reads.push((around, attribute.range));
            }
            AnyNodeRef::ExprCall(call) => {
                if let Some(name) = stored_by_name(call) {
                    self.stores.entry(name).or_default().push(around);
                }
            }
            AnyNodeRef::ExprYield(_) | AnyNodeRef::ExprYieldFrom(_) => statement.yields = true,
            _ => {}
        }
    }

    /// Finds calls of functions, and reads of properties, that can only mean one definition of that
    /// name.
    fn find_results(&mut self, tree: &Tree<'a>, around: &[Option<usize>]) {
        let mut by_name: HashMap<&str, Option<usize>> = HashMap::new();
        for (index, statement) in self.statements.iter().enumerate() {
            // The interpreter's own names have a meaning in every class.
            if let AnyNodeRef::StmtFunctionDef(def) = statement.node
                && !def.name.starts_with("__")
            {
                by_name
                    .entry(def.name.as_str())
                    .and_modify(|function| *function = None)
                    .or_insert(Some(index));
            }
        }
        for (node, around) in tree.nodes.iter().zip(around) {
            let (name, is_call) = match node.node {
                AnyNodeRef::ExprCall(call) => match &*call.func {
                    Expr::Name(it) => (it.id.as_str(), true),
                    Expr::Attribute(it) => (it.attr.as_str(), true),
                    _ => continue,
                },
                AnyNodeRef::ExprAttribute(it) => (it.attr.as_str(), false),
                _ => continue,
            };
            let (Some(Some(function)), Some(around)) = (by_name.get(name), around) else {
                continue;
            };
            let AnyNodeRef::StmtFunctionDef(def) = self.statements[*function].node else {
                continue;
            };
            let decorators = def.decorator_list.iter();
            let mut named = decorators.filter_map(|decorator| decorator.expression.as_name_expr());
            let is_property = named.any(|name| name.id.ends_with("property"));
            if is_property != is_call && !def.is_async {
                self.statements[*around]
                    .results
                    .push((node.node.range(), *function));
            }
        }
    }

    fn mark_executed(&mut self, evidence: &Evidence) {
        self.is_traced = true;
        for index in (0..self.statements.len()).rev() {
            let statement = &self.statements[index];
            let header_end = statement
                .children
                .first()
                .map_or(statement.range.end(), |&child| {
                    self.statements[child].range.start()
                });
            let first = self.program.line_of(statement.range.start());
            let last = self.program.line_of(header_end);
            // A child on a line of its own does not speak for its header.
            let last = if statement.children.is_empty() {
                last
            } else {
                last.saturating_sub(1).max(first)
            };
            let lines = SourceLine::of_program(first)..=SourceLine::of_program(last);
            let hits = evidence.hits.range(lines).map(|(_, times)| *times);
            let times = hits.max().unwrap_or_default();
            let is_entered = statement
                .children
                .iter()
                .any(|&child| self.statements[child].is_executed);
            self.statements[index].is_executed = times > 0 || is_entered;
            self.statements[index].times = times;
        }
        // What makes no code of its own is executed with its block, but a handler is not the attempt.
        for index in 0..self.statements.len() {
            if self.is_in_handler(index) {
                continue;
            }
            if matches!(
                self.statements[index].node,
                AnyNodeRef::StmtGlobal(_) | AnyNodeRef::StmtNonlocal(_) | AnyNodeRef::StmtPass(_)
            ) {
                self.statements[index].is_executed = self.statements[index]
                    .parent
                    .is_none_or(|parent| self.statements[parent].is_executed);
            }
        }
    }

    /// How often a statement was executed, as far as a trace shows.
    pub(crate) fn times(&self, index: usize) -> u64 {
        self.statements[index].times
    }

    /// Whether the condition of a statement went one way at one time and the other at another, as
    /// far as a trace shows.
    pub(crate) fn goes_both_ways(&self, index: usize) -> bool {
        let statement = &self.statements[index];
        let first = statement
            .children
            .first()
            .map(|&child| &self.statements[child]);
        !self.is_traced
            || first.is_some_and(|first| first.is_executed && first.times < statement.times)
    }

    /// Whether a statement stands by itself in the handler of an exception.
    fn is_in_handler(&self, index: usize) -> bool {
        let parent = self.statements[index].parent;
        let attempt = parent.and_then(|parent| self.statements[parent].node.as_stmt_try());
        let mut handlers = attempt.into_iter().flat_map(|attempt| &attempt.handlers);
        handlers.any(|handler| handler.range().contains_range(self.statements[index].range))
    }

    /// The statement of a range.
    pub(crate) fn at(&self, range: TextRange) -> Option<usize> {
        self.by_range.get(&(range.start(), range.end())).copied()
    }

    /// The innermost statement around a range.
    pub(crate) fn around(&self, range: TextRange) -> Option<usize> {
        (0..self.statements.len())
            .filter(|&index| self.statements[index].range.contains_range(range))
            .min_by_key(|&index| self.statements[index].range.len())
    }

    /// The line of an offset.
    pub(crate) fn line_of(&self, offset: TextSize) -> SourceLine {
        SourceLine::of_program(self.program.line_of(offset))
    }

    /// The offset of a line, counted from 1, and a column in bytes, counted from 0.
    pub(crate) fn offset(&self, line: u32, column: u32) -> Option<TextSize> {
        let start = *self
            .program
            .line_starts()
            .get((line as usize).checked_sub(1)?)?;
        let offset = start + TextSize::new(column);
        (usize::from(offset) <= self.program.text().len()).then_some(offset)
    }

    /// The statements that begin on a line of the program.
    pub(crate) fn starting_on(&self, line: SourceLine) -> &[Statement<'a>] {
        let start = |statement: &Statement<'_>| self.line_of(statement.range.start());
        let first = self.statements.partition_point(|its| start(its) < line);
        let count = self.statements[first..].partition_point(|its| start(its) == line);
        &self.statements[first..first + count]
    }

    /// The innermost statement on a line: the last that begins there, else the one around it. Other
    /// files than the program have none.
    pub(crate) fn on_line(&self, line: SourceLine) -> Option<usize> {
        line.in_program()?;
        let begins = |statement: &Statement<'_>| self.line_of(statement.range.start()) <= line;
        // Whatever begins before the last of them and ends after it is around it.
        let last = self.statements.partition_point(begins).checked_sub(1)?;
        let mut around = std::iter::once(last).chain(self.ancestors(last));
        around.find(|&index| line <= self.line_of(self.statements[index].range.end()))
    }

    /// The statements around a statement, innermost first.
    pub(crate) fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.statements[index].parent, |&at| {
            self.statements[at].parent
        })
    }

    /// The innermost function around a statement.
    pub(crate) fn function_of(&self, index: usize) -> Option<usize> {
        self.statements[index].function
    }

    /// The statements before one that may decide whether it is reached, the nearest first.
    pub(crate) fn branches_before(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.branches.partition_point(|&branch| branch < index);
        self.branches[..end].iter().rev().copied()
    }

    /// The executed definitions of the functions and methods of a name.
    pub(crate) fn functions<'s>(
        &'s self,
        name: &'s str,
    ) -> impl Iterator<Item = (usize, &'a StmtFunctionDef)> + 's {
        let same = self.functions.get(name).into_iter().flatten();
        let executed = same.filter(|&&at| self.statements[at].is_executed);
        executed.filter_map(|&at| Some((at, *self.statements[at].node.as_stmt_function_def()?)))
    }

    /// The statements within a statement, at any depth.
    pub(crate) fn within(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.statements[index].range.end();
        (index + 1..self.statements.len())
            .take_while(move |&at| self.statements[at].range.start() < end)
    }

    /// The executed statements that follow one in its block.
    pub(crate) fn following(&self, index: usize) -> impl Iterator<Item = &Statement<'a>> {
        let block = self.statements[index].place.row;
        let after = self.statements[index + 1..].iter();
        after.filter(move |statement| statement.place.row == block && statement.is_executed)
    }

    /// Whether a statement itself reads a name.
    pub(crate) fn reads_name(&self, statement: &Statement<'_>, name: &str) -> bool {
        let variables = &self.program.scopes().variables;
        let mut reads = statement.reads.iter();
        reads.any(|(variable, _)| variables[*variable].name == name)
    }

    /// Where a statement is, up to the first of the statements within it.
    pub(crate) fn own_range(&self, index: usize) -> TextRange {
        let statement = &self.statements[index];
        let end = statement
            .children
            .first()
            .map_or(statement.range.end(), |&child| {
                self.statements[child].range.start()
            });
        TextRange::new(statement.range.start(), end)
    }

    /// A statement's text without that of the statements within it.
    pub(crate) fn own_text(&self, index: usize) -> &'a str {
        self.program.slice(self.own_range(index))
    }

    /// The executed statements that read an attribute of a name.
    pub(crate) fn executed_with(&self, attribute: &str) -> Vec<usize> {
        self.reads_of(attribute).map(|(at, _)| at).collect()
    }

    /// The executed statements that read an attribute, and where.
    pub(crate) fn reads_of(&self, attribute: &str) -> impl Iterator<Item = (usize, TextRange)> {
        let reads = self.attributes.get(attribute).into_iter().flatten();
        let executed = reads.filter(|(at, _)| self.statements[*at].is_executed);
        executed.copied()
    }

    /// The names of the attributes that are read within a range.
    pub(crate) fn attributes_in(
        &self,
        range: TextRange,
    ) -> impl Iterator<Item = (&'a Name, TextRange)> {
        self.program
            .tree()
            .nodes
            .iter()
            .filter_map(move |node| match node.node {
                AnyNodeRef::ExprAttribute(it) if range.contains_range(it.range) => {
                    Some((&it.attr.id, it.range))
                }
                _ => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::edit::{Edit, EditSet};

    const TEXT: &str = "import a\nif a:\n    x = a.b(\n        1)\nelse:\n    y = 2\ndef f(z):\n    global x\n    z.c = x\n    return z\n";

    fn outline(program: &Program) -> StatementTree<'_> {
        let hits = [1, 2, 3, 7]
            .map(|line| (SourceLine::of_program(line), 1))
            .into();
        StatementTree::of(
            program,
            &Evidence {
                hits,
                ..Evidence::default()
            },
        )
    }

    #[test]
    fn statements_know_what_was_executed_and_what_they_read() {
        let program = Program::parse(TEXT).unwrap();
        let outline = outline(&program);
        let executed: Vec<_> = outline
            .statements
            .iter()
            .map(|statement| statement.is_executed)
            .collect();
        assert_eq!(
            executed,
            [true, true, true, false, true, true, false, false]
        );
        assert_eq!(outline.on_line(SourceLine::of_program(4)), Some(2));
        assert_eq!(outline.on_line(SourceLine::from((1, 4))), None);
        assert_eq!(outline.function_of(7), Some(4));
        assert_eq!(outline.statements[2].attributes[0].0, "b");
        assert_eq!(outline.stores.keys().collect::<Vec<_>>(), ["c"]);
        let program =
            Program::parse("self.register_buffer('a', b)\nsetattr(x, 'c', 'd')\nf('e')\n").unwrap();
        let stores = StatementTree::of(&program, &Evidence::default()).stores;
        assert_eq!(stores.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(outline.within(4).collect::<Vec<_>>(), [5, 6, 7]);
    }

    #[test]
    fn a_change_is_in_place_or_indirect() {
        let check = |expected: Option<Change>, texts: &[&str]| {
            for text in texts {
                let program = Program::parse(*text).unwrap();
                let statement = StatementTree::untraced(&program).statements[0].node;
                let start = TextSize::new(text.find('x').unwrap() as u32);
                let path = TextRange::at(start, TextSize::new(1));
                assert_eq!(Change::of(&program, statement, path), expected, "{text}");
            }
        };
        let in_place = [
            "x.f(1)",
            "x[0] = 1",
            "y = x[0] = 1",
            "x[0] += 1",
            "x[0].f()",
            "y = x[0].pop()",
            "del x[0]",
            "f(1, out=x)",
        ];
        check(Some(Change::InPlace), &in_place);
        let indirect = [
            "x.a = 1",
            "x.a.f()",
            "f(x)",
            "x.assertTrue(y)",
            "@x.f\ndef g(): ...",
        ];
        check(Some(Change::Indirect), &indirect);
        check(None, &["print(x)", "y = x.f()", "f(1, x)", "x", "del x"]);
    }

    #[test]
    fn what_is_not_kept_leaves_no_trace() {
        let program = Program::parse(TEXT).unwrap();
        let outline = outline(&program);
        let kept = |index: usize| outline.statements[index].is_executed;
        let replaced = [Edit::replace(outline.statements[2].range, "x = 3")];
        let text = outline.text_of(kept, &replaced).unwrap();
        assert_eq!(
            text,
            "import a\nif a:\n    x = 3\nelse:\n    pass\ndef f(z):\n    global x\n"
        );
        assert_eq!(
            outline.lines_of(2, kept, &EditSet::default()).unwrap(),
            "x = a.b(\n    1)\n"
        );
    }
}
