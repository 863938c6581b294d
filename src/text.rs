//! Small tools for texts that several rooms need. Knows nothing of scripts, runs or issues.

/// A regular expression under a name, compiled on its first use.
macro_rules! pattern {
    ($name:ident, $regex:expr $(,)?) => {
        static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            regex::Regex::new($regex).expect("the pattern is well-formed")
        });
    };
}

pub(crate) use pattern;
