//! The program: its text and its syntax tree. The only file that names the parser crate; the rest
//! of this crate reaches the syntax tree through [`ast`]. Knows nothing of edits.

pub mod lines;
pub(crate) mod positions;
pub mod rows;
pub mod scope;
pub mod source;

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

pub use rustpython_ast::{
    self as ast, AnyNodeRef,
    token::{Token, TokenKind},
};
pub use rustpython_text_size::{Ranged, TextRange, TextSize};

use rustpython_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use rustpython_parser::{Parsed, parse_module};
use rustpython_source_file::LineIndex;

use crate::syntax::{lines::long_texts, rows::Row, scope::Scopes, source::DecodeError};

self_cell::self_cell!(
    /// A syntax tree and the index of its nodes.
    struct IndexedModule {
        owner: Parsed<ast::ModModule>,
        #[covariant]
        dependent: Tree,
    }
);

/// A script that parses.
pub struct Program {
    text: Arc<str>,
    bom: bool,
    module: IndexedModule,
    lines: OnceLock<LineIndex>,
    rows: OnceLock<Vec<Row>>,
    scopes: OnceLock<Scopes>,
    /// The lines that its author wrote too long.
    long_by_author: Arc<BTreeSet<String>>,
}

/// Why a file is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The bytes are no text.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The text does not parse.
    #[error("line {}, column {}: {}", .0.line, .0.column, .0.message)]
    Syntax(SyntaxError),
}

/// The first thing in a text that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// The parser's message.
    pub message: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The text of that line.
    pub excerpt: String,
}

/// How large a program is, as reports show it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Size {
    /// Tokens as Python 3.13's `tokenize` counts them, without comments, newlines and indentation.
    pub tokens: u32,
    /// Lines that hold more than white space.
    pub lines: u32,
    /// Bytes of the text in UTF-8.
    pub bytes: u32,
}

impl Program {
    /// Decodes and parses a file's bytes, as its author wrote it.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let (text, bom) = source::decode(bytes)?;
        let long_by_author = Arc::new(long_texts(&text));
        Self::new(text.into(), bom, long_by_author).map_err(ReadError::Syntax)
    }

    /// Parses a text that has no author.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, SyntaxError> {
        Self::new(text.into(), false, Arc::default())
    }

    /// Parses another text that will be written in the same encoding.
    pub fn sibling(&self, text: impl Into<Arc<str>>) -> Result<Self, SyntaxError> {
        Self::new(text.into(), self.bom, Arc::clone(&self.long_by_author))
    }

    fn new(
        text: Arc<str>,
        bom: bool,
        long_by_author: Arc<BTreeSet<String>>,
    ) -> Result<Self, SyntaxError> {
        let parsed = parse_module(&text).map_err(|error| {
            let at = usize::from(error.location.start()).min(text.len());
            let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            SyntaxError {
                message: error.error.to_string(),
                line: 1 + text[..at].matches('\n').count() as u32,
                column: 1 + text[line_start..at].chars().count() as u32,
                excerpt: text[line_start..]
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            }
        })?;
        Ok(Self {
            text,
            bom,
            module: IndexedModule::new(parsed, |parsed| Tree::of(&parsed.syntax().body)),
            lines: OnceLock::new(),
            rows: OnceLock::new(),
            scopes: OnceLock::new(),
            long_by_author,
        })
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// A part of the text.
    pub fn slice(&self, range: TextRange) -> &str {
        &self.text[range]
    }

    /// The file's bytes: the byte order mark if there was one, in the encoding that the text's
    /// coding comment names. `None` if that encoding cannot hold the text.
    pub fn encode(&self) -> Option<Vec<u8>> {
        source::encode(&self.text, self.bom)
    }

    /// Whether another text still names this one's encoding, or has no character that needs it.
    pub fn keeps_encoding(&self, text: &str) -> bool {
        source::keeps_encoding(&self.text, text)
    }

    /// The top-level statements.
    pub fn body(&self) -> &[ast::Stmt] {
        &self.module.borrow_owner().syntax().body
    }

    /// All tokens, in order.
    pub fn tokens(&self) -> &[Token] {
        self.module.borrow_owner().tokens()
    }

    /// The rows of things that can go one by one: suites, arguments, elements, names.
    pub fn rows(&self) -> &[Row] {
        self.rows.get_or_init(|| crate::syntax::rows::collect(self))
    }

    /// Which name is bound where, and which uses it has.
    pub fn scopes(&self) -> &Scopes {
        self.scopes.get_or_init(|| Scopes::of(self))
    }

    /// Every node in source order with its parent.
    pub fn tree(&self) -> &Tree<'_> {
        self.module.borrow_dependent()
    }

    /// The texts that it holds as literals.
    pub fn texts(&self) -> Vec<&str> {
        let text = |node: &Node<'_>| match node.node {
            AnyNodeRef::StringLiteral(literal) => Some(self.slice(literal.range())),
            AnyNodeRef::InterpolatedStringLiteralElement(part) => Some(self.slice(part.range())),
            _ => None,
        };
        self.tree().nodes.iter().filter_map(text).collect()
    }

    /// The names of the classes and functions that it defines.
    pub fn defined_names(&self) -> BTreeSet<String> {
        let defined = |node: &Node<'_>| match node.node {
            AnyNodeRef::StmtClassDef(def) => Some(def.name.to_string()),
            AnyNodeRef::StmtFunctionDef(def) => Some(def.name.to_string()),
            _ => None,
        };
        self.tree().nodes.iter().filter_map(defined).collect()
    }

    /// How large the program is.
    pub fn size(&self) -> Size {
        let tokens: u32 = self
            .tokens()
            .iter()
            .map(|token| self.weight_in_tokens(*token))
            .sum();
        Size {
            tokens: tokens + self.empty_spec_ends(),
            lines: self
                .text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count() as u32,
            bytes: self.text.len() as u32,
        }
    }

    /// Whether a name occurs, be it of a variable, an attribute or a parameter.
    pub fn has_name(&self, name: &str) -> bool {
        let is_it =
            |token: &Token| token.kind() == TokenKind::Name && self.slice(token.range()) == name;
        self.tokens().iter().any(is_it)
    }

    /// Whether anything is imported.
    pub fn has_imports(&self) -> bool {
        let is_import = |node: AnyNodeRef<'_>| {
            matches!(
                node,
                AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_)
            )
        };
        self.tree().nodes.iter().any(|node| is_import(node.node))
    }

    /// The lines on which a token begins that belongs to no import: the usual meaning of the lines
    /// of a repro.
    pub fn lines_without_imports(&self) -> u32 {
        let tree = self.tree();
        let imports: Vec<TextRange> = tree
            .nodes
            .iter()
            .filter(|node| {
                matches!(
                    node.node,
                    AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_)
                )
            })
            .map(|node| node.node.range())
            .collect();
        let counts = |token: &&Token| {
            self.weight_in_tokens(**token) > 0
                && token.kind() != TokenKind::Semi
                && !imports
                    .iter()
                    .any(|import| import.contains_range(token.range()))
        };
        let (mut lines, mut counted) = (0, 0);
        for token in self.tokens().iter().filter(counts) {
            let start = usize::from(token.start());
            if lines == 0 || self.text[counted..start].contains(['\n', '\r']) {
                lines += 1;
            }
            counted = start;
        }
        lines
    }

    /// `tokenize` sees an empty literal part where a format specification is empty or ends in a
    /// replacement field.
    fn empty_spec_ends(&self) -> u32 {
        if !self
            .tokens()
            .iter()
            .any(|token| token.kind() == TokenKind::FStringStart)
        {
            return 0;
        }
        let is_empty_end = |node: &&Node<'_>| match node.node {
            AnyNodeRef::InterpolatedElement(element) => {
                element.format_spec.as_ref().is_some_and(|spec| {
                    !spec
                        .elements
                        .last()
                        .is_some_and(ast::InterpolatedStringElement::is_literal)
                })
            }
            _ => false,
        };
        self.tree().nodes.iter().filter(is_empty_end).count() as u32
    }

    /// How many tokens of Python 3.13's `tokenize` a token of the parser is: none for layout, and
    /// one more for each doubled brace that `tokenize` splits a literal part of an f-string at.
    pub(crate) fn weight_in_tokens(&self, token: Token) -> u32 {
        match token.kind() {
            TokenKind::Comment
            | TokenKind::Newline
            | TokenKind::NonLogicalNewline
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile => 0,
            TokenKind::FStringMiddle | TokenKind::TStringMiddle => {
                split_at_braces(self.slice(token.range()))
            }
            _ => 1,
        }
    }

    /// The index of the first token that starts at or after an offset.
    pub(crate) fn token_from(&self, offset: TextSize) -> usize {
        self.tokens()
            .partition_point(|token| token.start() < offset)
    }

    /// The first token at or after an offset that is neither comment nor line break inside
    /// brackets.
    pub(crate) fn next_token(&self, offset: TextSize) -> Option<Token> {
        self.tokens()[self.token_from(offset)..]
            .iter()
            .find(|token| !token.kind().is_trivia())
            .copied()
    }

    /// The last token that ends at or before an offset and is neither comment nor line break inside
    /// brackets.
    pub(crate) fn previous_token(&self, offset: TextSize) -> Option<Token> {
        self.tokens()[..self.token_from(offset)]
            .iter()
            .rev()
            .find(|token| token.end() <= offset && !token.kind().is_trivia())
            .copied()
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Program").field(&self.text).finish()
    }
}

/// `tokenize` ends a literal part after the first brace of each doubled one and after each
/// `\N{NAME}`; a part that would be empty is left out.
fn split_at_braces(middle: &str) -> u32 {
    let bytes = middle.as_bytes();
    let (mut parts, mut at, mut open) = (0, 0, false);
    while at < bytes.len() {
        let ends_part = match &bytes[at..] {
            [b'{', b'{', ..] | [b'}', b'}', ..] => Some(2),
            [b'\\', b'N', b'{', next, ..] if *next != b'{' => {
                middle[at..].find('}').map(|length| length + 1)
            }
            _ => None,
        };
        open = ends_part.is_none();
        parts += u32::from(!open);
        at += ends_part.unwrap_or(1);
    }
    parts + u32::from(open)
}

/// A node of the syntax tree: what it is, and the place of its parent in [`Tree::nodes`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The node.
    pub node: AnyNodeRef<'a>,
    /// Its parent's index; `None` for top-level statements.
    pub parent: Option<u32>,
}

/// Every node of a program in source order, parents before children.
pub struct Tree<'a> {
    /// The nodes.
    pub nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// The nodes within a range.
    pub fn within(&self, range: TextRange) -> impl Iterator<Item = AnyNodeRef<'a>> + '_ {
        let before = |node: &Node<'_>| node.node.range().start() < range.start();
        let first = self.nodes.partition_point(before);
        let nodes = self.nodes[first..].iter().map(|node| node.node);
        let nodes = nodes.take_while(move |node| node.range().start() <= range.end());
        nodes.filter(move |node| range.contains_range(node.range()))
    }

    fn of(body: &'a [ast::Stmt]) -> Self {
        struct Collector<'a> {
            nodes: Vec<Node<'a>>,
            open: Vec<u32>,
        }
        impl<'a> SourceOrderVisitor<'a> for Collector<'a> {
            fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
                let parent = self.open.last().copied();
                self.open.push(self.nodes.len() as u32);
                self.nodes.push(Node { node, parent });
                TraversalSignal::Traverse
            }
            fn leave_node(&mut self, _: AnyNodeRef<'a>) {
                self.open.pop();
            }
        }
        let mut collector = Collector {
            nodes: Vec::new(),
            open: Vec::new(),
        };
        collector.visit_body(body);
        Self {
            nodes: collector.nodes,
        }
    }

    /// The parents of a node, nearest first.
    pub fn ancestors(&self, index: u32) -> impl Iterator<Item = AnyNodeRef<'a>> + '_ {
        std::iter::successors(self.nodes[index as usize].parent, |&at| {
            self.nodes[at as usize].parent
        })
        .map(|at| self.nodes[at as usize].node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_repro() {
        for (text, lines) in [
            ("", 0),
            ("import torch\nfrom torch import (\n    nn,\n)\n", 0),
            (
                "# why\nimport torch; x = 1\n\nif x:\n    import sys  # here\n    f(\n        x\n    )\n",
                5,
            ),
            ("x = 1; y = 2;\n", 1),
            ("\"\"\"Says\nmuch.\"\"\"\nx\n", 2),
        ] {
            assert_eq!(
                Program::parse(text).unwrap().lines_without_imports(),
                lines,
                "{text}"
            );
        }
    }
}
