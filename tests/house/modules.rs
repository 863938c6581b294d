//! Which file uses which: `use` declarations and paths, followed through re-exports to the file
//! that defines the item.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree, Visibility, visit::Visit};

use super::sources::{Kind, Source};

/// The modules of the workspace, one or more a file.
struct Modules<'a> {
    sources: &'a [Source],
    all: Vec<Module>,
    /// By crate and path.
    by_path: BTreeMap<Vec<String>, usize>,
}

/// A module: the crate's name and the path in it.
struct Module {
    path: Vec<String>,
    /// The file, by its place among the sources.
    file: usize,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
}

/// A leaf of a `use` declaration.
struct Import {
    /// The name that it binds; `*` for all.
    name: String,
    path: Vec<String>,
    is_public: bool,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A module.
    Module(usize),
    /// An item that this module defines.
    Item(usize),
}

/// From a file to those that it uses, by their places among the sources.
pub(super) type Edges = BTreeMap<usize, BTreeSet<usize>>;

const CRATES: [(&str, &str); 2] = [("src/", "minrepro"), ("reducers/src/", "minrepro_reducers")];

/// Which file depends on which, by their places among the sources. Tests count for nothing, and
/// neither does a module's use of the modules beneath it: that is ownership.
pub(super) fn dependencies(sources: &[Source]) -> Edges {
    let modules = Modules::of(sources);
    let mut found = Edges::new();
    for (at, module) in modules.all.iter().enumerate() {
        let reached = modules.reached_from(at);
        let from = module.file;
        let others = reached
            .into_iter()
            .map(|target| &modules.all[target])
            .filter(|other| other.file != from && !other.path.starts_with(&module.path))
            .map(|other| other.file);
        found.entry(from).or_default().extend(others);
    }
    found
}

/// The circles: sets of files of which each reaches all others.
pub(super) fn circles(edges: &Edges) -> BTreeSet<Vec<usize>> {
    let reach: Edges = edges
        .keys()
        .map(|from| (*from, reachable(*from, edges)))
        .collect();
    let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
    for (from, reached) in &reach {
        if reached.contains(from) {
            let in_circle = |file: &&usize| reach.get(file).is_some_and(|back| back.contains(from));
            found.insert(reached.iter().filter(in_circle).copied().collect());
        }
    }
    found
}

fn reachable(from: usize, edges: &Edges) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(file) = waiting.pop() {
        for next in edges.get(&file).into_iter().flatten() {
            if found.insert(*next) {
                waiting.push(*next);
            }
        }
    }
    found
}

impl<'a> Modules<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let mut result = Self {
            sources,
            all: Vec::new(),
            by_path: BTreeMap::new(),
        };
        for (file, source) in sources.iter().enumerate() {
            if source.is_test {
                continue;
            }
            let Some((below, name)) = CRATES
                .iter()
                .find_map(|(folder, name)| Some((source.path.strip_prefix(folder)?, *name)))
            else {
                continue;
            };
            let mut path = vec![name.to_owned()];
            if below == "main.rs" {
                path = vec!["main".to_owned()];
            } else if below != "lib.rs" {
                let below = below.trim_end_matches(".rs");
                let below = below.strip_suffix("/mod").unwrap_or(below);
                path.extend(below.split('/').map(str::to_owned));
            }
            result.add(path, file, &source.tree.items);
        }
        result
    }

    fn add(&mut self, path: Vec<String>, file: usize, items: &[Item]) {
        let mut imports = Imports(Vec::new());
        let mut defined = BTreeSet::new();
        for item in items {
            match item {
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        let mut below = path.clone();
                        below.push(module.ident.to_string());
                        self.add(below, file, items);
                    }
                    continue;
                }
                Item::Const(item) => defined.insert(item.ident.to_string()),
                Item::Enum(item) => defined.insert(item.ident.to_string()),
                Item::Fn(item) => defined.insert(item.sig.ident.to_string()),
                Item::Macro(item) => defined.extend_macro(item),
                Item::Static(item) => defined.insert(item.ident.to_string()),
                Item::Struct(item) => defined.insert(item.ident.to_string()),
                Item::Trait(item) => defined.insert(item.ident.to_string()),
                Item::Type(item) => defined.insert(item.ident.to_string()),
                Item::Union(item) => defined.insert(item.ident.to_string()),
                _ => false,
            };
            imports.visit_item(item);
        }
        self.by_path.insert(path.clone(), self.all.len());
        self.all.push(Module {
            path,
            file,
            defined,
            imports: imports.0,
        });
    }

    /// The modules that define what a module uses.
    fn reached_from(&self, module: usize) -> BTreeSet<usize> {
        let Module { imports, file, .. } = &self.all[module];
        let mut found = BTreeSet::new();
        let mut targets = Vec::new();
        let words = self.words(*file);
        for import in imports {
            let target = self.resolve(module, &import.path, 0);
            let is_used = !import.is_public || words.contains(&import.name);
            match target {
                Some(Target::Item(target)) if is_used => targets.push(target),
                Some(Target::Module(target)) if import.name == "*" && !import.is_public => {
                    targets.push(target);
                }
                // A module that is imported is used by the paths that begin with it.
                _ => {}
            }
        }
        for path in self.paths(*file) {
            if let Some(Target::Item(target)) = self.resolve(module, &path, 0) {
                targets.push(target);
            }
        }
        found.extend(targets);
        found
    }

    /// The names that a file uses for types, constants and calls.
    fn words(&self, file: usize) -> BTreeSet<String> {
        let tokens = &self.sources[file].tokens;
        let mut found = BTreeSet::new();
        let mut in_use = false;
        for (at, token) in tokens.iter().enumerate() {
            match token.text.as_str() {
                "use" => in_use = true,
                ";" => in_use = false,
                _ => {}
            }
            let before = at.checked_sub(1).map_or("", |at| &tokens[at].text);
            let behind = tokens.get(at + 1).map_or("", |token| &token.text);
            let is_name = token.text.starts_with(char::is_uppercase) || behind == "(";
            if token.kind == Kind::Word
                && !in_use
                && is_name
                && !["::", ".", "fn"].contains(&before)
            {
                found.insert(token.text.clone());
            }
        }
        found
    }

    /// The paths of two names and more that stand in a file outside `use` declarations.
    fn paths(&self, file: usize) -> Vec<Vec<String>> {
        let tokens = &self.sources[file].tokens;
        let mut found = Vec::new();
        let mut at = 0;
        let mut in_use = false;
        while at < tokens.len() {
            let start = at;
            at += 1;
            if tokens[start].text == "use" {
                in_use = true;
            } else if tokens[start].text == ";" {
                in_use = false;
            }
            if tokens[start].kind != Kind::Word || in_use {
                continue;
            }
            let mut path = vec![tokens[start].text.clone()];
            while at + 1 < tokens.len()
                && tokens[at].text == "::"
                && tokens[at + 1].kind == Kind::Word
            {
                path.push(tokens[at + 1].text.clone());
                at += 2;
            }
            if path.len() > 1 {
                found.push(path);
            }
        }
        found
    }

    /// Follows a path from a module.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        // Re-exports that lead round in a circle name nothing.
        if depth > 16 {
            return None;
        }
        let module = &self.all[from];
        let root = module.path[0].as_str();
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Some(vec![root.to_owned()]),
            "self" => Some(module.path.clone()),
            "super" => Some(module.path[..module.path.len() - 1].to_vec()),
            "minrepro" | "minrepro_reducers" if first != root => Some(vec![first.clone()]),
            _ => None,
        };
        match start {
            Some(start) => {
                let start = *self.by_path.get(&start)?;
                self.walk(start, rest, depth)
            }
            None => self.walk(from, path, depth),
        }
    }

    fn walk(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Some(Target::Module(from));
        };
        let module = &self.all[from];
        if first == "*" {
            return Some(Target::Module(from));
        }
        if first == "super" {
            let parent = *self.by_path.get(&module.path[..module.path.len() - 1])?;
            return self.walk(parent, rest, depth);
        }
        if module.defined.contains(first) {
            return Some(Target::Item(from));
        }
        let mut below = module.path.clone();
        below.push(first.clone());
        if let Some(below) = self.by_path.get(&below) {
            return self.walk(*below, rest, depth);
        }
        for import in &module.imports {
            let mut path = import.path.clone();
            if import.name == "*" {
                path.pop();
                path.push(first.clone());
            } else if import.name != *first {
                continue;
            }
            // An import of an enum or a trait: what follows is a part of it.
            match self.resolve(from, &path, depth + 1) {
                Some(Target::Module(target)) => return self.walk(target, rest, depth + 1),
                Some(target) => return Some(target),
                None => {}
            }
        }
        None
    }
}

/// A set of names that takes those of macros.
trait ExtendMacro {
    fn extend_macro(&mut self, item: &syn::ItemMacro) -> bool;
}

impl ExtendMacro for BTreeSet<String> {
    fn extend_macro(&mut self, item: &syn::ItemMacro) -> bool {
        if let Some(name) = &item.ident {
            return self.insert(name.to_string());
        }
        // `pass! { pub static NAME = ...; }` and its like define what they name.
        let mut before = String::new();
        for tree in item.mac.tokens.clone() {
            let text = tree.to_string();
            if matches!(
                before.as_str(),
                "static" | "const" | "fn" | "struct" | "enum"
            ) {
                self.insert(text.clone());
            }
            before = text;
        }
        true
    }
}

/// The leaves of `use` declarations, those within functions included.
struct Imports(Vec<Import>);

impl Visit<'_> for Imports {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.collect(&item.tree, &[], is_public);
    }

    fn visit_item_mod(&mut self, _: &syn::ItemMod) {}
}

impl Imports {
    fn collect(&mut self, tree: &UseTree, above: &[String], is_public: bool) {
        let with = |name: &syn::Ident| {
            let mut path = above.to_vec();
            path.push(name.to_string());
            path
        };
        match tree {
            UseTree::Path(path) => self.collect(&path.tree, &with(&path.ident), is_public),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.collect(tree, above, is_public);
                }
            }
            UseTree::Glob(_) => {
                let mut path = above.to_vec();
                path.push("*".to_owned());
                self.push("*".to_owned(), path, is_public);
            }
            UseTree::Name(name) if name.ident == "self" => {
                let last = above.last().cloned().unwrap_or_default();
                self.push(last, above.to_vec(), is_public);
            }
            UseTree::Name(name) => self.push(name.ident.to_string(), with(&name.ident), is_public),
            UseTree::Rename(name) => {
                let path = if name.ident == "self" {
                    above.to_vec()
                } else {
                    with(&name.ident)
                };
                self.push(name.rename.to_string(), path, is_public);
            }
        }
    }

    fn push(&mut self, name: String, path: Vec<String>, is_public: bool) {
        self.0.push(Import {
            name,
            path,
            is_public,
        });
    }
}
