//! A page of Markdown: its links, the anchors of its headings, its blocks of code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page.
pub(super) struct Page {
    /// The path from the root of the repository.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Where links and images lead.
    pub(super) links: Vec<String>,
    /// The anchors of its headings, as GitHub and mdBook name them.
    pub(super) anchors: Vec<String>,
    pub(super) blocks: Vec<Block>,
    /// Code within sentences and tables.
    pub(super) spans: Vec<String>,
}

/// A block of code.
pub(super) struct Block {
    /// What stands behind the fence; an indented block has none.
    pub(super) language: String,
    pub(super) text: String,
}

impl Page {
    /// Reads a page by its path from the root of the repository.
    pub(super) fn read(path: &str) -> Self {
        let text = fs::read_to_string(super::root().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        Self::parse(path, text)
    }

    pub(super) fn parse(path: &str, text: String) -> Self {
        let mut page = Self {
            path: path.into(),
            links: Vec::new(),
            anchors: Vec::new(),
            blocks: Vec::new(),
            spans: Vec::new(),
            text: String::new(),
        };
        let mut heading: Option<String> = None;
        let mut block: Option<Block> = None;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let title = heading.take().unwrap_or_default();
                    page.anchors.push(anchor(&title));
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(language) => language.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    let text = String::new();
                    block = Some(Block { language, text });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Text(piece) => {
                    if let Some(block) = &mut block {
                        block.text.push_str(&piece);
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&piece);
                    }
                }
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    page.spans.push(code.to_string());
                }
                _ => {}
            }
        }
        page.text = text;
        page
    }

    /// The links to files and headings of this repository that lead nowhere.
    pub(super) fn broken_links(&self) -> Vec<String> {
        let is_broken = |link: &&String| !self.resolves(link);
        let broken = self.links.iter().filter(is_broken);
        broken
            .map(|link| format!("{}: {link}", self.path.display()))
            .collect()
    }

    fn resolves(&self, link: &str) -> bool {
        if ["https://", "http://"]
            .iter()
            .any(|scheme| link.starts_with(scheme))
        {
            return true;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        if file.is_empty() {
            return self.anchors.iter().any(|known| known == anchor);
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let target = super::root().join(folder).join(file);
        if anchor.is_empty() {
            return target.exists();
        }
        let Ok(text) = fs::read_to_string(&target) else {
            return false;
        };
        let anchors = Self::parse(file, text).anchors;
        anchors.iter().any(|known| known == anchor)
    }
}

/// The anchor of a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|char| match char {
        ' ' => Some('-'),
        char if char.is_alphanumeric() || "-_".contains(char) => Some(char.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

#[test]
fn a_broken_link_is_found() {
    let text = "# One `two`: three!\n[a](#one-two-three) [b](#four) [c](Cargo.toml) [d](no.md) \
                [e](README.md#no-such) [f](https://x.example)\n";
    let page = Page::parse("here.md", text.to_owned());
    assert_eq!(
        page.broken_links(),
        [
            "here.md: #four",
            "here.md: no.md",
            "here.md: README.md#no-such"
        ]
    );
}
