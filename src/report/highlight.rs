//! The kind of each part of a program's text, for colours on the terminal and on the page.

use anstyle::{AnsiColor, Style};
use minrepro_reducers::syntax::{Program, Ranged, TokenKind};

/// The kind of a part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shade {
    Plain,
    Keyword,
    Text,
    Number,
    Comment,
}

impl Shade {
    /// Its style on a terminal.
    pub(super) fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Keyword => AnsiColor::Magenta.on_default(),
            Self::Text => AnsiColor::Green.on_default(),
            Self::Number => AnsiColor::Cyan.on_default(),
            Self::Comment => Style::new().dimmed(),
        }
    }

    /// Its class on the page.
    pub(super) fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Keyword => Some("k"),
            Self::Text => Some("s"),
            Self::Number => Some("n"),
            Self::Comment => Some("c"),
        }
    }
}

/// The parts of a text in order, all of it; one plain part if it does not parse.
pub(super) fn parts(text: &str) -> Vec<(Shade, &str)> {
    let Ok(program) = Program::parse(text) else {
        return vec![(Shade::Plain, text)];
    };
    let mut parts = Vec::new();
    let mut end = 0;
    for token in program.tokens() {
        let part = part(token.kind());
        let range = token.range();
        let (start, stop) = (usize::from(range.start()), usize::from(range.end()));
        if part == Shade::Plain || start < end || stop <= start {
            continue;
        }
        if end < start {
            parts.push((Shade::Plain, &text[end..start]));
        }
        parts.push((part, &text[start..stop]));
        end = stop;
    }
    if end < text.len() {
        parts.push((Shade::Plain, &text[end..]));
    }
    parts
}

fn part(kind: TokenKind) -> Shade {
    match kind {
        TokenKind::Comment => Shade::Comment,
        TokenKind::Int | TokenKind::Float | TokenKind::Complex => Shade::Number,
        TokenKind::String
        | TokenKind::FStringStart
        | TokenKind::FStringMiddle
        | TokenKind::FStringEnd
        | TokenKind::TStringStart
        | TokenKind::TStringMiddle
        | TokenKind::TStringEnd => Shade::Text,
        kind if kind.is_keyword() => Shade::Keyword,
        _ => Shade::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_there_once() {
        let text = "import a  # b\nx = f'{1}é' + \"s\"\n";
        let found = parts(text);
        let whole: String = found.iter().map(|(_, part)| *part).collect();
        assert_eq!(whole, text);
        let of = |kind| -> Vec<&str> {
            let parts = found.iter().filter(|(part, _)| *part == kind);
            parts.map(|(_, text)| *text).collect()
        };
        assert_eq!(of(Shade::Keyword), ["import"]);
        assert_eq!(of(Shade::Comment), ["# b"]);
        assert_eq!(of(Shade::Number), ["1"]);
        assert_eq!(of(Shade::Text), ["f'", "é", "'", "\"s\""]);
        assert_eq!(parts("x = ("), [(Shade::Plain, "x = (")]);
    }
}
