//! Whether edits are worth proposing: their result must be a program, and a simpler one. Called by
//! passes that cannot tell beforehand.

pub(crate) use crate::cost::gains;
use crate::{
    cost::tokens_of,
    rewrite::edit::EditSet,
    syntax::{Program, TextRange, ast::comparable::ComparableStmt},
};

/// Whether edits that are known to make a program make a simpler one. Parses it only if the removed
/// and the added text weigh about the same.
pub(crate) fn lightens(program: &Program, edits: &EditSet) -> bool {
    let Ok(disjoint) = edits.resolve(program) else {
        return false;
    };
    let gone: u64 = disjoint
        .iter()
        .map(|edit| 16 * tokens_in(program, edit.range) + literals(program.slice(edit.range)))
        .sum();
    // A piece of a program is somewhat fewer tokens than its words and marks.
    let comes: u64 = disjoint
        .iter()
        .map(|edit| 16 * tokens_of(&edit.text) + literals(&edit.text))
        .sum();
    if gone > comes {
        return true;
    }
    gains(program, edits)
}

/// Whether edits change nothing but how the program is written.
pub(crate) fn means_the_same(program: &Program, edits: &EditSet) -> bool {
    let text = edits.apply(program).ok();
    let after = text.and_then(|text| program.sibling(text).ok());
    after.is_some_and(|after| {
        let (before, now) = (program.body(), after.body());
        before.len() == now.len()
            && before
                .iter()
                .zip(now)
                .all(|(one, other)| ComparableStmt::from(one) == ComparableStmt::from(other))
    })
}

/// The approximate weight of the literals of a text, in sixteenths of a token.
fn literals(text: &str) -> u64 {
    if text.contains(['\'', '"']) {
        return text.len() as u64;
    }
    4 * text.bytes().filter(u8::is_ascii_digit).count() as u64
}

fn tokens_in(program: &Program, range: TextRange) -> u64 {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    tokens
        .iter()
        .map(|token| u64::from(program.weight_in_tokens(*token)))
        .sum()
}
