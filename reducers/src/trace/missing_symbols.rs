//! Names and lines that candidates turned out to miss, learned from how they failed. Filled by the
//! engine, read by the slicer and by passes.

use std::collections::BTreeSet;

/// Names and lines that slices turned out to miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingSymbols {
    /// Names that failures asked for: of attributes, keys, variables.
    pub words: BTreeSet<String>,
    /// Lines of the traced program that failed differently in a candidate, as texts without
    /// indentation.
    pub lines: BTreeSet<String>,
}

impl MissingSymbols {
    /// Learns from a failure other than the bug, of a candidate for a program with this text: from
    /// its message, and from the line that failed. Returns whether that was new.
    pub fn learn(&mut self, text: &str, class: &str, message: &str, line: Option<&str>) -> bool {
        let is_naming = matches!(
            class.rsplit('.').next(),
            Some(
                "AttributeError"
                    | "KeyError"
                    | "NameError"
                    | "UnboundLocalError"
                    | "ImportError"
                    | "TypeError"
            )
        );
        let mut quoted = message.split('\'').skip(1).step_by(2).filter(|_| is_naming);
        let is_name = |word: &&str| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|char| char.is_alphanumeric() || char == '_')
        };
        // Where an object lacks an attribute, the attribute is missing, not the object's class.
        let named = if class.ends_with("AttributeError") {
            // Enumerations name nothing else.
            quoted
                .filter(is_name)
                .last()
                .or_else(|| Some(message).filter(is_name))
        } else {
            quoted.find(is_name)
        };
        // Prose has no such words; they often name a function that has to be called first.
        let is_plain = |word: &&str| word.trim_matches('_').contains('_') && text.contains(word);
        let spoken = message
            .split(|char: char| !(char.is_alphanumeric() || char == '_'))
            .filter(is_plain);
        let mut word = false;
        for named in named.into_iter().chain(spoken) {
            word |= self.words.insert(named.to_owned());
        }
        let line = line.is_some_and(|line| self.lines.insert(line.trim().to_owned()));
        word || line
    }
}

#[cfg(test)]
mod tests {
    use super::MissingSymbols;

    #[test]
    fn failures_name_what_is_missing() {
        let of = |class: &str, message: &str| {
            let mut missing = MissingSymbols::default();
            let text = "if group is None: init_group()";
            let is_news = missing.learn(text, class, message, None);
            assert_eq!(is_news, !missing.words.is_empty());
            assert!(!missing.learn(text, class, message, None), "that is known");
            missing.words.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(
            of("AttributeError", "'Model' object has no attribute 'head'"),
            ["head"]
        );
        assert_eq!(of("AttributeError", "RED"), ["RED"]);
        assert_eq!(of("NameError", "name 'x' is not defined"), ["x"]);
        assert_eq!(
            of(
                "ValueError",
                "No group, please call `dist.init_group` first"
            ),
            ["init_group"]
        );
        assert_eq!(
            of("ValueError", "no such file: /tmp/made_up"),
            Vec::<String>::new()
        );
        assert_eq!(of("ValueError", "'x' is no number"), Vec::<String>::new());
    }
}
