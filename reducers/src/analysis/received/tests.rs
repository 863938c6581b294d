//! What runs write down about the values that functions and methods of packages receive.

use super::*;
use crate::analysis::receiving::made_by_packages;

fn read(calls: &[(&str, &str)]) -> Received {
    let lines = calls
        .iter()
        .map(|(name, call)| format!("\u{1e}received {name}\u{1f}{call}\u{1e}\n"));
    Received::read(&format!("noise\n{}", lines.collect::<String>()))
}

#[test]
fn calls_go_on_receiving_things_of_the_same_kinds() {
    let known = read(&[
        ("f", r#"{"": ["Lib"], "0": ["str", "'a'"]}"#),
        ("f", r#"{"0": ["list", [["zero int", "0"]]], "k": [""]}"#),
        ("h", r#"{"0": ["class"]}"#),
    ]);
    let known = known.by(&["f()".to_owned(), "g() alone".to_owned()].into());
    let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
    assert!(allows(
        "f",
        r#"{"": ["Lib"], "0": ["str", "'b'"], "k": ["None"]}"#
    ));
    assert!(allows("f", r#"{"0": ["list", [["zero int", "0"]]]}"#));
    assert!(allows("h", r#"{"0": ["None"]}"#) && known.allows(&Received::default()));
    assert!(!allows("f", r#"{"0": ["str, empty", "''"]}"#));
    assert!(!allows("f", r#"{"": ["None"]}"#));
    assert!(!allows("f", r#"{"0": ["list, empty", []]}"#));
    assert!(allows("f", r#"{"0": ["list", [["zero number", "0.0"]]]}"#));
    assert!(!allows("f", r#"{"0": ["tuple", [["str, empty", "''"]]]}"#));
    assert!(allows("f", r#"{"0": ["set", [["str, empty", "''"]]]}"#));
    assert!(
        !read(&[("f", r#"{"0": ["dict", []]}"#)])
            .by(&["f()".to_owned()].into())
            .allows(&read(&[("f", r#"{"0": ["Lib"]}"#)]))
    );
    let dict = |key: &str| format!(r#"{{"0": ["dict", [["str", "'{key}'"], ["None"]]]}}"#);
    let holding = read(&[("f", &dict("a"))]).by(&["f()".to_owned()].into());
    assert!(holding.allows(&read(&[("f", &dict("a"))])));
    assert!(!holding.allows(&read(&[("f", &dict("b"))])));
    let of_key = |value: &str| format!(r#"{{"0": ["dict", [["str", "'a'"], {value}]]}}"#);
    let keyed = read(&[("f", &of_key(r#"["Lib"]"#))]).by(&["f()".to_owned()].into());
    assert!(keyed.allows(&read(&[("f", &of_key(r#"["Other"]"#))])));
    assert!(!keyed.allows(&read(&[("f", &of_key(r#"["str", "'x'"]"#))])));
    let left = read(&[("left lib.f", r#"{"x": ["Lib"], "y": ["None"]}"#)]);
    let left = left.by(&Operations::default());
    let entered = |x: &str| read(&[("entered lib.f", &format!(r#"{{"x": [{x:?}]}}"#))]);
    assert!(left.allows(&entered("Other")) && !left.allows(&entered("None")));
    // It may get there another way.
    assert!(left.allows(&read(&[("left lib.f", r#"{"x": ["None"]}"#)])));
    let result = |kind: &str| read(&[("return of g", &format!(r#"{{"0": [{kind:?}]}}"#))]);
    let text = result("str").by(&Operations::default());
    assert!(text.allows(&result("str")) && !text.allows(&result("finite int")));
    let returned = result("Lib").by(&Operations::default());
    assert!(returned.allows(&result("Lib")));
    assert!(!returned.allows(&result("class")) && !returned.allows(&result("Other")));
    // What never returns in the script returns nothing.
    let program = Program::parse("import lib\ndef g(): return h()\nlib.f(g)\nlib.f(lambda: h())\n");
    let defined = known.clone().with_definitions_of(&program.unwrap());
    assert!(
        !defined.allows(&result("Lib"))
            && !defined.allows(&read(&[("return of lambda", r#"{"0": ["Lib"]}"#)]))
    );
    let row = read(&[("f", r#"{"1": ["tuple", []]}"#)]).by(&["f()".to_owned()].into());
    assert!(row.allows(&read(&[("f", r#"{"1": ["str", "'a'"]}"#)])));
    assert!(!row.allows(&read(&[("f", r#"{"1": ["finite int", "2"]}"#)])));
    let set = read(&[(".row=", r#"{"0": ["type"]}"#)]).by(&Operations::default());
    let sets = |kind: &str| set.allows(&read(&[(".row=", &format!(r#"{{"0": [{kind:?}]}}"#))]));
    assert!(sets("type") && sets("Other") && !sets("zero int"));
    let constant = r#"{"": ["finite int", "2"]}"#;
    assert!(!allows("f", constant) && allows("f", r#"{"": ["Other"], "0": ["bool", "True"]}"#));
}

#[test]
fn a_generator_that_has_nothing_left_is_no_other() {
    let given = |kind: &str| {
        let call = format!(r#"{{"0": [{kind:?}]}}"#);
        read(&[("f", &call)]).by(&["f()".to_owned()].into())
    };
    let (spent, new, list) = (given("spent"), given(""), given("list, empty"));
    assert!(spent.allows(&spent) && !spent.allows(&new) && !spent.allows(&list));
    assert!(new.allows(&new) && new.allows(&list) && !new.allows(&spent));
    assert!(!new.allows(&given("str")));
}

#[test]
fn what_is_looked_up_in_is_not_emptied() {
    let of = |kind: &str| {
        let call = format!(r#"{{"0": [{kind:?}]}}"#);
        read(&[("of []", &call)]).by(&Operations::new())
    };
    let whole = of("dict");
    assert!(whole.allows(&of("dict")) && whole.allows(&of("str")));
    assert!(!whole.allows(&of("dict, empty")) && !whole.allows(&of("list, empty")));
    assert!(of("dict, empty").allows(&of("dict, empty")));
}

#[test]
fn what_fails_is_not_done_to_one_object_again() {
    let of = |answer: &str| {
        let call = format!(r#"{{"0": ["bool", {answer:?}]}}"#);
        read(&[("state of backward", &call)]).by(&Operations::new())
    };
    assert!(of("False").allows(&of("False")) && !of("False").allows(&of("True")));
    assert!(of("True").allows(&of("True")) && of("True").allows(&of("False")));
}

#[test]
fn what_fails_gets_what_failed() {
    let of = |calls: &[(&str, &str)]| read(calls).by(&Operations::new());
    let script = of(&[
        ("unpack", r#"{"": ["Struct"], "0": ["bytes"]}"#),
        ("failed unpack", r#"{"0": ["str"], "1": ["bytes"]}"#),
        ("state of unpack", r#"{"nan": ["bool", "True"]}"#),
    ]);
    assert!(script.allows(&script));
    let other = r#"{"": ["Struct"], "0": ["bytes"]}"#;
    assert!(!script.allows(&of(&[("failed unpack", other)])));
    let negative = r#"{"negative": ["bool", "True"]}"#;
    assert!(!script.allows(&of(&[("state of unpack", negative)])));
    assert!(script.allows(&of(&[("state of unpack", "{}")])));
}

#[test]
fn what_fails_gets_what_is_left_of_the_texts() {
    let of = |text: &str| {
        let call = format!(r#"{{"": ["Connection"], "0": ["str", "'{text}'"]}}"#);
        read(&[("failed execute", call.as_str())]).by(&Operations::new())
    };
    let script = of("DELETE FROM users WHERE id = 12");
    assert!(script.clone().allows(&of("DELETE FROM users WHERE id = 3")));
    assert!(script.allows(&of("DELETE FROM users")) && script.allows(&of("x")));
    assert!(!script.allows(&of("INSERT INTO users")));
    // It differs from run to run.
    let varies = script.clone().with_steady_texts(&[of("DELETE FROM other")]);
    assert!(varies.allows(&of("INSERT INTO users")));
    let steady = script.clone().with_steady_texts(&[script]);
    assert!(!steady.allows(&of("INSERT INTO users")));
    assert!(!steady.fails_on_nothing());
    let nothing = r#"{"0": ["list, empty", []]}"#;
    assert!(read(&[("failed mean", nothing)]).fails_on_nothing());
}

#[test]
fn what_is_no_function_is_not_replaced_by_one() {
    let of = |kind: &str| {
        let call = format!(r#"{{"0": [{kind:?}]}}"#);
        read(&[("f", &call)]).by(&["f()".to_owned()].into())
    };
    let function = of("function");
    assert!(!of("object").allows(&function) && !of("None").allows(&function));
    assert!(function.allows(&function) && of("class").allows(&function));
    assert!(of("Module, callable").allows(&function));
    assert!(!function.allows(&of("object")) && of("").allows(&function));
    assert!(function.allows(&of("Module, callable")) && function.allows(&of("class")));
    assert!(of("Module, callable").allows(&of("Module")));
}

#[test]
fn children_fail_as_they_did() {
    let of = |status: &str, said: &str| {
        let end = format!(r#"{{"status": ["int", {status:?}], "said": ["str", {said:?}]}}"#);
        read(&[("child", &end)]).by(&Operations::new())
    };
    let script = of("1", "ValueError: no");
    assert!(script.allows(&script) && script.allows(&Received::default()));
    assert!(!script.allows(&of("2", "ValueError: no")));
    assert!(!script.allows(&of("1", "NameError: no")));
}

#[test]
fn an_object_whose_truth_decides_is_there() {
    let of = |kinds: &[&str]| {
        let calls = kinds.iter().map(|kind| format!(r#"{{"0": [{kind:?}]}}"#));
        let calls: Vec<_> = calls.collect();
        let calls: Vec<_> = calls
            .iter()
            .map(|call| ("truth of x", call.as_str()))
            .collect();
        read(&calls).by(&Operations::new())
    };
    let script = of(&["None", "Element"]);
    assert!(script.allows(&of(&["Other"])) && !script.allows(&of(&["None"])));
    assert!(of(&["None", "list"]).allows(&of(&["None"])));
}

#[test]
fn objects_that_packages_make_receive_things_of_the_same_types() {
    let text =
        "import lib\n@lib.made\nclass A: pass\nclass B(lib.C):\n    def __init__(self, x): pass\n";
    let program = Program::parse(text).unwrap();
    let call = r#"{"0": ["own A"], "1": ["list", [["own A"]]], "2": ["finite int", "2"]}"#;
    let known = read(&[("A", call), ("B", call)]);
    let operations = made_by_packages(&program);
    let known = known.by(&operations).with_definitions_of(&program);
    let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
    assert!(allows("A", call) && allows("A", r#"{"1": ["list", [["own A"]]]}"#));
    assert!(allows("A", r#"{"2": ["finite number", "0.5"]}"#));
    for other in [
        r#"{"0": ["object"]}"#,
        r#"{"0": ["list, empty", []]}"#,
        r#"{"1": ["finite int", "1"]}"#,
        r#"{"2": ["zero int", "0"]}"#,
        r#"{"2": ["object"]}"#,
    ] {
        assert!(!allows("A", other), "{other}");
    }
    // What its own constructor takes is its own business.
    assert!(allows("B", r#"{"0": ["object"]}"#));
}

#[test]
fn a_key_that_is_missing_in_the_end_was_stored() {
    let stores = |key: &str| {
        let call = format!(r#"{{"0": ["finite int", "{key}"]}}"#);
        read(&[("[]=", &call)])
    };
    let known = stores("2").with_sought(Some("2"), &[stores("2")]);
    assert!(known.allows_sought(&stores("3"), Some("3")));
    assert!(!known.allows_sought(&stores("3"), Some("2")));
    let unsteady = stores("2").with_sought(Some("2"), &[stores("3")]);
    assert!(unsteady.allows_sought(&stores("3"), Some("2")));
}

#[test]
fn masks_and_indices_stay_whole() {
    let mask = r#"{"0": ["list", [["bool", "True"], ["bool", "False"], ["bool", "True"]]]}"#;
    let index = r#"{"0": ["finite int", "1"], "1": ["zero int", "0"], "of": ["finite int", "2"]}"#;
    let calls = [("f", mask), ("[]=", index)];
    let known = read(&calls).exactly_by(&["f()".to_owned()].into(), &[read(&calls)]);
    let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
    assert!(allows(
        "f",
        r#"{"0": ["list", [["bool", "False"], ["bool", "True"]]]}"#
    ));
    assert!(!allows(
        "f",
        r#"{"0": ["list", [["bool", "True"], ["bool", "True"]]]}"#
    ));
    assert!(allows("[]=", index));
    assert!(!allows(
        "[]=",
        r#"{"0": ["finite int", "1"], "of": ["finite int", "1"]}"#
    ));
    assert!(!allows("[]=", r#"{"of": ["zero int", "0"]}"#));
}

#[test]
fn exact_calls_receive_what_is_left_of_the_same_values() {
    let calls = [
        (
            "f",
            r#"{"0": ["list", [["str", "'a'"], ["str", "'b'"]]], "1": ["T", "(2,)"]}"#,
        ),
        ("g", r#"{"0": ["finite number", "0.5"]}"#),
        ("f", r#"{"k": ["str", "'1999-12-31 23:59:59'"]}"#),
    ];
    let other = [
        calls[0],
        ("g", r#"{"0": ["finite number", "0.7"]}"#),
        calls[2],
    ];
    let operations = ["f()", "g()", "=="].map(str::to_owned).into();
    let known = read(&calls).exactly_by(&operations, &[read(&other)]);
    let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
    assert!(allows(
        "f",
        r#"{"0": ["list", [["str", "'b'"]]], "1": ["T", "(2,)"]}"#
    ));
    assert!(!allows("f", r#"{"0": ["list", [["str", "'c'"]]]}"#));
    assert!(!allows("f", r#"{"1": ["T", "(1,)"]}"#));
    assert!(allows("f", r#"{"k": ["str", "'2000-01-01 00:00:00'"]}"#));
    assert!(!allows("f", r#"{"k": ["str", "'2000-01-01'"]}"#));
    // Its value varies.
    assert!(allows("g", r#"{"0": ["finite number", "2.0"]}"#));
}
