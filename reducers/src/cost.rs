//! What "simpler" means: a total order on programs. Every commit must lower it, which proves that
//! reduction ends. Called by the engine.

use std::collections::HashSet;

use crate::syntax::TokenKind;
use serde::{Deserialize, Serialize};

use crate::{
    syntax::{
        AnyNodeRef, Program, Ranged, TextSize, Tree,
        ast::{Expr, Stmt},
    },
    torch::{
        environment::{Environment, environment},
        names as torch,
    },
};

/// The cost of a program; the smaller of two is the simpler.
///
/// Compared field by field: what it asks of its environment first, then weight; of two programs
/// that weigh the same the one of the plainer data types, then the one of fewer bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// Where it has to run. A repro for the CPU alone, or for less of a compiler, is worth more
    /// text.
    pub environment: Environment,
    /// Tokens, and the size of literals, in sixteenths of a token: a string adds one for each byte,
    /// a number one for each bit of its magnitude. Comments, docstrings and layout weigh nothing.
    pub weight: u64,
    /// How often it names a data type of PyTorch other than the default ones.
    pub types: u64,
    /// Bytes of the text.
    pub bytes: u64,
}

const TOKEN: u64 = 16;

impl Cost {
    /// The cost of a program.
    pub fn of(program: &Program) -> Self {
        let tree = program.tree();
        let docstrings = docstrings(program, &tree);
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
            environment: environment(program, &tree),
            weight,
            types: torch::rare_types(program, &tree).len() as u64,
            bytes: program.text().len() as u64,
        }
    }
}

/// How many tokens a piece of a program is, or somewhat more: words and marks.
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

/// Where docstrings start.
#[derive(Default)]
struct Docstrings {
    /// Those that could go without anything in their place.
    spare: HashSet<TextSize>,
    /// Those that are all of a body: `pass` would have to stand there, so they weigh as much.
    alone: HashSet<TextSize>,
}

fn docstrings(program: &Program, tree: &Tree<'_>) -> Docstrings {
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
    visit(program.body(), true);
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
            Environment::default()
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
