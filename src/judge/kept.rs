//! The parts of the script that the user wants to keep, whether the bug needs them or not. Pure.
//! The commands read it from the arguments, and the judge applies it.

use minrepro_reducers::syntax::Program;
use regex::Regex;

/// A part of the script that every candidate must hold.
#[derive(Clone, Debug)]
pub enum Kept {
    /// This name, in code.
    Name(String),
    /// A line with this text, its indentation aside.
    Line(String),
    /// A match of this regular expression.
    Regex(Regex),
}

impl Kept {
    /// Reads `NAME`, `LINE` or `/REGEX/` as the user typed it.
    ///
    /// # Errors
    ///
    /// Why the script does not have it, or why it is not a valid value.
    pub fn read(typed: &str, script: &Program) -> Result<Self, String> {
        let regex = typed
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        let kept = if let Some(regex) = regex {
            Self::Regex(Regex::new(regex).map_err(|error| error.to_string())?)
        } else if let Ok(number) = typed.parse::<usize>() {
            let line = number
                .checked_sub(1)
                .and_then(|at| script.text().lines().nth(at));
            let line = line.map(str::trim).filter(|line| !line.is_empty());
            Self::Line(
                line.ok_or("the script has no text on this line")?
                    .to_owned(),
            )
        } else {
            Self::Name(typed.to_owned())
        };
        if kept.is_in(script) {
            Ok(kept)
        } else {
            Err("the script does not hold it".to_owned())
        }
    }

    /// Whether a program still holds it.
    pub fn is_in(&self, program: &Program) -> bool {
        match self {
            Self::Name(name) => program.has_name(name),
            Self::Line(text) => program.text().lines().any(|line| line.trim() == text),
            Self::Regex(regex) => regex.is_match(program.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lines_and_matches_are_kept() {
        let program = |text: &str| Program::parse(text).unwrap();
        let script = program("# f\nif x:\n    y = f(1)\n");
        for (typed, text, expected) in [
            ("y", "y = 2\n", true),
            ("y", "z = 2  # y\n", false),
            ("f", "print('f')\n", false),
            ("3", "y = f(1)\n", true),
            ("3", "y = f(2)\n", false),
            ("/f\\(\\d/", "g = f(7)\n", true),
            ("/f\\(\\d/", "g = f(x)\n", false),
        ] {
            let kept = Kept::read(typed, &script).unwrap();
            assert_eq!(kept.is_in(&program(text)), expected, "{typed} in {text}");
        }
        for typed in ["g", "0", "9", "/(/", "/g/", ""] {
            assert!(Kept::read(typed, &script).is_err(), "{typed}");
        }
    }
}
