use std::collections::BTreeMap;

use crate::{
    analysis::{assignments::values_of, calls::formatted_strings},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::put,
        edit::{Edit, EditSet},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, ExprCall, ExprContext, ExprList},
    },
};

pass! {
    /// Replaces an option of the command line with its default.
    ///
    /// ```python before
    /// parser.add_argument("--epochs", type=int, default=3)
    /// args = parser.parse_args()
    /// train(args.epochs)
    /// ```
    /// ```python after
    /// parser.add_argument("--epochs", type=int, default=3)
    /// args = parser.parse_args()
    /// train(3)
    /// ```
    pub(crate) static INLINE_OPTIONS = Pass { stage: Stage::Shape, propose };
}

/// What an option is if nobody gives it.
enum Default<'a> {
    Written(&'a Expr),
    /// What its action says.
    Implied(&'static str),
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let strings = formatted_strings(cx.program.tree());
    let mut reads = reads(cx.program);
    for (name, default) in defaults(cx.program) {
        let Some(places) = reads.remove(name.as_str()) else {
            continue;
        };
        let mut edits = EditSet::default();
        let fits = match default {
            Default::Written(value) => put(cx.program, &strings, value, places, &mut edits),
            Default::Implied(text) => {
                for place in places {
                    edits.edit(Edit::replace(place, text.to_owned()));
                }
                Some(())
            }
        };
        if fits.is_some() {
            let what = format!("option `{name}` replaced with its default");
            out.propose(edits, Prior::Even, what);
        }
    }
}

/// The options that a program declares, by the names of their attributes.
fn defaults(program: &Program) -> BTreeMap<String, Default<'_>> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let declared = calls.filter(|call| is_method(call, "add_argument"));
    declared.filter_map(|call| option(call)).collect()
}

/// The name of the attribute that a declaration makes, and its default.
fn option(call: &ExprCall) -> Option<(String, Default<'_>)> {
    let text = |expr: &Expr| Some(expr.as_string_literal_expr()?.value.to_str().to_owned());
    let keyword = |name: &str| {
        let keyword = call.arguments.find_keyword(name);
        keyword.map(|keyword| &keyword.value)
    };
    let flags = call.arguments.args.iter().filter_map(text);
    let flags: Vec<String> = flags.filter(|flag| flag.starts_with('-')).collect();
    let long = flags.iter().find(|flag| flag.starts_with("--"));
    let flag = long.or(flags.first())?;
    let implied = flag.trim_start_matches('-').replace('-', "_");
    let name = keyword("dest").map_or(Some(implied), text)?;
    let default = match (keyword("default"), keyword("action").and_then(text)) {
        // A text that is converted becomes something else.
        (Some(value), _) if value.is_string_literal_expr() && keyword("type").is_some() => {
            return None;
        }
        (Some(value), _) => Default::Written(value),
        (None, action) => Default::Implied(match action.as_deref() {
            Some("store_true") => "False",
            Some("store_false") => "True",
            _ => "None",
        }),
    };
    let is_plain = match &default {
        Default::Written(Expr::UnaryOp(signed)) => signed.operand.is_number_literal_expr(),
        Default::Written(value) => value.is_literal_expr(),
        Default::Implied(_) => true,
    };
    is_plain.then_some((name, default))
}

/// The reads of attributes of variables that hold what nobody gave on the command line, by name.
fn reads(program: &Program) -> BTreeMap<&str, Vec<TextRange>> {
    let is_parsed = |value: &&Expr| {
        let call = value.as_call_expr();
        call.is_some_and(|call| {
            let mut arguments = call.arguments.args.iter();
            let is_bare =
                arguments.all(|given| given.as_list_expr().is_some_and(ExprList::is_empty));
            is_method(call, "parse_args") && is_bare && call.arguments.keywords.is_empty()
        })
    };
    let parsed = program.scopes().variables.iter().filter(|variable| {
        let values = values_of(program, variable);
        values.is_some_and(|values| values.iter().all(is_parsed))
    });
    let uses: Vec<TextRange> = parsed
        .flat_map(|variable| variable.uses.iter().map(|used| used.range))
        .collect();
    let mut found: BTreeMap<&str, Vec<TextRange>> = BTreeMap::new();
    let mut set = Vec::new();
    let nodes = program.tree().nodes.iter();
    let attributes = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprAttribute(attribute) => Some(attribute),
        _ => None,
    });
    for attribute in attributes {
        let name = attribute.attr.as_str();
        if attribute.ctx != ExprContext::Load {
            set.push(name);
        } else if uses.contains(&attribute.value.range()) {
            found.entry(name).or_default().push(attribute.range);
        }
    }
    found.retain(|name, _| !set.contains(name));
    found
}

/// Whether a call is one of a method of a name.
fn is_method(call: &ExprCall, name: &str) -> bool {
    let method = call.func.as_attribute_expr();
    method.is_some_and(|method| method.attr.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::INLINE_OPTIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn options_become_their_defaults() {
        check_edits(
            &INLINE_OPTIONS,
            "p.add_argument('-n', '--no-log', dest='quiet', action='store_true')\np.add_argument('--max-size', default=-1)\np.add_argument('-x')\na = p.parse_args([])\nf(a.quiet, a.max_size, a.x)\n",
            &[
                "p.add_argument('-n', '--no-log', dest='quiet', action='store_true')\np.add_argument('--max-size', default=-1)\np.add_argument('-x')\na = p.parse_args([])\nf(a.quiet, -1, a.x)\n",
                "p.add_argument('-n', '--no-log', dest='quiet', action='store_true')\np.add_argument('--max-size', default=-1)\np.add_argument('-x')\na = p.parse_args([])\nf(False, a.max_size, a.x)\n",
                "p.add_argument('-n', '--no-log', dest='quiet', action='store_true')\np.add_argument('--max-size', default=-1)\np.add_argument('-x')\na = p.parse_args([])\nf(a.quiet, a.max_size, None)\n",
            ],
        );
    }

    #[test]
    fn what_is_given_set_or_converted_stays() {
        check_none(
            &INLINE_OPTIONS,
            "p.add_argument('--n', type=int, default='1')\np.add_argument('--m', default=1)\np.add_argument('file')\na = p.parse_args()\na.m = 2\nf(a.n, a.m, a.file)\n",
        );
        check_none(
            &INLINE_OPTIONS,
            "p.add_argument('--n', default=1)\na = p.parse_args(['--n', '2'])\nf(a.n)\n",
        );
    }
}
