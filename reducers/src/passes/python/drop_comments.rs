use crate::syntax::TokenKind;

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{Ranged, TextRange, TextSize},
};

pass! {
    /// Removes comments.
    ///
    /// ```python before
    /// # Sets up the model.
    /// x = 1  # the seed
    /// ```
    /// ```python after
    /// x = 1
    /// ```
    pub(crate) static DROP_COMMENTS = Pass { stage: Stage::Clutter, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let text = cx.program.text();
    let comments = cx
        .program
        .tokens()
        .iter()
        .filter(|token| token.kind() == TokenKind::Comment);
    for comment in comments.rev() {
        let before = &text[..usize::from(comment.start())];
        let code_end = before.trim_end_matches([' ', '\t', '\x0c']).len();
        let alone = code_end == 0 || before[..code_end].ends_with(['\n', '\r']);
        let range = if alone {
            let line_break = &text[usize::from(comment.end())..];
            let length = if line_break.starts_with("\r\n") {
                2
            } else {
                usize::from(!line_break.is_empty())
            };
            TextRange::new(
                TextSize::new(code_end as u32),
                TextSize::new((usize::from(comment.end()) + length) as u32),
            )
        } else {
            TextRange::new(TextSize::new(code_end as u32), comment.end())
        };
        out.propose(EditSet::one(Edit::delete(range)), Prior::Certain, "comment");
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_COMMENTS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn each_comment_is_an_attempt_of_its_own() {
        check_edits(
            &DROP_COMMENTS,
            "# a\nx = 1  # b\n",
            &["# a\nx = 1\n", "x = 1  # b\n"],
        );
    }

    #[test]
    fn lines_of_comments_go_wherever_they_stand() {
        check_all(
            &DROP_COMMENTS,
            "#!/usr/bin/env python\r\nif x:\r\n    # why\r\n    f(  # open\r\n        # inside\r\n        1)\r\n# end",
            "if x:\r\n    f(\r\n        1)\r\n",
        );
    }

    #[test]
    fn a_hash_in_a_string_is_no_comment() {
        check_none(&DROP_COMMENTS, "x = '# no'\n");
    }
}
