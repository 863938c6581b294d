use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{Ranged, TextRange, TextSize, TokenKind},
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
    let program = cx.program;
    let tokens = program.tokens();
    for (at, comment) in tokens.iter().enumerate().rev() {
        if comment.kind() != TokenKind::Comment {
            continue;
        }
        let range = match program.logical_start(comment.start()) {
            // A comment that has its line to itself goes with the line's end.
            Some(start) => {
                let line_end = tokens[at + 1..]
                    .first()
                    .filter(|token| token.kind() == TokenKind::NonLogicalNewline);
                TextRange::new(start, line_end.map_or(comment.end(), Ranged::end))
            }
            None => {
                let before = &program.text()[..usize::from(comment.start())];
                let code_end = before.trim_end_matches([' ', '\t', '\x0c']).len();
                TextRange::new(TextSize::new(code_end as u32), comment.end())
            }
        };
        let edits = EditSet::one(Edit::delete(range));
        // Without the comment that names it, bytes of an encoding would mean something else.
        let names_none = program.line_of(comment.start()) > 2;
        if names_none
            || edits
                .apply(program)
                .is_ok_and(|text| program.keeps_encoding(&text))
        {
            out.propose(edits, Prior::Certain, "comment");
        }
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
    fn a_comment_that_names_the_encoding_of_what_follows_stays() {
        check_none(&DROP_COMMENTS, "# coding: latin-1\nx = 'é'\n");
        check_all(&DROP_COMMENTS, "# coding: latin-1\nx = 1\n", "x = 1\n");
    }

    #[test]
    fn a_hash_in_a_string_is_no_comment() {
        check_none(&DROP_COMMENTS, "x = '# no'\n");
    }
}
