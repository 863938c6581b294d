//! The Rust files of the workspace: text, tokens, syntax tree, and which lines belong to tests.

use std::{
    collections::BTreeSet,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{File, Item, spanned::Spanned, visit::Visit};

/// A Rust file.
pub(super) struct Source {
    /// The path from the root of the workspace.
    pub(super) path: String,
    pub(super) text: String,
    /// The syntax tree without items that are compiled for tests alone.
    pub(super) tree: File,
    /// The tokens outside tests, doc comments left out.
    pub(super) tokens: Vec<Token>,
    /// Whether the whole file is compiled for tests alone.
    pub(super) is_test: bool,
    /// Comments other than doc comments, outside tests, a line each.
    comments: Vec<usize>,
    /// Where items stand that are compiled for tests alone.
    tests: Vec<Range<usize>>,
    /// The offsets at which lines end.
    newlines: Vec<usize>,
}

/// A token that is no group: brackets are tokens of their own.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Literal,
    Open,
    Close,
    /// Punctuation; `::` is one token.
    Sign,
}

impl Source {
    /// The line of an offset, counted from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < offset) + 1
    }

    /// How many lines there are outside tests.
    pub(super) fn lines(&self) -> usize {
        if self.is_test {
            return 0;
        }
        let of_tests: usize = self
            .tests
            .iter()
            .map(|range| self.line(range.end) - self.line(range.start) + 1)
            .sum();
        self.all_lines() - of_tests
    }

    /// How many lines there are.
    pub(super) fn all_lines(&self) -> usize {
        self.text.lines().count()
    }

    /// How many lines of comments stand inside the bodies of functions.
    pub(super) fn comments_in_bodies(&self) -> usize {
        let mut bodies = Bodies(Vec::new());
        bodies.visit_file(&self.tree);
        let is_inside = |offset: &&usize| {
            bodies
                .0
                .iter()
                .any(|body: &Range<usize>| body.contains(offset))
        };
        self.comments.iter().filter(is_inside).count()
    }

    fn read(root: &Path, path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        let mut tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut tests = Vec::new();
        strip_tests(&mut tree.items, &mut tests);
        let mut stream = Flat::default();
        stream.flatten(text.parse().unwrap(), &text);
        let is_tested = |offset: usize| tests.iter().any(|range| range.contains(&offset));
        let mut tokens = stream.tokens;
        let mut comments = Vec::new();
        let mut spans = stream.docs;
        spans.extend(tokens.iter().map(|token| token.range.clone()));
        spans.sort_by_key(|span| span.start);
        spans.push(text.len()..text.len());
        let mut end = 0;
        for span in spans {
            // Between two tokens there are only white space and comments.
            for (at, _) in text[end.min(span.start)..span.start].match_indices("//") {
                let start = end + at;
                let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
                if !text[line.max(end)..start].contains("//") && !is_tested(start) {
                    comments.push(start);
                }
            }
            end = end.max(span.end);
        }
        tokens.retain(|token| !is_tested(token.range.start));
        Self {
            path: name.to_owned(),
            tree,
            tokens,
            is_test: !name.starts_with("src/") && !name.starts_with("reducers/src/"),
            comments,
            tests,
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
            text,
        }
    }
}

/// Reads all Rust files of a workspace, by path.
pub(super) fn read(root: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in ["src", "reducers/src", "tests", "benches"] {
        collect(&root.join(folder), &mut paths);
    }
    paths.sort();
    let mut sources: Vec<Source> = paths.iter().map(|path| Source::read(root, path)).collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(modules_of_tests).collect();
    for source in &mut sources {
        let is_below = |module: &String| source.path.starts_with(module.as_str());
        source.is_test |= tests.iter().any(is_below);
    }
    sources
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            paths.push(path);
        }
    }
}

/// The beginnings of the paths of files that a file declares as modules for tests alone.
fn modules_of_tests(source: &Source) -> Vec<String> {
    let declared = source.tests.iter().filter_map(|range| {
        let name = source.text[range.clone()].strip_suffix(';')?;
        Some(name.rsplit_once("mod ")?.1.to_owned())
    });
    let folder = match source.path.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
        _ => source.path.trim_end_matches(".rs"),
    };
    let with_endings =
        declared.flat_map(|name| ["/", ".rs"].map(|ending| format!("{folder}/{name}{ending}")));
    with_endings.collect()
}

fn strip_tests(items: &mut Vec<Item>, found: &mut Vec<Range<usize>>) {
    items.retain(|item| {
        let is_test = attributes(item).iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|condition| condition == "test")
        });
        if is_test {
            found.push(item.span().byte_range());
        }
        !is_test
    });
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, items)) = &mut module.content
        {
            strip_tests(items, found);
        }
    }
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Where the bodies of functions stand.
struct Bodies(Vec<Range<usize>>);

impl Visit<'_> for Bodies {
    fn visit_block(&mut self, block: &syn::Block) {
        self.0.push(block.span().byte_range());
    }
}

#[derive(Default)]
struct Flat {
    tokens: Vec<Token>,
    /// Doc comments.
    docs: Vec<Range<usize>>,
}

impl Flat {
    fn flatten(&mut self, stream: TokenStream, text: &str) {
        let mut trees = stream.into_iter().peekable();
        while let Some(tree) = trees.next() {
            let range = tree.span().byte_range();
            if text[range.clone()].starts_with("//") || text[range.clone()].starts_with("/*") {
                // A doc comment: its tokens all span the comment.
                self.docs.push(range);
                continue;
            }
            match tree {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.push(Kind::Open, open.to_owned(), group.span_open().byte_range());
                    self.flatten(group.stream(), text);
                    self.push(
                        Kind::Close,
                        close.to_owned(),
                        group.span_close().byte_range(),
                    );
                }
                TokenTree::Ident(word) => self.push(Kind::Word, word.to_string(), range),
                TokenTree::Literal(literal) => self.push(Kind::Literal, literal.to_string(), range),
                TokenTree::Punct(sign) => {
                    let next = trees.peek();
                    let is_colons = sign.as_char() == ':'
                        && sign.spacing() == Spacing::Joint
                        && matches!(next, Some(TokenTree::Punct(next)) if next.as_char() == ':');
                    if is_colons {
                        trees.next();
                        self.push(Kind::Sign, "::".to_owned(), range.start..range.end + 1);
                    } else {
                        self.push(Kind::Sign, sign.as_char().to_string(), range);
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: Kind, text: String, range: Range<usize>) {
        self.tokens.push(Token { kind, text, range });
    }
}
