//! Constants that a check shares with the rest of a program: an index that is also a setting, a
//! value that is stored and expected back. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        calls::{OF_NO_MATTER, callee_name},
        dependence_check::{ReportSite, only_reads},
        watch::nearest_operands,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Arguments, Expr, Operator},
    },
};

/// The place of a number, by the name of the indexed or called thing.
type NumberPlace = String;

/// Places of a check, each with the places elsewhere that have the same number.
pub type Ties = BTreeSet<(NumberPlace, NumberPlace)>;

/// The numbers of the nearest condition of a report and those of the rest, by their places.
struct NumbersByPlace {
    compared: BTreeMap<NumberPlace, BTreeSet<String>>,
    others: BTreeMap<NumberPlace, BTreeSet<String>>,
}

/// The places of a check whose number also stands elsewhere. Numbers that stand everywhere tie
/// nothing.
pub fn ties(program: &Program, report_site: &ReportSite) -> Ties {
    let NumbersByPlace { compared, others } = NumbersByPlace::of(program, report_site);
    let is_usual = |number: &&String| matches!(number.as_str(), "0" | "1");
    let mut found = Ties::new();
    for (place, numbers) in &compared {
        for (other, others) in &others {
            if numbers
                .intersection(others)
                .any(|number| !is_usual(&number))
            {
                found.insert((place.clone(), other.clone()));
            }
        }
    }
    found
}

/// Whether the places that a candidate still has have the same number still.
pub fn are_tied(known: &Ties, candidate: &Program, report_site: &ReportSite) -> bool {
    if known.is_empty() {
        return true;
    }
    let NumbersByPlace { compared, others } = NumbersByPlace::of(candidate, report_site);
    known.iter().all(|(place, other)| {
        let both = compared.get(place).zip(others.get(other));
        both.is_none_or(|(numbers, others)| !numbers.is_disjoint(others))
    })
}

/// Whether each text that a report expects, as it is written out, stands elsewhere as well: what comes
/// back was given before. None if it expects no text.
pub fn expects_known_texts(program: &Program, report_site: &ReportSite) -> Option<bool> {
    let written = nearest_operands(program, report_site)
        .into_iter()
        .filter(|operand| holds_constants_alone(program, *operand));
    let expected: Vec<(TextRange, &str)> =
        written.flat_map(|range| texts(program, range)).collect();
    let nodes = program.tree().nodes.iter();
    // What a report says is not given to anybody.
    let reports: Vec<TextRange> = nodes
        .filter_map(|node| match node.node {
            AnyNodeRef::StmtAssert(it) => it.msg.as_ref().map(|message| message.range()),
            AnyNodeRef::StmtRaise(it) => Some(it.range),
            AnyNodeRef::ExprCall(it) if callee_name(&it.func) == Some("print") => Some(it.range),
            _ => None,
        })
        .collect();
    let all = texts(program, TextRange::up_to(TextSize::of(program.text())));
    let given =
        all.filter(|(range, _)| !reports.iter().any(|report| report.contains_range(*range)));
    let given: Vec<(TextRange, &str)> = given.collect();
    let is_given = |(range, text): &(TextRange, &str)| {
        let mut others = given.iter().filter(|(other, _)| other != range);
        others.any(|(_, other)| other == text || text.len() > 1 && other.contains(text))
    };
    (!expected.is_empty()).then(|| expected.iter().all(is_given))
}

/// Two places with a text in common each, and the texts of the first that the second does not have.
pub type TextTies = BTreeSet<(NumberPlace, NumberPlace, BTreeSet<String>)>;

/// The places that have a text in common: what one part of a program asks for, another has given.
pub fn text_ties(program: &Program) -> TextTies {
    let texts = texts_by_place(program);
    let mut found = TextTies::new();
    for (place, its) in &texts {
        for (other, others) in texts.iter().filter(|(other, _)| *other != place) {
            if !its.is_disjoint(others) {
                found.insert((place.clone(), other.clone(), its - others));
            }
        }
    }
    found
}

/// Whether of two such places that are left in a candidate, the second has all texts of the first,
/// but for those that it never had.
pub fn go_on_sharing(known: &TextTies, candidate: &Program) -> bool {
    let texts = texts_by_place(candidate);
    known.iter().all(|(place, other, own)| {
        let both = texts.get(place).zip(texts.get(other));
        both.is_none_or(|(its, others)| {
            its.iter()
                .all(|text| own.contains(text) || others.contains(text))
        })
    })
}

/// The texts of indices, arguments and comparisons, but for what people read.
fn texts_by_place(program: &Program) -> BTreeMap<NumberPlace, BTreeSet<String>> {
    let mut found: BTreeMap<NumberPlace, BTreeSet<String>> = BTreeMap::new();
    for (place, value) in places(program) {
        let called = place.split('(').next().unwrap_or(&place);
        if OF_NO_MATTER.contains(&called) || only_reads(called) {
            continue;
        }
        if let Some(text) = value.as_string_literal_expr() {
            let text = text.value.to_str().to_owned();
            found.entry(place).or_default().insert(text);
        }
    }
    found
}

/// Whether a part of a program holds nothing but constants.
fn holds_constants_alone(program: &Program, part: TextRange) -> bool {
    let mut nodes = program.tree().within(part);
    nodes.all(|node| match node.as_expr_ref() {
        None => true,
        Some(expr) => {
            expr.is_literal_expr()
                || expr.is_list_expr()
                || expr.is_tuple_expr()
                || expr.is_set_expr()
                || expr.is_dict_expr()
        }
    })
}

/// The texts that a part of a program writes out.
fn texts(program: &Program, part: TextRange) -> impl Iterator<Item = (TextRange, &str)> {
    let nodes = program.tree().within(part);
    let texts = nodes.filter_map(|node| node.as_expr_string_literal().copied());
    texts.map(|text| (text.range, text.value.to_str()))
}

/// The indices of the elements in the nearest condition of a report.
pub fn indices(program: &Program, report_site: &ReportSite) -> BTreeSet<String> {
    let nearest = nearest_operands(program, report_site);
    let nodes = program.tree().nodes.iter();
    let elements = nodes.filter_map(|node| node.node.as_expr_subscript().copied());
    let compared = elements.filter(|element| {
        let mut around = nearest.iter();
        around.any(|operand| operand.contains_range(element.range))
    });
    let texts = compared.map(|element| program.slice(element.slice.range()));
    let texts = texts.map(|text| text.split_whitespace().collect());
    texts.collect()
}

/// The attributes and elements that a program sets to the constant that it compares them with,
/// without their objects.
pub fn round_trips(program: &Program) -> BTreeSet<String> {
    let (stored, compared) = (stored(program), compared(program));
    let both = compared.intersection(&stored);
    both.map(|(place, _)| place.clone()).collect()
}

/// Whether a candidate has stored the values that it expects back of these.
pub fn come_back(known: &BTreeSet<String>, candidate: &Program) -> bool {
    known.is_empty() || {
        let stored = stored(candidate);
        let mut compared = compared(candidate).into_iter();
        compared
            .all(|(place, constant)| !known.contains(&place) || stored.contains(&(place, constant)))
    }
}

/// The constants that attributes and elements are set to, by assignments, by keywords of calls and in
/// displays of dictionaries.
fn stored(program: &Program) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut add = |place: String, value: &Expr| {
        if value.is_literal_expr() {
            found.insert((place, program.slice(value.range()).to_owned()));
        }
    };
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::StmtAssign(assign) => {
                for place in assign
                    .targets
                    .iter()
                    .filter_map(|target| inside(program, target))
                {
                    add(place, &assign.value);
                }
            }
            AnyNodeRef::ExprCall(call) => {
                for keyword in &call.arguments.keywords {
                    if let Some(name) = &keyword.arg {
                        add(format!(".{name}"), &keyword.value);
                        add(element(&format!("{:?}", name.as_str())), &keyword.value);
                    }
                }
            }
            AnyNodeRef::ExprDict(dict) => {
                for item in &dict.items {
                    if let Some(key) = &item.key {
                        add(element(&key_text(program, key)), &item.value);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The constants that attributes and elements are compared with, one by one where they stand in
/// displays.
fn compared(program: &Program) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut add = |one: &Expr, other: &Expr| {
        for (place, constant) in [(one, other), (other, one)] {
            if let Some(place) = inside(program, place).filter(|_| constant.is_literal_expr()) {
                found.insert((place, program.slice(constant.range()).to_owned()));
            }
        }
    };
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCompare(compare) = node.node else {
            continue;
        };
        let [other] = &*compare.comparators else {
            continue;
        };
        match (&*compare.left, other) {
            (Expr::Tuple(one), Expr::Tuple(other)) => {
                for (one, other) in one.elts.iter().zip(&other.elts) {
                    add(one, other);
                }
            }
            (one, other) => add(one, other),
        }
    }
    found
}

/// An attribute or element without the object whose it is.
fn inside(program: &Program, expr: &Expr) -> Option<String> {
    match expr {
        Expr::Attribute(attribute) => Some(format!(".{}", attribute.attr)),
        Expr::Subscript(subscript) => Some(element(&key_text(program, &subscript.slice))),
        _ => None,
    }
}

/// An element by its key.
fn element(key: &str) -> String {
    format!("[{key}]")
}

/// The text of a key, that of a text in the same quotes always.
fn key_text(program: &Program, key: &Expr) -> String {
    match key {
        Expr::StringLiteral(text) => format!("{:?}", text.value.to_str()),
        key => program.slice(key.range()).to_owned(),
    }
}

impl NumbersByPlace {
    fn of(program: &Program, report_site: &ReportSite) -> Self {
        let nearest = nearest_operands(program, report_site);
        let mut found = Self {
            compared: BTreeMap::new(),
            others: BTreeMap::new(),
        };
        for (place, number) in numbers(program) {
            let is_compared = nearest.iter().any(|range| range.contains_range(number));
            let numbers = if is_compared {
                &mut found.compared
            } else {
                &mut found.others
            };
            let text = program.slice(number).to_owned();
            numbers.entry(place).or_default().insert(text);
        }
        found
    }
}

/// The pairs of places in which a program reads the same variable, and nothing else stands in
/// either.
pub fn one_variable(program: &Program) -> Ties {
    let mut read: BTreeMap<NumberPlace, Vec<Option<usize>>> = BTreeMap::new();
    for (place, value) in places(program) {
        let name = value.as_name_expr();
        let variable = name.and_then(|name| program.scopes().position_read(&name.id, name.range));
        read.entry(place).or_default().push(variable);
    }
    let single = read
        .iter()
        .filter_map(|(place, variables)| match variables.as_slice() {
            [Some(variable)] => Some((place, variable)),
            _ => None,
        });
    let single: Vec<_> = single.collect();
    let pairs = single
        .iter()
        .enumerate()
        .flat_map(|(at, (place, variable))| {
            let after = single[at + 1..].iter();
            let same = after.filter(move |(_, other)| other == variable);
            same.map(move |(other, _)| ((*place).clone(), (*other).clone()))
        });
    pairs.collect()
}

/// Whether the numbers that a candidate writes out in two places are the same where a program reads
/// one variable.
pub fn are_one_number(known: &Ties, candidate: &Program) -> bool {
    let mut written: BTreeMap<NumberPlace, BTreeSet<&str>> = BTreeMap::new();
    for (place, value) in numbers(candidate) {
        let text = candidate.slice(value);
        written.entry(place).or_default().insert(text);
    }
    known.iter().all(|(place, other)| {
        let both = written.get(place).zip(written.get(other));
        both.is_none_or(|(numbers, others)| !numbers.is_disjoint(others))
    })
}

/// The numbers that a program writes out as indices and arguments, and what it compares others with.
fn numbers(program: &Program) -> Vec<(NumberPlace, TextRange)> {
    let numbers = places(program).into_iter();
    let numbers = numbers.filter(|(_, value)| value.is_number_literal_expr());
    numbers
        .map(|(place, value)| (place, value.range()))
        .collect()
}

/// The indices and arguments of a program, what it compares, and by what it divides.
fn places(program: &Program) -> Vec<(NumberPlace, &Expr)> {
    let last = |expr: &Expr| {
        let text = program.slice(expr.range());
        text.rsplit('.').next().unwrap_or(text).to_owned()
    };
    let mut found = Vec::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::ExprSubscript(subscript) => {
                found.push((format!("{}[]", last(&subscript.value)), &*subscript.slice));
            }
            AnyNodeRef::ExprCompare(compare) => {
                let operands = std::iter::once(&*compare.left).chain(&compare.comparators);
                found.extend(operands.map(|operand| ("compared".to_owned(), operand)));
            }
            AnyNodeRef::ExprBinOp(operation)
                if matches!(
                    operation.op,
                    Operator::Div | Operator::FloorDiv | Operator::Mod
                ) =>
            {
                found.push((operation.op.as_str().to_owned(), &*operation.right));
            }
            AnyNodeRef::ExprCall(call) => {
                let called = last(&call.func);
                let Arguments { args, keywords, .. } = &call.arguments;
                for (place, value) in args.iter().enumerate() {
                    found.push((format!("{called}({place})"), value));
                }
                for keyword in keywords {
                    let name = keyword.arg.as_ref().map_or("", |arg| arg.as_str());
                    found.push((format!("{called}({name}=)"), &keyword.value));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_expected_back() {
        let of = |text: &str| Program::parse(text).unwrap();
        let script = of("a.x = 0\na.y = 1\na.z = 2\nassert (a.x, a.y) == (0, 1)\n");
        let known = round_trips(&script);
        assert_eq!(known, BTreeSet::from([".x".to_owned(), ".y".to_owned()]));
        let comes_back = |text: &str| come_back(&known, &of(text));
        assert!(comes_back("b.y = 3\nassert b.y == 3\n"));
        assert!(comes_back("assert a.z == 0\n"));
        assert!(!comes_back("a.y = 0\nassert a.y == 1\n"));
        assert!(!comes_back("a.x = 0\nassert (a.x, a.y) == (0, 1)\n"));
        let script = of(
            "f(x=5, y=6)\ng({'z': 7})\nassert a.x == 5\nassert a['y'] == 6\nassert a[\"z\"] == 7\n",
        );
        let known = round_trips(&script);
        assert_eq!(known.len(), 3);
        let comes_back = |text: &str| come_back(&known, &of(text));
        assert!(comes_back("f(x=8)\nassert a.x == 8\n"));
        assert!(!comes_back("f(x=8)\nassert a.x == 5\n") && !comes_back("assert a['z'] == 7\n"));
    }

    #[test]
    fn what_is_expected_was_given_before() {
        let of = |text: &str| {
            let program = Program::parse(text).unwrap();
            let line = text.lines().count() as u32;
            expects_known_texts(&program, &ReportSite::Raised(vec![line]))
        };
        assert_eq!(
            of("f(name='bob')\nx = g()\nassert x == ['bob'], x\n"),
            Some(true)
        );
        assert_eq!(
            of("f('ann, bob')\nx = g()\nassert 'bob' in x\n"),
            Some(true)
        );
        assert_eq!(
            of("f('ann')\nx = g()\nassert x == ['bob'], 'no bob'\n"),
            Some(false)
        );
        assert_eq!(of("f('ann')\nx = g()\nassert x == h('bob')\n"), None);
    }

    #[test]
    fn what_is_asked_for_was_given() {
        let of = |text: &str| Program::parse(text).unwrap();
        let script =
            "Row(name='a')\nRow(name='b')\nRow(name='c')\nf('a')\nf('b')\nf('d')\nprint('a')\n";
        let known = text_ties(&of(script));
        assert_eq!(known.len(), 2);
        let goes_on = |text: &str| go_on_sharing(&known, &of(text));
        assert!(
            goes_on("Row(name='a')\nf('a')\n")
                && goes_on("f('b')\n")
                && goes_on("Row(name='x')\nf('x')\n")
        );
        assert!(goes_on("Row(name='a')\nRow(name='c')\nf('a')\nf('d')\n"));
        assert!(!goes_on("Row(name='a')\nf('b')\n") && !goes_on("Row(name='a')\nf('')\n"));
    }

    #[test]
    fn the_indices_of_what_is_compared() {
        let of = |text: &str| {
            let found = indices(&Program::parse(text).unwrap(), &ReportSite::Exit);
            found.into_iter().collect::<Vec<_>>()
        };
        let check = "if x[1,1] != 0 and f(y[2])[1, 1] == 0:\n    exit(z[3])\n";
        assert_eq!(of(check), ["1,1", "2"]);
    }

    #[test]
    fn an_index_stays_the_setting_that_it_was() {
        let script =
            "rates = run(10)\nplan = Plan(last=4, steps=10)\nassert plan.rate == rates[4]\n";
        let site = ReportSite::Raised(vec![3]);
        let known = ties(&Program::parse(script).unwrap(), &site);
        let pair = ("rates[]".to_owned(), "Plan(last=)".to_owned());
        assert_eq!(known, BTreeSet::from([pair]));
        let tied = |candidate: &str| {
            let lines = candidate.lines().count() as u32;
            let candidate = Program::parse(candidate).unwrap();
            are_tied(&known, &candidate, &ReportSite::Raised(vec![lines]))
        };
        assert!(tied(
            "plan = Plan(last=2, steps=3)\nassert plan.rate == rates[2]\n"
        ));
        assert!(!tied("plan = Plan(last=1)\nassert plan.rate == rates[4]\n"));
        assert!(!tied("plan = Plan(last=4)\nassert plan.rate == rates[1]\n"));
        assert!(tied("plan = Plan()\nassert plan.rate == rates[1]\n"));
        assert!(tied("plan = Plan(last=3)\nassert plan.rate == rates[n]\n"));
    }

    #[test]
    fn what_is_one_variable_stays_one_number() {
        let script = "def split(x, n):\n    return [x / n for _ in range(n)]\nf(len(x), m)\n";
        let known = one_variable(&Program::parse(script).unwrap());
        let pair = ("/".to_owned(), "range(0)".to_owned());
        assert_eq!(known, BTreeSet::from([pair]));
        let keeps = |text: &str| are_one_number(&known, &Program::parse(text).unwrap());
        assert!(keeps("[5 / 2 for _ in range(2)]\n") && keeps("[5 / 2 for _ in range(n)]\n"));
        assert!(keeps("5 / 2\n") && !keeps("[5 / 2 for _ in range(1)]\n"));
        // What stands elsewhere, too, is no single place.
        let twice = format!("{script}range(3)\n");
        assert!(one_variable(&Program::parse(twice).unwrap()).is_empty());
    }

    #[test]
    fn what_is_given_is_expected_back() {
        let script = "x = field(default=5)\ny = other(5, 1)\nassert f(x) == 5\n";
        let site = ReportSite::Raised(vec![3]);
        let known = ties(&Program::parse(script).unwrap(), &site);
        let tied = |candidate: &str| {
            let lines = candidate.lines().count() as u32;
            let candidate = Program::parse(candidate).unwrap();
            are_tied(&known, &candidate, &ReportSite::Raised(vec![lines]))
        };
        assert!(tied("x = field(default=5)\nassert f(x) == 5\n"));
        assert!(tied("x = field(default=2)\nassert f(x) == 2\n"));
        assert!(tied("x = field()\nassert f(x) == 5\n"));
        assert!(!tied("x = field(default=1)\nassert f(x) == 5\n"));
    }
}
