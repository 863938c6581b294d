//! The cost of a program: a total order that says which of two programs is simpler. Called by the
//! engine and by passes.
//!
//! Every commit of the engine must lower the cost, which proves that reduction ends. Five figures
//! are compared one after the other:
//!
//! 1. The rank of the environment. Whoever gets a repro must first run it. A program that needs no
//!    packages besides PyTorch, neither several processes nor an accelerator nor a compiler, is
//!    worth more text, and the remaining rank names the component with the bug.
//! 2. The weight: tokens, plus a sixteenth of a token for each bit of a number and each byte of a
//!    string. Tokens measure what a reader has to take in, whatever the layout. Literals weigh a
//!    little, so that 768 to 4 is progress, but so little that no token is ever added to shorten one
//!    by a few digits. Comments, docstrings and layout weigh nothing: moving or keeping them must
//!    never decide between two programs.
//! 3. Rare data types. Replacing one changes no token, and the default needs less explanation.
//! 4. Characters beyond the width of a line that is easy to read.
//! 5. Bytes, so that removing a comment or a space is progress, too.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{
    syntax::{
        AnyNodeRef, Program, Ranged, TextSize, TokenKind, Tree,
        ast::{Expr, Stmt},
    },
    torch::{environment::EnvironmentRank, library_imports::LibraryImports},
};

/// The cost of a program, compared field by field; the smaller of two is the simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// The environment that it needs.
    pub environment: EnvironmentRank,
    /// Tokens and literals, in sixteenths of a token: a string adds one for each byte, a number one
    /// for each bit of its magnitude. Comments, docstrings and layout weigh nothing.
    pub weight: u64,
    /// The number of mentions of data types other than the library's default ones.
    pub types: u64,
    /// Characters beyond 88 in lines that are longer than that.
    pub overhang: u64,
    /// Bytes of the text.
    pub bytes: u64,
}

/// The weight of a token. A number of up to four digits, or a string of up to 16 bytes, weighs at
/// most one token more.
const TOKEN: u64 = 16;

impl Cost {
    /// The cost of a program.
    pub fn of(program: &Program) -> Self {
        Self::of_part(program, &LibraryImports::of(program), true)
    }

    /// What a part of a program adds to its cost, given what the program imports and whether the
    /// part is its beginning. All but the environment adds up.
    pub(crate) fn of_part(program: &Program, imports: &LibraryImports<'_>, is_start: bool) -> Self {
        let tree = program.tree();
        let docstrings = docstrings(program, tree, is_start);
        let weight = program
            .tokens()
            .iter()
            .map(|token| match token.kind() {
                TokenKind::String if docstrings.alone.contains(&token.start()) => TOKEN,
                TokenKind::String if docstrings.spare.contains(&token.start()) => 0,
                TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle => {
                    TOKEN * u64::from(program.weight_in_tokens(*token))
                        + u64::from(u32::from(token.range().len()))
                }
                TokenKind::Int | TokenKind::Float | TokenKind::Complex => {
                    TOKEN + bits(program.slice(token.range()))
                }
                _ => TOKEN * u64::from(program.weight_in_tokens(*token)),
            })
            .sum();
        Self {
            environment: imports.environment(tree),
            weight,
            types: imports.count_rare_types(tree) as u64,
            overhang: program.overhang() as u64,
            bytes: program.text().len() as u64,
        }
    }
}

/// How many tokens a piece of a program has, or a few more: its words and its marks.
pub fn tokens_of(text: &str) -> u64 {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut count = 0;
    let mut previous = ' ';
    for char in text.chars() {
        let goes_on = char.is_whitespace() || (is_word(char) && is_word(previous));
        count += u64::from(!goes_on);
        previous = char;
    }
    count
}

/// The places where docstrings start.
#[derive(Default)]
struct Docstrings {
    /// Those that can be removed without a replacement.
    spare: HashSet<TextSize>,
    /// Those that are the whole body: `pass` would have to replace them, so they weigh the same.
    alone: HashSet<TextSize>,
}

fn docstrings(program: &Program, tree: &Tree<'_>, is_start: bool) -> Docstrings {
    let mut found = Docstrings::default();
    let mut visit = |body: &[Stmt], may_be_empty: bool| {
        if let Some(Stmt::Expr(stmt)) = body.first()
            && let Expr::StringLiteral(text) = &*stmt.value
        {
            let spare = may_be_empty || body.len() > 1;
            let starts = if spare {
                &mut found.spare
            } else {
                &mut found.alone
            };
            starts.extend(text.value.iter().map(Ranged::start));
        }
    };
    if is_start {
        visit(program.body(), true);
    }
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtFunctionDef(def) => visit(&def.body, false),
            AnyNodeRef::StmtClassDef(def) => visit(&def.body, false),
            _ => {}
        }
    }
    found
}

/// About how many bits a number's digits need: exact for small integers, the length in bits for
/// others.
fn bits(number: &str) -> u64 {
    let digits = number.replace('_', "");
    if let Ok(value) = digits.parse::<u64>() {
        return u64::from(u64::BITS - value.leading_zeros());
    }
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return 4 * hex.len() as u64;
    }
    match digits.parse::<f64>() {
        // One more than an integer of that magnitude, so that 1.0 is simpler as 1; every further
        // digit counts.
        Ok(value) if value.is_finite() => {
            (value.abs() + 1.0).log2().ceil() as u64 + 3 * digits.len().saturating_sub(2) as u64 + 1
        }
        _ => 4 * digits.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> Cost {
        Cost::of(&Program::parse(text).unwrap())
    }

    #[track_caller]
    fn check_simpler(simpler: &str, than: &str) {
        assert!(
            cost(simpler) < cost(than),
            "{:?} {:?}",
            cost(simpler),
            cost(than)
        );
    }

    #[test]
    fn fewer_tokens_and_smaller_literals_are_simpler() {
        check_simpler("f(a)\n", "f(a, b)\n");
        check_simpler("f(4)\n", "f(768)\n");
        check_simpler("f(0)\n", "f(1)\n");
        check_simpler("f(1)\n", "f(1.0)\n");
        check_simpler("f('a')\n", "f('ab')\n");
        check_simpler("f('')\n", "f(f'{x}')\n");
    }

    #[test]
    fn the_environment_comes_first() {
        check_simpler(
            "import torch\ntorch.compile(f, backend='eager')\n",
            "import torch\ntorch.compile(f)\n",
        );
        check_simpler(
            "import torch\nf = torch.compile(f, backend='aot_eager')\n",
            "import torch\nf = torch.compile(f, backend=g)\n",
        );
        check_simpler(
            "import torch\nx = torch.ones(2, 2)\n",
            "import torch\nx = y.cuda()\n",
        );
        check_simpler(
            "import torch\nx.to('cpu')\ny.to('cpu')\n",
            "import torch\nx.to('mps')\n",
        );
        check_simpler(
            "import torch\nf(DDP, DDP, 1)\n",
            "from torch.distributed import a\nf(a)\n",
        );
        check_simpler(
            "import torch\nf(torch.float32)\n",
            "import torch\nf(torch.half)\n",
        );
        assert_eq!(
            cost("x.cuda()\ntorch.compile(f)\n").environment,
            EnvironmentRank::default()
        );
    }

    #[test]
    fn comments_and_docstrings_weigh_only_their_bytes() {
        let plain = cost("def f():\n    return 1\n");
        let noisy = cost("'module'\ndef f():\n    'doc'\n    # why\n    return 1\n");
        assert_eq!(plain.weight, noisy.weight);
        assert!(plain < noisy);
        check_simpler("def f(): pass\n", "def f():\n    'doc'\n");
    }
}
