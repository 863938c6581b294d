//! Text for people in parts, each with its style. The text may come from a script or a run, so only
//! the styles given here become escape sequences; escape sequences in the text are shown as text.

use std::fmt;

use anstyle::Style;

use crate::text::visible;

/// A text in parts with styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted(Vec<(Style, String)>);

impl Painted {
    /// The same with a part in a style.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.push(style, text);
        self
    }

    /// The same with a part as it is.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(Style::new(), text)
    }

    /// Adds a part in a style.
    pub fn push(&mut self, style: Style, text: impl Into<String>) {
        self.0.push((style, text.into()));
    }

    /// Adds another text.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, text)| text.is_empty())
    }

    /// The text without its styles.
    pub fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// With escape sequences for the styles, which streams that know no colour strip.
impl fmt::Display for Painted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (style, text) in &self.0 {
            write!(formatter, "{style}{}{style:#}", visible(text))?;
        }
        Ok(())
    }
}

impl<T: Into<String>> From<T> for Painted {
    fn from(text: T) -> Self {
        Self::default().plain(text)
    }
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

    #[test]
    fn only_the_styles_given_become_escape_sequences() {
        let painted = Painted::from("a\x1b[8m").with(AnsiColor::Red.on_default(), "\u{9b}2J");
        assert_eq!(painted.to_string(), "a\\x1b[8m\x1b[31m\\u009b2J\x1b[0m");
    }
}
