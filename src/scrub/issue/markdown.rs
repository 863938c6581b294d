//! Markdown as far as issues need it: headings, fences of all kinds, indented code, images, prose,
//! in the order of the text. Knows nothing of Python. Pure.

use crate::text::pattern;

/// A piece of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkdownPiece {
    /// The section that it stands in.
    pub(super) section: Section,
    /// What it is.
    pub(super) content: Content,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text between other pieces; headings, too, marked by their `#`.
    Prose(String),
    /// Code between fences, with what stands behind the opening one.
    Fence { language: String, text: String },
    /// Code by indentation.
    Indented(String),
    /// A picture.
    Image,
    /// A link to a gist, a notebook or a paste, where code may be.
    Elsewhere(String),
}

/// The sections that issue forms make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    /// The description of the bug, and all that has no heading of a form.
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
    /// What forms for features ask for.
    Feature,
    /// What the form for documentation asks for.
    Docs,
}

pattern!(COMMENT, r"(?s)<!--.*?(?:-->|\z)");
pattern!(HEADING, r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$");
pattern!(
    FENCE,
    r"^([ \t>]*)(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)$"
);
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
    let text = body.replace("\r\n", "\n").replace('\r', "\n");
    let text = without_comments(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader {
        lines: &lines,
        at: 0,
        section: Section::default(),
        prose: String::new(),
        pieces: Vec::new(),
    };
    reader.read();
    reader.pieces
}

/// Drops HTML comments that stand outside fences.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut outside = String::new();
    let mut fence: Option<String> = None;
    for line in text.split_inclusive('\n') {
        let opened = FENCE
            .captures(line.trim_end_matches('\n'))
            .map(|found| found[2].to_owned());
        match (&fence, opened) {
            (None, Some(ticks)) if !outside_is_comment(&outside) => {
                kept.push_str(&COMMENT.replace_all(&outside, ""));
                outside.clear();
                kept.push_str(line);
                fence = Some(ticks);
            }
            (None, _) => outside.push_str(line),
            (Some(ticks), _) => {
                kept.push_str(line);
                if is_closing(line, ticks) {
                    fence = None;
                }
            }
        }
    }
    kept.push_str(&COMMENT.replace_all(&outside, ""));
    kept
}

/// Whether a text ends within an HTML comment.
fn outside_is_comment(text: &str) -> bool {
    text.rfind("<!--")
        .is_some_and(|at| !text[at..].contains("-->"))
}

fn is_closing(line: &str, ticks: &str) -> bool {
    let line = line.trim().trim_start_matches(['>', ' ']);
    let mark = ticks.chars().next().unwrap_or('`');
    line.len() >= ticks.len() && line.chars().all(|char| char == mark)
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    section: Section,
    prose: String,
    pieces: Vec<MarkdownPiece>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(&line) = self.lines.get(self.at) {
            if let Some(found) = FENCE.captures(line).filter(|found| is_opening(found)) {
                self.fence(&found[1], &found[2], found[3].trim());
            } else if let Some(found) = HEADING.captures(line) {
                self.flush();
                if let Some(section) = section(&found[2]) {
                    self.section = section;
                }
                self.prose = format!("{line}\n");
                self.at += 1;
            } else if self.begins_indented() {
                self.indented();
            } else {
                self.line(line);
                self.at += 1;
            }
        }
        self.flush();
    }

    fn push(&mut self, content: Content) {
        self.pieces.push(MarkdownPiece {
            section: self.section,
            content,
        });
    }

    fn flush(&mut self) {
        let prose = std::mem::take(&mut self.prose);
        if !prose.trim().is_empty() {
            self.push(Content::Prose(prose));
        }
    }

    fn line(&mut self, line: &str) {
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

    /// A fence to its end, or to where another section begins if it is never closed.
    fn fence(&mut self, margin: &str, ticks: &str, behind: &str) {
        self.flush();
        let begin = self.at + 1;
        let rest = &self.lines[begin.min(self.lines.len())..];
        let closed = rest.iter().position(|line| is_closing(line, ticks));
        // A fence that is never closed, or only by the one of another section, ends where that
        // section begins.
        let next_section = rest.iter().position(|line| {
            HEADING
                .captures(line)
                .is_some_and(|found| found[1].len() == 3 && section(&found[2]).is_some())
        });
        let (length, skip) = match (closed, next_section) {
            (Some(closed), Some(section)) if section < closed => (section, 0),
            (Some(closed), _) => (closed, 1),
            (None, Some(section)) => (section, 0),
            (None, None) => (rest.len(), 0),
        };
        let width = margin.chars().count();
        let quoted = margin.contains('>');
        let mut text: String = rest[..length]
            .iter()
            .map(|line| format!("{}\n", unmargined(line, width, quoted)))
            .collect();
        let word = behind
            .split(|char: char| char.is_whitespace() || char == '{' || char == ',')
            .next()
            .unwrap_or_default();
        let language = if is_language(word) || behind.is_empty() {
            word.to_lowercase()
        } else {
            String::new()
        };
        if language.is_empty() && !behind.is_empty() {
            // Code that begins right behind the ticks.
            text.insert_str(0, &format!("{behind}\n"));
        }
        self.push(Content::Fence { language, text });
        self.at = begin + length + skip;
    }

    /// Code by indentation: four spaces or a tab, behind an empty line, and not within a list.
    fn begins_indented(&self) -> bool {
        let Some(line) = self.lines.get(self.at) else {
            return false;
        };
        let before = self.at.checked_sub(1).map_or("", |at| self.lines[at]);
        let is_code = |line: &str| line.starts_with("    ") || line.starts_with('\t');
        if !is_code(line) || line.trim().is_empty() || !before.trim().is_empty() {
            return false;
        }
        let above = self.lines[..self.at]
            .iter()
            .rev()
            .find(|line| !line.trim().is_empty() && !is_code(line));
        !above.is_some_and(|line| {
            let line = line.trim_start();
            line.starts_with("- ")
                || line.starts_with("* ")
                || line.starts_with(|char: char| char.is_ascii_digit())
        })
    }

    fn indented(&mut self) {
        self.flush();
        let rest = &self.lines[self.at..];
        let is_in = |line: &&&str| {
            line.trim().is_empty() || line.starts_with("    ") || line.starts_with('\t')
        };
        let length = rest.iter().take_while(is_in).count();
        let text = rest[..length]
            .iter()
            .map(|line| {
                format!(
                    "{}\n",
                    line.strip_prefix("    ")
                        .or_else(|| line.strip_prefix('\t'))
                        .unwrap_or("")
                )
            })
            .collect();
        self.push(Content::Indented(text));
        self.at += length;
    }
}

/// Whether what follows ticks lets them open a fence: no ticks on the same line, which would be
/// code within a line.
fn is_opening(found: &regex::Captures<'_>) -> bool {
    !found[2].starts_with('`') || !found[3].contains('`')
}

/// A line without the margin of its fence.
fn unmargined(line: &str, width: usize, quoted: bool) -> &str {
    let mut rest = line;
    for _ in 0..width {
        let Some(char) = rest.chars().next() else {
            break;
        };
        if char == ' ' || char == '\t' || (quoted && char == '>') {
            rest = &rest[char.len_utf8()..];
        } else {
            break;
        }
    }
    rest
}

/// Whether a word names a language rather than being code itself.
fn is_language(word: &str) -> bool {
    let known = [
        "python",
        "py",
        "py3",
        "python3",
        "pytb",
        "pycon",
        "ipython",
        "ipython3",
        "python-traceback",
        "sh",
        "bash",
        "shell",
        "console",
        "zsh",
        "text",
        "txt",
        "plaintext",
        "plain",
        "log",
        "logs",
        "output",
        "diff",
        "patch",
        "cpp",
        "c++",
        "c",
        "cuda",
        "json",
        "yaml",
        "yml",
        "toml",
        "ini",
        "rust",
        "java",
        "js",
        "javascript",
        "html",
        "xml",
        "markdown",
        "md",
        "cmake",
        "dockerfile",
        "makefile",
        "sql",
        "swift",
        "asm",
        "llvm",
        "mlir",
        "raw",
        "error",
        "traceback",
        "stderr",
        "stdout",
        "none",
        "code",
        "powershell",
        "cmd",
        "bat",
    ];
    known.contains(&word.to_lowercase().as_str())
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
        "error logs" | "error log" | "error" | "error message" | "logs" | "traceback"
        | "stacktrace" | "stack trace" => Section::Logs,
        "versions" | "environment" | "your environment" | "collect env" | "torch version" => {
            Section::Versions
        }
        "minified repro" => Section::Minified,
        "expected behavior" | "expected behaviour" | "expected result" | "expected output" => {
            Section::Expected
        }
        "additional context" | "alternatives" => Section::Aside,
        "the feature, motivation and pitch" => Section::Feature,
        "the doc issue" | "suggest a potential alternativefix" => Section::Docs,
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
