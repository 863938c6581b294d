//! Classifies the pieces of a post: Python, a log, the output of `collect_env`, prose. Strips
//! prompts, magics, colours and margins. Pure. Called by the extraction of the repro and of the
//! error.

use minrepro_reducers::syntax::{Program, lines::with_plain_newlines};

use super::{
    log::{crash, plain},
    markdown::{Content, Language, Section, pieces},
};
use crate::{
    scrub::python,
    text::{margin, pattern, unindented},
};

/// A classified piece of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PostBlock {
    /// Its section.
    pub(super) section: Section,
    /// Its kind.
    pub(super) kind: BlockKind,
}

/// The kind of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Code.
    Python(Snippet),
    /// A traceback, or output that contains an error.
    Log(String),
    /// The output of `python -m torch.utils.collect_env`.
    Environment(String),
    /// Text for people.
    Prose(String),
    /// A picture.
    Image,
    /// A link to a site for code.
    Elsewhere(String),
    /// Other code or output.
    Other(String),
}

/// Code without prompts and margins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The text, cleaned.
    pub(super) text: String,
    /// Whether it parses.
    pub(super) parses: bool,
}

pattern!(IPYTHON, r"^\s*In ?\[\d*\]: ?(.*)$");
pattern!(IPYTHON_MORE, r"^\s*\.{3,}: ?(.*)$");
pattern!(LISTED, r"^\s*(?:\d+[.)]|[-*]) +`([^`]+)`$");
pattern!(HEREDOC, r#"<<-?\s*['"]?(\w+)['"]?"#);
pattern!(
    SHELL,
    r"^\s*(?:\([\w.-]+\) )?(?:[\w.-]+@[\w.-]+[:~ ]\S*\s?)?[$#] ?(?:\w+=\S+ )*(?:python3?|pip3?|conda|cat|torchrun|cd|export|git|bash|uv)\b"
);
// A line of code, as opposed to output: it imports, defines, branches, assigns, calls or closes.
pattern!(
    CODE_LINE,
    r"^\s*(?:(?:import|from|def|class|for|while|if|elif|else|with|try|except|finally|return|raise|assert|yield|del|pass|async|await|global|break|continue)\b|@|#|[\w.\[\], ()*]+\s*[-+*/@|&]?=[^=]|[A-Za-z_][\w.]*[\[(]|[)\]}]+[,.:]?|['\x22]{1,3})"
);
// Beginnings of printed values.
pattern!(
    VALUE_LINE,
    r"^\s*(?:tensor|array|Tensor|Parameter|torch\.Size|torch\.return_types\.\w+|dtype)[(=]"
);
pattern!(
    ERROR_LINE,
    r"(?m)^(?:\[rank\d+\]:? ?)?(?:E +)?[A-Za-z_][\w.]*(?:Error|Exception|Unsupported|Failed|Exit|Interrupt|Warning|Hit|Exceeded|NotImplemented\w*)(?::|\s*$)"
);
/// The blocks of a post. Code that stands in no fence is looked for if there is no other.
pub(super) fn blocks(body: &str) -> Vec<PostBlock> {
    let found = fenced(body);
    // Definitions alone may be the rest of code whose margin was taken for a fence.
    let has_code = found.iter().any(|block| match &block.kind {
        BlockKind::Python(snippet) => {
            Program::parse(snippet.text.as_str()).is_ok_and(|program| python::can_be_run(&program))
                || !snippet.parses
        }
        _ => false,
    });
    let text = plain(&with_plain_newlines(body));
    if !has_code && let Some((before, code, after)) = loose_code(&text) {
        let mut found = fenced(before);
        let section = found.last().map(|block| block.section).unwrap_or_default();
        found.push(PostBlock {
            section,
            kind: BlockKind::Python(code),
        });
        found.extend(fenced(after));
        return found;
    }
    found
}

fn fenced(body: &str) -> Vec<PostBlock> {
    let mut found = Vec::new();
    for piece in pieces(body) {
        let section = piece.section;
        let kinds = match piece.content {
            Content::Prose(text) => vec![BlockKind::Prose(text)],
            Content::Image => vec![BlockKind::Image],
            Content::Elsewhere(link) => vec![BlockKind::Elsewhere(link)],
            Content::Fence { language, text } => classify(&language, &text),
            Content::Indented(text) => match classify("", &text).as_slice() {
                [BlockKind::Other(_)] => vec![BlockKind::Prose(text)],
                kinds => kinds.to_vec(),
            },
        };
        found.extend(kinds.into_iter().map(|kind| PostBlock { section, kind }));
    }
    found
}

/// The text for people among blocks.
pub(super) fn prose(blocks: &[PostBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Prose(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A post in its author's own words, without code and quotes.
pub(super) fn own_words(body: &str) -> String {
    let text = prose(&blocks(body));
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('>'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The most lines of code in no fence.
const LOOSE: usize = 200;

/// The first code outside fences in a text, with the text before and after it: from a line that
/// imports to the last line with which all of it parses.
fn loose_code(text: &str) -> Option<(&str, Snippet, &str)> {
    let mut at = 0;
    while at < text.len() {
        let line = text[at..].lines().next().unwrap_or_default();
        let bare = unlisted(line).trim_start_matches('`');
        let is_import = (bare.starts_with("import ") || bare.starts_with("from "))
            && Program::parse(bare.trim_end_matches('`')).is_ok();
        if is_import && let Some((code, length)) = longest_program(&text[at..]) {
            return Some((&text[..at], code, &text[at + length..]));
        }
        at += line.len() + 1;
    }
    None
}

/// A line without white space at its end. Of an item of a list that is all code, the code.
fn unlisted(line: &str) -> &str {
    let line = line.trim_end();
    LISTED
        .captures(line)
        .and_then(|found| found.get(1))
        .map_or(line, |code| code.as_str())
}

/// The longest program at the beginning of a text, and its length in the text.
fn longest_program(text: &str) -> Option<(Snippet, usize)> {
    // A heading of several `#` is no comment.
    let heading = text.find("\n##").map_or(text.len(), |at| at + 1);
    let lines: Vec<&str> = text[..heading].split_inclusive('\n').take(LOOSE).collect();
    // Ticks were meant as a fence.
    let bare: Vec<&str> = lines
        .iter()
        .map(|line| unlisted(line).trim_matches('`'))
        .collect();
    for count in (1..=lines.len()).rev() {
        if bare[count - 1].is_empty() {
            continue;
        }
        let length = lines[..count].iter().map(|line| line.len()).sum();
        let code = dedented(&bare[..count].join("\n"));
        if let Ok(program) = Program::parse(code.as_str())
            && python::does_something(&program)
            && program.body().last().is_some_and(python::is_code)
        {
            let text = format!("{}\n", code.trim_matches('\n'));
            return Some((Snippet { text, parses: true }, length));
        }
    }
    None
}

/// Whether a text shows a traceback or a crash.
pub(super) fn shows_failure(text: &str) -> bool {
    text.contains("Traceback (most recent call last)")
        || ERROR_LINE.is_match(text)
        || crash(text).is_some()
}

fn classify(language: &str, text: &str) -> Vec<BlockKind> {
    let text = plain(text);
    let language = Language::of(language);
    let is_python = language == Some(Language::Python);
    if text.trim().is_empty() {
        return Vec::new();
    }
    if is_environment(&text) {
        return vec![BlockKind::Environment(text)];
    }
    if language == Some(Language::Traceback) && Program::parse(text.as_str()).is_err() {
        return vec![BlockKind::Log(text)];
    }
    if language == Some(Language::Foreign) {
        return vec![log_or_other(text)];
    }
    // Values in a message may look like prompts.
    if log_begins(&text) == Some(0) {
        return vec![BlockKind::Log(text)];
    }
    if let Some(code) = prompted(&text) {
        let mut kinds: Vec<BlockKind> = code_of(&code.code, true).into_iter().collect();
        if shows_failure(&code.output) {
            kinds.push(BlockKind::Log(code.output));
        }
        return kinds;
    }
    if let Some(code) = from_shell(&text) {
        let output = shows_failure(&text).then_some(BlockKind::Log(text));
        return code_of(&code, true).into_iter().chain(output).collect();
    }
    let first_line = text.lines().next().unwrap_or_default();
    if SHELL.is_match(first_line) || language == Some(Language::Shell) {
        return vec![log_or_other(text)];
    }
    // A script followed by its output.
    if let Some(at) = log_begins(&text).or_else(|| output_begins(&text)) {
        let (code, log) = text.split_at(at);
        return match code_of(code, is_python) {
            Some(code) => vec![code, log_or_other(log.to_owned())],
            None => vec![BlockKind::Log(text)],
        };
    }
    let code = code_of(&text, is_python && !ERROR_LINE.is_match(&text))
        .filter(|kind| !is_broken(kind) || crash(&text).is_none());
    vec![code.unwrap_or_else(|| log_or_other(text))]
}

fn is_broken(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Python(Snippet { parses: false, .. }))
}

fn log_or_other(text: String) -> BlockKind {
    if shows_failure(&text) {
        BlockKind::Log(text)
    } else {
        BlockKind::Other(text)
    }
}

fn is_environment(text: &str) -> bool {
    text.contains("Collecting environment information")
        || (text.contains("PyTorch version:")
            && (text.contains("Is debug build:") || text.contains("OS:")))
}

/// Where a log begins in a text: at a traceback, or at the line of dashes that notebooks print
/// above one.
fn log_begins(text: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start_matches(['[', ' ']);
        let begins = line.starts_with("Traceback (most recent call last)")
            || line.contains("─ Traceback (most recent")
            || (trimmed.starts_with("rank") && line.contains("Traceback (most recent"))
            || (line.starts_with("-----") && line.trim().chars().all(|char| char == '-'))
            || (line.contains("Traceback (most recent call last)")
                && !line.trim_start().starts_with(['#', '"', '\'']));
        if begins && text[offset..].contains("Traceback") {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

/// Where the output of a script begins below it: after the longest program, at lines none of which
/// looks like code.
fn output_begins(text: &str) -> Option<usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_code = |line: &&str| CODE_LINE.is_match(line) && !VALUE_LINE.is_match(line);
    let is_output = |line: &&str| !line.trim().is_empty() && !is_code(line);
    // Only text at the end, without a gap of code, can be output.
    let first = lines.iter().rposition(is_code).map_or(0, |at| at + 1);
    for count in first.max(1)..lines.len() {
        let at = lines[..count].iter().map(|line| line.len()).sum();
        if !lines[count..].iter().any(is_output) || lines[count].starts_with([' ', '\t', '#']) {
            continue;
        }
        if let Ok(program) = Program::parse(dedented(&text[..at]))
            && python::is_program(&program)
            && python::does_something(&program)
        {
            return Some(at);
        }
    }
    None
}

/// Code cleaned so that it parses. Broken code counts only if it is labelled as Python.
fn code_of(text: &str, is_labelled: bool) -> Option<BlockKind> {
    let text = dedented(text);
    let candidates = [text.clone(), without_magics(&text)];
    for candidate in &candidates {
        if candidate.trim().is_empty() {
            continue;
        }
        if let Ok(program) = Program::parse(candidate.as_str()) {
            let counts = if is_labelled {
                !program.body().is_empty()
            } else {
                python::is_program(&program)
            };
            let text = format!("{}\n", candidate.trim_matches('\n'));
            return counts.then_some(BlockKind::Python(Snippet { text, parses: true }));
        }
    }
    let is_meant = is_labelled
        || text
            .lines()
            .any(|line| line.starts_with("import torch") || line.starts_with("from torch"));
    (is_meant && !text.trim().is_empty()).then(|| {
        BlockKind::Python(Snippet {
            text: format!("{}\n", text.trim_matches('\n')),
            parses: false,
        })
    })
}

/// Input at prompts and the output in between.
struct Prompted {
    code: String,
    output: String,
}

/// Code after `>>>` or `In [1]:`.
fn prompted(text: &str) -> Option<Prompted> {
    let is_prompt = |line: &str| {
        line.trim_start().starts_with(">>> ") || line.trim() == ">>>" || IPYTHON.is_match(line)
    };
    if !text.lines().any(is_prompt) {
        return None;
    }
    let (mut code, mut output, mut is_within) = (String::new(), String::new(), false);
    let push = |target: &mut String, line: &str| {
        target.push_str(line);
        target.push('\n');
    };
    for line in text.lines() {
        let bare = line.trim_start();
        if let Some(rest) = bare.strip_prefix(">>>") {
            is_within = true;
            push(&mut code, rest.strip_prefix(' ').unwrap_or(rest));
        } else if let Some(found) = IPYTHON.captures(line) {
            is_within = true;
            push(&mut code, &found[1]);
        } else if let Some(found) = IPYTHON_MORE.captures(line).filter(|_| is_within) {
            push(&mut code, &found[1]);
        } else if is_within && (bare.starts_with("... ") || bare == "...") {
            push(&mut code, bare.strip_prefix("... ").unwrap_or(""));
        } else {
            is_within &= bare.is_empty();
            push(&mut output, line);
        }
    }
    Some(Prompted { code, output })
}

/// Python within shell code: a here-document that is run or saved, or the argument of `-c`.
fn from_shell(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let names_python = line.contains("python") || line.contains(".py");
        if names_python && let Some(found) = HEREDOC.captures(line) {
            let end = lines[at + 1..]
                .iter()
                .position(|line| line.trim() == &found[1])?;
            return Some(lines[at + 1..at + 1 + end].join("\n"));
        }
        if names_python && line.contains(" -c ") {
            let command = lines[at..].join("\n");
            let words = shlex::split(command.trim_start().trim_start_matches("$ "))?;
            let behind = words.iter().position(|word| word == "-c")?;
            return words.get(behind + 1).cloned();
        }
    }
    None
}

/// Lines without their common margin.
fn dedented(text: &str) -> String {
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    unindented(text, filled.map(margin).min().unwrap_or(0))
}

/// Without the commands of notebooks: `%timeit`, `!pip install`, `%%time`.
fn without_magics(text: &str) -> String {
    let is_magic = |line: &str| {
        let line = line.trim_start();
        line.starts_with('!')
            || line.strip_prefix('%').is_some_and(|rest| {
                rest.starts_with(|char: char| char.is_alphabetic() || char == '%')
            })
    };
    text.lines()
        .filter(|line| !is_magic(line))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Vec<String> {
        let shown = |kind: BlockKind| match kind {
            BlockKind::Python(Snippet { text, parses: true }) => format!("python {text:?}"),
            BlockKind::Python(Snippet { text, .. }) => format!("broken {text:?}"),
            BlockKind::Log(text) => format!("log {}", text.lines().last().unwrap_or_default()),
            BlockKind::Environment(_) => "environment".to_owned(),
            BlockKind::Prose(_) => "prose".to_owned(),
            BlockKind::Image => "image".to_owned(),
            BlockKind::Elsewhere(_) => "elsewhere".to_owned(),
            BlockKind::Other(_) => "other".to_owned(),
        };
        blocks(body)
            .into_iter()
            .map(|block| shown(block.kind))
            .collect()
    }

    #[test]
    fn blocks_are_known_by_their_content() {
        for (body, expected) in [
            (
                "```\nimport torch\ntorch.ones(3)\n```",
                vec![r#"python "import torch\ntorch.ones(3)\n""#],
            ),
            ("```\ntensor([1., 2.])\n```", vec!["other"]),
            ("```\nTrue\n```", vec!["other"]),
            (
                "```python\nTraceback (most recent call last):\n  File \"x\", line 1, in f\nKeyError: 1\n```",
                vec!["log KeyError: 1"],
            ),
            (
                "```python\nf()\nTraceback (most recent call last):\n  File \"x\", line 1, in f\nKeyError: 1\n```",
                vec![r#"python "f()\n""#, "log KeyError: 1"],
            ),
            ("```\nRuntimeError: no\n```", vec!["log RuntimeError: no"]),
            (
                "```\nSegmentation fault (core dumped)\n```",
                vec!["log Segmentation fault (core dumped)"],
            ),
            (
                "```\n>>> import torch\n>>> for i in x:\n...     f(i)\n...\n3\n>>> g()\n```",
                vec![r#"python "import torch\nfor i in x:\n    f(i)\n\ng()\n""#],
            ),
            (
                "```\nIn [1]: import torch\n\nIn [2]: def f():\n   ...:     g()\n   ...: \n\nOut[2]: 5\n```",
                vec![r#"python "import torch\ndef f():\n    g()\n""#],
            ),
            (
                "```python\n%matplotlib inline\n!pip install x\nf()\n```",
                vec![r#"python "f()\n""#],
            ),
            (
                "```bash\n$ python -c \"import torch; torch.f()\"\n```",
                vec![r#"python "import torch; torch.f()\n""#],
            ),
            (
                "```sh\ncat > x.py <<'EOF'\nimport torch\nf()\nEOF\npython x.py\n```",
                vec![r#"python "import torch\nf()\n""#],
            ),
            ("```bash\npip install torch\n```", vec!["other"]),
            ("```diff\n- a\n+ b\n```", vec!["other"]),
            ("```python\nf(\n```", vec![r#"broken "f(\n""#]),
            (
                "```\nCollecting environment information...\nPyTorch version: 2.1\n```",
                vec!["environment"],
            ),
            (
                "```py\n    a = 1\n    f(a)\n```",
                vec![r#"python "a = 1\nf(a)\n""#],
            ),
        ] {
            assert_eq!(shown(body), expected, "{body}");
        }
    }
}
