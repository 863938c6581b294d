//! The pieces of a post in the order of the text: headings, fenced and indented code, images, links
//! and prose. `pulldown-cmark` finds the blocks; this file corrects them where people write
//! something else than `CommonMark` expects. Knows nothing of Python. Pure.

use minrepro_reducers::syntax::lines::with_plain_newlines;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::pattern;

/// A piece of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkdownPiece {
    /// Its section.
    pub(super) section: Section,
    /// Its content.
    pub(super) content: Content,
}

/// The content of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text between other pieces, including headings with their `#`.
    Prose(String),
    /// Code between fences, with the language of the opening one.
    Fence { language: String, text: String },
    /// Code by indentation.
    Indented(String),
    /// An image.
    Image,
    /// A link to a gist, a notebook or a paste, which may hold code.
    Elsewhere(String),
}

/// The sections of issue forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    /// The description of the bug, and everything without a heading of a form.
    #[default]
    Description,
    /// "Error logs".
    Logs,
    /// "Versions" or "Environment".
    Versions,
    /// "Minified repro".
    Minified,
    /// "Expected behavior".
    Expected,
    /// "Additional context" and "Alternatives".
    Aside,
    /// The sections of forms for features.
    Feature,
    /// The sections of the form for documentation.
    Docs,
}

/// The languages that fences name, by how their code is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Python, perhaps with prompts.
    Python,
    /// The output of a failure.
    Traceback,
    /// Commands of a shell.
    Shell,
    /// Another language, whose text may still show a failure.
    Foreign,
    /// Text of any kind.
    Plain,
}

impl Language {
    const NAMES: &[(Self, &str)] = &[
        (Self::Python, "python py py3 python3 pycon ipython ipython3"),
        (Self::Traceback, "pytb python-traceback traceback error"),
        (Self::Shell, "sh bash shell zsh powershell cmd bat"),
        (
            Self::Foreign,
            "diff patch cpp c++ c cuda json yaml yml toml ini rust java js javascript html xml \
             markdown md cmake dockerfile makefile sql asm llvm mlir",
        ),
        (
            Self::Plain,
            "console text txt plaintext plain log logs output swift raw stderr stdout none code",
        ),
    ];

    /// The language of a name, in any case; none if the word is code itself.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        Self::NAMES
            .iter()
            .find(|(_, names)| names.split(' ').any(|known| known == name))
            .map(|(language, _)| *language)
    }
}

pattern!(COMMENT, r"(?s)<!--.*?(?:-->|\z)");
pattern!(HEADING, r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$");
pattern!(
    TAG,
    r"(?i)^</?(?:details|summary|p|br|pre|code|div|center|b|i|sub)\b[^>]*>|</?(?:details|summary|pre|code|p|br|b)\b[^>]*>$"
);
pattern!(
    IMAGE,
    r"!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>|https://(?:github\.com/(?:user-attachments/assets|[\w.-]+/[\w.-]+/assets)|user-images\.githubusercontent\.com)/\S+"
);
pattern!(
    ELSEWHERE,
    r"https?://(?:gist\.github\.com|colab\.research\.google\.com|pastebin\.com|(?:www\.)?kaggle\.com|drive\.google\.com|(?:www\.)?dropbox\.com)/\S+"
);

/// The pieces of a post.
pub(super) fn pieces(body: &str) -> Vec<MarkdownPiece> {
    let text = with_plain_newlines(body);
    let mut reader = PostReader::default();
    reader.read_all(&text);
    reader.flush();
    reader.pieces
}

/// Collects pieces from the events of the Markdown parser.
#[derive(Default)]
struct PostReader {
    section: Section,
    /// The number of `#` of the heading that began the section.
    level: usize,
    prose: String,
    pieces: Vec<MarkdownPiece>,
}

impl PostReader {
    fn read_all(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = self.read(rest) {
            rest = &rest[at..];
        }
    }

    /// Reads to the end of the text, or to where it must be parsed anew because its authors meant
    /// something else than `CommonMark` makes of it.
    fn read(&mut self, text: &str) -> Option<usize> {
        let mut depth = 0_u32;
        let mut prose_from = 0;
        let mut events = Parser::new_ext(text, Options::empty()).into_offset_iter();
        while let Some((event, range)) = events.next() {
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
                Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
                Event::Start(Tag::Heading { .. })
                    if depth == 0 && text[range.clone()].starts_with('#') =>
                {
                    self.add_prose(&text[prose_from..line_start(text, range.start)]);
                    self.flush();
                    prose_from = line_end(text, range.end);
                    self.begin_section(&text[range.start..prose_from]);
                }
                Event::Start(Tag::HtmlBlock)
                    if depth == 0 && !text[range.clone()].trim_start().starts_with("<!--") =>
                {
                    // CommonMark takes lines for HTML up to the next empty one. Below `<details>`
                    // people write Markdown, so only the line of the tag counts as HTML.
                    let end = line_end(text, range.start + 1);
                    self.add_prose(&text[prose_from..end]);
                    return Some(end);
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let code: String = events
                        .by_ref()
                        .map_while(|(event, _)| match event {
                            Event::Text(text) => Some(text.into_string()),
                            _ => None,
                        })
                        .collect();
                    let is_fence = kind.is_fenced();
                    if !is_fence && depth > 0 {
                        // Text that continues an item of a list is rarely meant as code.
                        continue;
                    }
                    self.add_prose(&text[prose_from..line_start(text, range.start)]);
                    self.flush();
                    prose_from = line_end(text, range.end);
                    if is_fence {
                        if let Some(section_at) = self.add_fence(&text[range.clone()], &code) {
                            return Some(range.start + section_at);
                        }
                    } else if code.starts_with("```") || code.starts_with("~~~") {
                        // A fence that is indented too far.
                        self.read_all(&code);
                    } else {
                        self.push(Content::Indented(code));
                    }
                }
                _ => {}
            }
        }
        self.add_prose(&text[prose_from..]);
        None
    }

    fn push(&mut self, content: Content) {
        self.pieces.push(MarkdownPiece {
            section: self.section,
            content,
        });
    }

    /// Ends the prose that was collected.
    fn flush(&mut self) {
        let prose = std::mem::take(&mut self.prose);
        if !prose.trim().is_empty() {
            self.push(Content::Prose(prose));
        }
    }

    fn begin_section(&mut self, heading: &str) {
        let line = heading.trim_end_matches('\n');
        if let Some(found) = HEADING.captures(line) {
            let level = found[1].len();
            let known = section(&found[2]);
            // A heading that no form has ends the section of a form, unless it lies below it. The
            // output of conda has lines that look like headings.
            let is_output = found[2].starts_with("packages in environment");
            if known.is_some() || (level <= self.level && !is_output) {
                self.section = known.unwrap_or_default();
                self.level = level;
            }
        }
        self.prose = format!("{line}\n");
    }

    fn add_prose(&mut self, text: &str) {
        for line in COMMENT.replace_all(text, "").lines() {
            self.add_line(line);
        }
    }

    fn add_line(&mut self, line: &str) {
        if IMAGE.is_match(line) {
            self.flush();
            self.push(Content::Image);
        }
        if let Some(found) = ELSEWHERE.find(line) {
            let link = found
                .as_str()
                .trim_end_matches([')', '.', ',', '>'])
                .to_owned();
            self.flush();
            self.push(Content::Elsewhere(link));
        }
        self.prose
            .push_str(&TAG.replace_all(&IMAGE.replace_all(line, ""), ""));
        self.prose.push('\n');
    }

    /// Adds a fence, given as it stands in the post and as its code alone. A fence that is never
    /// closed, or only by the one of another section, ends where that section begins; the answer
    /// is where.
    fn add_fence(&mut self, source: &str, code: &str) -> Option<usize> {
        let mut lines = source.split_inclusive('\n');
        let opening = lines.next().unwrap_or_default();
        let mut at = opening.len();
        let mut count = 0;
        let mut section_at = None;
        for line in lines {
            let begins_section = HEADING
                .captures(line.trim_end_matches('\n'))
                .is_some_and(|found| found[1].len() == 3 && section(&found[2]).is_some());
            if begins_section {
                section_at = Some(at);
                break;
            }
            at += line.len();
            count += 1;
        }
        let mut text: String = match section_at {
            Some(_) => code.split_inclusive('\n').take(count).collect(),
            None => code.to_owned(),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let behind = opening.trim_start_matches(['`', '~']).trim();
        let word = behind
            .split(|char: char| char.is_whitespace() || char == '{' || char == ',')
            .next()
            .unwrap_or_default();
        let is_named = behind.is_empty() || Language::of(word).is_some();
        if !is_named {
            // Code that begins right behind the ticks.
            text.insert_str(0, &format!("{behind}\n"));
        }
        let language = if is_named {
            word.to_lowercase()
        } else {
            String::new()
        };
        self.push(Content::Fence { language, text });
        section_at
    }
}

/// Where the line of an offset starts.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// Where the line ends in which a block ends, its line break included.
fn line_end(text: &str, offset: usize) -> usize {
    if text[..offset].ends_with('\n') {
        return offset;
    }
    text[offset..]
        .find('\n')
        .map_or(text.len(), |at| offset + at + 1)
}

/// The section of a form that a heading begins, if it is one of theirs.
fn section(heading: &str) -> Option<Section> {
    let words: String = heading
        .chars()
        .filter(|char| char.is_alphanumeric() || char.is_whitespace() || *char == ',')
        .collect::<String>()
        .trim()
        .to_lowercase();
    Some(match words.as_str() {
        "describe the bug" | "bug" | "bug report" | "describe the issue" | "issue description"
        | "to reproduce" => Section::Description,
        "error logs" | "error log" | "error" | "error message" | "error messages" | "logs"
        | "log" | "output" | "actual output" | "traceback" | "full traceback" | "stacktrace"
        | "stack trace" => Section::Logs,
        "versions" | "environment" | "your environment" | "collect env" | "torch version" => {
            Section::Versions
        }
        "minified repro" => Section::Minified,
        "expected behavior" | "expected behaviour" | "expected result" | "expected output" => {
            Section::Expected
        }
        "additional context" | "additional information" | "alternatives" => Section::Aside,
        "the feature, motivation and pitch" => Section::Feature,
        "documentation" | "the doc issue" | "suggest a potential alternativefix" => Section::Docs,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Vec<String> {
        pieces(body)
            .into_iter()
            .map(|piece| match piece.content {
                Content::Prose(text) => format!("{:?} prose {}", piece.section, text.trim()),
                Content::Fence { language, text } => {
                    format!("{:?} fence {language:?} {text:?}", piece.section)
                }
                Content::Indented(text) => format!("{:?} indented {text:?}", piece.section),
                Content::Image => format!("{:?} image", piece.section),
                Content::Elsewhere(link) => format!("{:?} elsewhere {link}", piece.section),
            })
            .collect()
    }

    #[test]
    fn fences_of_all_kinds() {
        assert_eq!(
            shown("```Python\na\n```"),
            ["Description fence \"python\" \"a\\n\""]
        );
        assert_eq!(
            shown("~~~\na\n```\n~~~"),
            ["Description fence \"\" \"a\\n```\\n\""]
        );
        assert_eq!(
            shown("````py\n```\nb\n````"),
            ["Description fence \"py\" \"```\\nb\\n\""]
        );
        assert_eq!(
            shown("```import torch\nb\n```"),
            ["Description fence \"\" \"import torch\\nb\\n\""]
        );
        assert_eq!(
            shown("  ```py\n  a\n    b\n  ```"),
            ["Description fence \"py\" \"a\\n  b\\n\""]
        );
        assert_eq!(
            shown("> ```py\n> a\n> ```"),
            ["Description fence \"py\" \"a\\n\""]
        );
        assert_eq!(
            shown("see ```a``` there"),
            ["Description prose see ```a``` there"]
        );
        assert_eq!(shown("text\n\n    a\n\n      b\n\nmore").len(), 3);
        assert_eq!(
            shown("- item\n\n    more of it"),
            ["Description prose - item\n\n    more of it"]
        );
    }

    #[test]
    fn a_fence_that_is_never_closed_ends_with_its_section() {
        let body = "### 🐛 Describe the bug\n```python\na\n### Versions\n```\nb\n```\n";
        let found = shown(body);
        assert_eq!(
            found[1..],
            [
                "Description fence \"python\" \"a\\n\"",
                "Versions prose ### Versions",
                "Versions fence \"\" \"b\\n\""
            ]
        );
    }

    #[test]
    fn headings_of_forms_begin_sections_and_others_do_not() {
        let body = "### 🐛 Describe the bug\nx\n## Minimal repro\ny\n### Error logs\n_No response_\n### Versions\nz";
        let sections: Vec<Section> = pieces(body)
            .into_iter()
            .map(|piece| piece.section)
            .collect();
        assert_eq!(
            sections,
            [
                Section::Description,
                Section::Description,
                Section::Logs,
                Section::Versions
            ]
        );
    }

    #[test]
    fn comments_images_and_links() {
        assert_eq!(
            shown("<!-- ```py\nno\n``` -->\nyes"),
            ["Description prose yes"]
        );
        assert_eq!(shown("![shot](https://x/y.png)"), ["Description image"]);
        assert_eq!(
            shown("<details><summary>code</summary>\n\n```\na\n```\n</details>").len(),
            2
        );
        assert_eq!(
            shown("see https://gist.github.com/a/1)."),
            [
                "Description elsewhere https://gist.github.com/a/1",
                "Description prose see https://gist.github.com/a/1)."
            ]
        );
    }
}
