//! Figures of style, each with the places that it counts.

use std::collections::BTreeMap;

use syn::{spanned::Spanned, visit::Visit};

use super::sources::{Kind, Source, Token};

/// Functions beyond so many lines, from the signature to the closing bracket.
pub(super) fn long_functions(sources: &[Source], limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        let mut functions = Functions(Vec::new());
        functions.visit_file(&source.tree);
        for (name, first, last) in functions.0 {
            if last + 1 - first > limit {
                found.push((last + 1 - first, format!("{}:{first} {name}", source.path)));
            }
        }
    }
    found.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    let shown = found.into_iter();
    shown
        .map(|(lines, place)| format!("{lines} lines: {place}"))
        .collect()
}

/// Name, first and last line of each function that has a body.
struct Functions(Vec<(String, usize, usize)>);

impl Functions {
    fn push(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.span().start().line;
        let last = body.span().end().line;
        self.0.push((signature.ident.to_string(), first, last));
    }
}

impl<'a> Visit<'a> for Functions {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.push(&function.sig, &function.block);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.push(&function.sig, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.push(&function.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, function);
    }
}

/// Names that several structs, enums, traits or aliases carry.
pub(super) fn shared_type_names(sources: &[Source]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        let mut types = Types(Vec::new());
        types.visit_file(&source.tree);
        for (name, line) in types.0 {
            let place = format!("{}:{line}", source.path);
            places.entry(name).or_default().push(place);
        }
    }
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    shared
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect()
}

/// The types that a file defines, with their lines.
struct Types(Vec<(String, usize)>);

impl Types {
    fn push(&mut self, name: &syn::Ident) {
        self.0.push((name.to_string(), name.span().start().line));
    }
}

impl<'a> Visit<'a> for Types {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.push(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.push(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'a syn::ItemUnion) {
        self.push(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.push(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.push(&item.ident);
    }
}

/// Closures with a parameter of a name, those inside macros included.
pub(super) fn closures_with(sources: &[Source], parameter: &str) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        for (at, token) in source.tokens.iter().enumerate() {
            let opens = token.text == "|" && begins_closure(&source.tokens[..at]);
            if opens && parameters(&source.tokens[at + 1..]).any(|name| name.text == parameter) {
                let line = source.line(token.range.start);
                found.push(format!("{}:{line}", source.path));
            }
        }
    }
    found
}

/// Whether a `|` behind these tokens begins the parameters of a closure; otherwise it stands
/// between two operands, or two patterns.
fn begins_closure(before: &[Token]) -> bool {
    before.last().is_some_and(|token| match token.kind {
        Kind::Word => {
            ["move", "return", "else", "in", "match", "if"].contains(&token.text.as_str())
        }
        Kind::Literal | Kind::Close => false,
        Kind::Open => true,
        // A `>` ends the type of a closure's last parameter.
        Kind::Sign => !["|", "?", ">"].contains(&token.text.as_str()),
    })
}

/// The tokens up to the `|` that ends a closure's parameters.
fn parameters(behind: &[Token]) -> impl Iterator<Item = &Token> {
    let mut depth = 0;
    behind.iter().take_while(move |token| {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            _ => {}
        }
        depth >= 0 && !(depth == 0 && token.text == "|")
    })
}

/// Lines of more than so many characters, tests included.
pub(super) fn wide_lines(sources: &[Source], columns: usize) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for (at, line) in source.text.lines().enumerate() {
            let count = line.chars().count();
            if count > columns {
                found.push(format!("{}:{} has {count} columns", source.path, at + 1));
            }
        }
    }
    found
}

/// Files outside some rooms whose names or strings hold one of some words; comments do not count.
/// A path into a module named `torch` is not counted for `torch`: it only names a room.
pub(super) fn naming(sources: &[Source], words: &[&str], rooms: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        if rooms.iter().any(|room| source.path.starts_with(room)) {
            continue;
        }
        let mut names = Vec::new();
        for (at, token) in source.tokens.iter().enumerate() {
            let text = token.text.to_lowercase();
            let is_named = matches!(token.kind, Kind::Word | Kind::Literal)
                && words.iter().any(|word| text.contains(word));
            if is_named && !is_module(&source.tokens, at, words) {
                let short: String = token.text.chars().take(40).collect();
                let line = source.line(token.range.start);
                names.push(format!("{line} {}", short.replace('\n', " ")));
            }
        }
        if !names.is_empty() {
            found.push(format!("{}: {}", source.path, names.join(" · ")));
        }
    }
    found
}

/// Whether a token is one of the words alone, as a module's name in a path, a declaration, or the
/// last of several in the brackets of a path.
fn is_module(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    let text = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map_or("", |token| &token.text)
    };
    let is_named =
        || text(Some(at + 1)) == "::" || ["::", "mod"].contains(&text(at.checked_sub(1)));
    // Of `use crate::passes::{python, torch};` what stands in the brackets.
    let is_listed = || {
        let names = tokens[..at].iter().rev();
        let listed = names.take_while(|token| token.kind == Kind::Word || token.text == ",");
        let opening = at.checked_sub(listed.count() + 1);
        text(opening) == "{" && text(opening.and_then(|opening| opening.checked_sub(1))) == "::"
    };
    words.contains(&tokens[at].text.as_str()) && (is_named() || is_listed())
}

/// Lines of comments inside the bodies of functions, and all lines outside tests, of some files.
pub(super) fn comments(sources: &[Source], rooms: &[&str]) -> (usize, usize) {
    let chosen = |source: &&Source| {
        !source.is_test && rooms.iter().any(|room| source.path.starts_with(room))
    };
    let of_each = sources
        .iter()
        .filter(chosen)
        .map(|source| (source.comments_in_bodies(), source.lines()));
    of_each.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
}
