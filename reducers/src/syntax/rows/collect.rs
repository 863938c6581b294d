//! Finds the rows of a program. Called by [`Program::rows`] alone.

use super::{Row, RowKind};
use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind,
    ast::{self, Pattern},
};

/// All rows of a program, in source order of their owners.
pub(crate) fn collect(program: &Program) -> Vec<Row> {
    let tree = program.tree();
    let mut rows = Rows {
        program,
        depth: 0,
        found: Vec::new(),
    };
    rows.suite(RowKind::Module, program.body());
    let mut depths = vec![0u16; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        let above = node.parent.map_or(0, |parent| depths[parent as usize]);
        rows.depth = above + u16::from(node.node.is_statement());
        depths[index] = rows.depth;
        rows.of_blocks(node.node);
        rows.of_statement(node.node);
        rows.of_expression(node.node);
        rows.of_pattern(node.node);
    }
    rows.found
}

/// The rows found so far.
struct Rows<'a> {
    program: &'a Program,
    /// The number of statements around the current node.
    depth: u16,
    found: Vec<Row>,
}

impl Rows<'_> {
    fn push(&mut self, kind: RowKind, inner: TextRange, items: Vec<TextRange>) {
        if !items.is_empty() {
            self.found.push(Row {
                index: self.found.len() as u32,
                kind,
                depth: self.depth,
                inner,
                items,
            });
        }
    }

    fn suite(&mut self, kind: RowKind, body: &[ast::Stmt]) {
        let items = ranges(body);
        self.push(kind, span(&items), items);
    }

    fn decorators(&mut self, decorators: &[ast::Decorator]) {
        let items = ranges(decorators);
        self.push(RowKind::Decorators, span(&items), items);
    }

    /// Things between commas, each with the parentheses round it.
    fn commas(&mut self, kind: RowKind, inner: TextRange, items: Vec<TextRange>) {
        let items = with_parentheses(self.program, inner, items);
        self.push(kind, inner, items);
    }

    /// Things between other separators than commas, each with the parentheses round it.
    fn chain(&mut self, kind: RowKind, inner: TextRange, items: impl Iterator<Item = TextRange>) {
        let items = items
            .map(|item| widened(self.program, inner, item))
            .collect();
        self.push(kind, inner, items);
    }

    fn of_blocks(&mut self, node: AnyNodeRef<'_>) {
        let bodies: [&[ast::Stmt]; 3] = match node {
            AnyNodeRef::StmtFunctionDef(def) => [&def.body, &[], &[]],
            AnyNodeRef::StmtClassDef(def) => [&def.body, &[], &[]],
            AnyNodeRef::StmtFor(stmt) => [&stmt.body, &stmt.orelse, &[]],
            AnyNodeRef::StmtWhile(stmt) => [&stmt.body, &stmt.orelse, &[]],
            AnyNodeRef::StmtIf(stmt) => [&stmt.body, &[], &[]],
            AnyNodeRef::ElifElseClause(clause) => [&clause.body, &[], &[]],
            AnyNodeRef::StmtWith(stmt) => [&stmt.body, &[], &[]],
            AnyNodeRef::StmtTry(stmt) => [&stmt.body, &stmt.orelse, &stmt.finalbody],
            AnyNodeRef::ExceptHandlerExceptHandler(handler) => [&handler.body, &[], &[]],
            AnyNodeRef::MatchCase(case) => [&case.body, &[], &[]],
            _ => return,
        };
        for body in bodies {
            self.suite(RowKind::Suite, body);
        }
    }

    fn of_statement(&mut self, node: AnyNodeRef<'_>) {
        match node {
            AnyNodeRef::StmtFunctionDef(def) => self.decorators(&def.decorator_list),
            AnyNodeRef::StmtClassDef(def) => self.decorators(&def.decorator_list),
            AnyNodeRef::Parameters(parameters) => {
                let items = parameter_ranges(self.program, parameters);
                self.push(RowKind::Parameters, span(&items), items);
            }
            AnyNodeRef::TypeParams(parameters) => {
                let items = ranges(&parameters.type_params);
                self.push(RowKind::TypeParameters, parameters.range, items);
            }
            AnyNodeRef::StmtImport(import) => {
                let names = ranges(&import.names);
                self.push(RowKind::ImportNames, span(&names), names);
            }
            AnyNodeRef::StmtImportFrom(import) => {
                let names = ranges(&import.names);
                self.push(RowKind::ImportNames, span(&names), names);
            }
            AnyNodeRef::StmtGlobal(stmt) => {
                let names = ranges(&stmt.names);
                self.push(RowKind::Names, span(&names), names);
            }
            AnyNodeRef::StmtNonlocal(stmt) => {
                let names = ranges(&stmt.names);
                self.push(RowKind::Names, span(&names), names);
            }
            AnyNodeRef::StmtDelete(stmt) => {
                let inner = TextRange::new(stmt.start() + TextSize::of("del"), stmt.end());
                self.commas(RowKind::Names, inner, ranges(&stmt.targets));
            }
            AnyNodeRef::StmtAssign(stmt) => {
                let value = widened(self.program, stmt.range, stmt.value.range());
                let inner = TextRange::new(stmt.start(), value.start());
                let targets = stmt.targets.iter().map(Ranged::range);
                self.chain(RowKind::Targets, inner, targets);
            }
            AnyNodeRef::StmtWith(stmt) => {
                let program = self.program;
                let items: Vec<_> = stmt
                    .items
                    .iter()
                    .map(|item| with_item_range(program, stmt.range, item))
                    .collect();
                self.push(RowKind::WithItems, span(&items), items);
            }
            _ => {}
        }
    }

    fn of_expression(&mut self, node: AnyNodeRef<'_>) {
        match node {
            AnyNodeRef::Arguments(arguments) => {
                let items = arguments
                    .arguments_source_order()
                    .map(|argument| argument.range())
                    .collect();
                self.commas(RowKind::Arguments, within_brackets(arguments.range), items);
            }
            AnyNodeRef::ExprList(row) => {
                let inner = within_brackets(row.range);
                self.commas(RowKind::Elements, inner, ranges(&row.elts));
            }
            AnyNodeRef::ExprSet(set) => {
                let inner = within_brackets(set.range);
                self.commas(RowKind::SetElements, inner, ranges(&set.elts));
            }
            AnyNodeRef::ExprTuple(tuple) => {
                let parenthesized = tuple.parenthesized;
                let inner = if parenthesized {
                    within_brackets(tuple.range)
                } else {
                    tuple.range
                };
                let kind = RowKind::TupleElements { parenthesized };
                self.commas(kind, inner, ranges(&tuple.elts));
            }
            AnyNodeRef::ExprDict(dict) => {
                let items = dict
                    .items
                    .iter()
                    .map(|item| entry_range(self.program, item))
                    .collect();
                self.commas(RowKind::Entries, within_brackets(dict.range), items);
            }
            AnyNodeRef::ExprBoolOp(operation) => {
                let operands = operation.values.iter().map(Ranged::range);
                self.chain(RowKind::Operands, operation.range, operands);
            }
            AnyNodeRef::ExprCompare(comparison) => {
                let operands = std::iter::once(&*comparison.left).chain(&comparison.comparators);
                let operands = operands.map(Ranged::range);
                self.chain(RowKind::Operands, comparison.range, operands);
            }
            AnyNodeRef::ExprListComp(comprehension) => self.generators(&comprehension.generators),
            AnyNodeRef::ExprSetComp(comprehension) => self.generators(&comprehension.generators),
            AnyNodeRef::ExprDictComp(comprehension) => self.generators(&comprehension.generators),
            AnyNodeRef::ExprGenerator(generator) => self.generators(&generator.generators),
            AnyNodeRef::ExprStringLiteral(string) => {
                self.string_parts(string.range, string.value.iter().map(Ranged::range));
            }
            AnyNodeRef::ExprBytesLiteral(bytes) => {
                self.string_parts(bytes.range, bytes.value.iter().map(Ranged::range));
            }
            AnyNodeRef::ExprFString(string) => {
                self.string_parts(string.range, string.value.iter().map(Ranged::range));
            }
            _ => {}
        }
    }

    /// The parts of a string, if there are several.
    fn string_parts(&mut self, string: TextRange, parts: impl Iterator<Item = TextRange>) {
        let parts: Vec<TextRange> = parts.collect();
        if parts.len() > 1 {
            self.push(RowKind::StringParts, string, parts);
        }
    }

    fn generators(&mut self, generators: &[ast::Comprehension]) {
        let items = ranges(generators);
        self.push(RowKind::Generators, span(&items), items);
    }

    fn of_pattern(&mut self, node: AnyNodeRef<'_>) {
        match node {
            AnyNodeRef::PatternMatchOr(it) => {
                let patterns = it.patterns.iter().map(Ranged::range);
                self.chain(RowKind::Alternatives, it.range, patterns);
            }
            AnyNodeRef::PatternMatchSequence(it) => {
                let (kind, inner) = sequence_pattern(self.program, it);
                self.commas(kind, inner, ranges(&it.patterns));
            }
            AnyNodeRef::PatternMatchMapping(it) => {
                let mut items: Vec<_> = it
                    .keys
                    .iter()
                    .zip(&it.patterns)
                    .map(|(key, value)| key.range().cover(value.range()))
                    .collect();
                if let Some(rest) = &it.rest {
                    let stars = self
                        .program
                        .previous_token(rest.start())
                        .map_or(rest.range, |token| token.range());
                    items.push(stars.cover(rest.range));
                }
                self.commas(RowKind::Entries, within_brackets(it.range), items);
            }
            AnyNodeRef::PatternMatchClass(it) => {
                let patterns = it.arguments.patterns.iter().map(Pattern::range);
                let items = patterns
                    .chain(it.arguments.keywords.iter().map(|keyword| keyword.range))
                    .collect();
                let inner = within_brackets(it.arguments.range);
                self.commas(RowKind::Arguments, inner, items);
            }
            _ => {}
        }
    }
}

fn ranges<T: Ranged>(things: &[T]) -> Vec<TextRange> {
    things.iter().map(Ranged::range).collect()
}

fn span(items: &[TextRange]) -> TextRange {
    items
        .first()
        .zip(items.last())
        .map_or_else(TextRange::default, |(first, last)| first.cover(*last))
}

/// The kind of row of a sequence pattern: the pattern may have brackets, parentheses, or neither.
fn sequence_pattern(
    program: &Program,
    pattern: &ast::PatternMatchSequence,
) -> (RowKind, TextRange) {
    let opening = program
        .next_token(pattern.start())
        .filter(|token| token.start() == pattern.start());
    let first = pattern
        .patterns
        .first()
        .map_or(pattern.end(), Ranged::start);
    let (parenthesized, inner) = match opening.map(|token| token.kind()) {
        Some(TokenKind::Lsqb) if first > pattern.start() => {
            return (RowKind::Elements, within_brackets(pattern.range));
        }
        Some(TokenKind::Lpar) if closes_last(program, pattern.range) => {
            (true, within_brackets(pattern.range))
        }
        _ => (false, pattern.range),
    };
    (RowKind::TupleElements { parenthesized }, inner)
}

/// Whether the parenthesis that a range begins with is closed by the range's last token.
fn closes_last(program: &Program, range: TextRange) -> bool {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    let mut open = 0u32;
    for token in tokens {
        match token.kind() {
            TokenKind::Lpar => open += 1,
            TokenKind::Rpar => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return token.end() == range.end();
        }
    }
    false
}

/// A `with` item: both its parts with the parentheses round them.
fn with_item_range(program: &Program, statement: TextRange, item: &ast::WithItem) -> TextRange {
    let context = widened(program, statement, item.context_expr.range());
    let target = item
        .optional_vars
        .as_deref()
        .map(|target| widened(program, statement, target.range()));
    context.cover(item.range).cover(target.unwrap_or(context))
}

/// Parameters with their stars, annotations and defaults, and the markers that only they need.
fn parameter_ranges(program: &Program, parameters: &ast::Parameters) -> Vec<TextRange> {
    let marker = |from: TextSize, to: TextSize, kind: TokenKind| {
        program.tokens()[program.token_from(from)..program.token_from(to)]
            .iter()
            .find(|token| token.kind() == kind)
            .map(Ranged::range)
    };
    let mut ranges: Vec<TextRange> = parameters
        .iter_source_order()
        .map(|parameter| parameter.range())
        .collect();
    if let ([only], Some(range)) = (parameters.posonlyargs.as_slice(), ranges.first_mut())
        && let Some(slash) = marker(only.end(), parameters.range.end(), TokenKind::Slash)
    {
        *range = range.cover(slash);
    }
    if let ([only], None) = (parameters.kwonlyargs.as_slice(), &parameters.vararg) {
        let from = ranges
            .iter()
            .rev()
            .find(|range| range.end() <= only.start())
            .map_or(parameters.range.start(), Ranged::end);
        let star = marker(from, only.start(), TokenKind::Star);
        if let (Some(star), Some(range)) = (
            star,
            ranges.iter_mut().find(|range| range.end() == only.end()),
        ) {
            *range = range.cover(star);
        }
    }
    ranges
}

fn within_brackets(range: TextRange) -> TextRange {
    TextRange::new(
        range.start() + TextSize::new(1),
        range.end() - TextSize::new(1),
    )
}

/// `**rest` has no key; its stars come before the value.
fn entry_range(program: &Program, item: &ast::DictItem) -> TextRange {
    if let Some(key) = &item.key {
        return key.range().cover(item.value.range());
    }
    let mut start = item.value.start();
    while let Some(token) = program.previous_token(start) {
        start = token.start();
        if token.kind() == TokenKind::DoubleStar {
            break;
        }
    }
    TextRange::new(start, item.value.end())
}

/// A thing with all parentheses round it that stand within `inner`.
pub(crate) fn widened(program: &Program, inner: TextRange, range: TextRange) -> TextRange {
    let mut range = range;
    while let (Some(before), Some(after)) = (
        program.previous_token(range.start()),
        program.next_token(range.end()),
    ) && before.kind() == TokenKind::Lpar
        && after.kind() == TokenKind::Rpar
        && before.start() >= inner.start()
        && after.end() <= inner.end()
    {
        range = before.range().cover(after.range());
    }
    range
}

/// Widens each item to the parentheses round it: everything between the separators.
fn with_parentheses(program: &Program, inner: TextRange, items: Vec<TextRange>) -> Vec<TextRange> {
    let tokens = program.tokens();
    let mut from = inner.start();
    items
        .into_iter()
        .map(|item| {
            let start = program
                .next_token(from)
                .map_or(item.start(), |token| token.start().min(item.start()));
            let mut end = item.end();
            for token in &tokens[program.token_from(item.end())..] {
                if token.start() >= inner.end() || token.kind() == TokenKind::Comma {
                    from = token.end();
                    break;
                }
                if token.kind() == TokenKind::Rpar {
                    end = token.end();
                }
            }
            TextRange::new(start, end)
        })
        .collect()
}
