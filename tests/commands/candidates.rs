//! `check --candidate` and `bench --check` with slips: whether a program that somebody wrote shows
//! the bug of a script, or only its words.

use super::{NOISY, Place};

/// A key that a byte order mark hides, in what `csv` reads.
const EXPORT: &str = "\
import csv
import io

EXPORT = 'id,name\\n1,lamp\\n'.encode('utf-8-sig')


def rows(data):
    text = io.TextIOWrapper(io.BytesIO(data), encoding='utf-8')
    return list(csv.DictReader(text))


for row in rows(EXPORT):
    print(row['id'])
";

#[track_caller]
fn shows(place: &Place, args: &[&str], status: i32, fragments: &[&str]) {
    let shown = place.shown(args);
    assert!(shown.starts_with(&format!("status: {status}\n")), "{shown}");
    for fragment in fragments {
        assert!(shown.contains(fragment), "`{fragment}` is not in\n{shown}");
    }
}

#[test]
fn a_program_by_hand_is_verified_or_not() {
    let place = Place::new();
    place.file("x.py", NOISY);
    place.file("good.py", "import json\njson.dumps({1: {2}})\n");
    place.file(
        "claim.py",
        "raise TypeError('Object of type set is not JSON serializable')\n",
    );
    place.file("fine.py", "print(1)\n");
    shows(
        &place,
        &["check", "x.py", "--candidate", "good.py"],
        0,
        &["good.py\n  verified: "],
    );
    shows(
        &place,
        &[
            "check",
            "x.py",
            "--candidate",
            "good.py",
            "--candidate",
            "fine.py",
        ],
        1,
        &[
            "good.py\n  verified: ",
            "fine.py\n  does not show the bug: exit 0",
        ],
    );
    shows(
        &place,
        &["check", "x.py", "--candidate", "claim.py", "-n", "2"],
        2,
        &["--runs"],
    );
    shows(
        &place,
        &["check", "x.py", "--candidate", "none.py"],
        2,
        &["could not read `none.py`"],
    );
}

#[test]
fn the_same_words_without_what_makes_them_true_are_unverified() {
    let place = Place::new();
    place.file("x.py", EXPORT);
    place.file("empty.py", "{}['id']\n");
    place.file(
        "other.py",
        "import csv\nnext(csv.DictReader(['name', 'lamp']))['id']\n",
    );
    place.file(
        "true.py",
        "import csv\nnext(csv.DictReader(['\\ufeffid', '1']))['id']\n",
    );
    let judged = |name: &str, signature: &[&str]| {
        let args = [&["check", "x.py", "--candidate", name], signature].concat();
        place.shown(&args)
    };
    for signature in [&["-s", "KeyError: 'id'"][..], &["-s", "KeyError"], &[]] {
        let shown = judged("true.py", signature);
        assert!(shown.starts_with("status: 0\n"), "{shown}");
        for (name, why) in [
            (
                "empty.py",
                "NOT verified: it fails on what `csv.DictReader` gave",
            ),
            (
                "other.py",
                "NOT verified: it stores the missing value by `id`",
            ),
        ] {
            let shown = judged(name, signature);
            assert!(
                shown.starts_with("status: 7\n") && shown.contains(why),
                "{shown}"
            );
        }
    }
    let args = [
        "check",
        "x.py",
        "--candidate",
        "empty.py",
        "--loose",
        "-s",
        "KeyError",
    ];
    shows(&place, &args, 0, &["NOT verified"]);
}

#[test]
fn a_call_with_wrong_arguments_must_be_made_by_the_same_function() {
    let place = Place::new();
    // Calls go through a function of the library in any case.
    place.file(
        "lib.py",
        "class Base:\n    def __call__(self, *args):\n        return self.run(*args)\nclass \
         Chain(Base):\n    def run(self, x):\n        return Task()(x)\nclass Task(Base):\n    \
         def run(self, x, mask):\n        pass\n",
    );
    place.file(
        "x.py",
        "import lib\nimport os\nprint(os.sep)\nlib.Chain()(1)\n",
    );
    place.file("true.py", "import lib\nlib.Chain()(1)\n");
    place.file("slip.py", "import lib\nlib.Task()(1)\n");
    shows(
        &place,
        &["check", "x.py", "--candidate", "true.py"],
        0,
        &["verified"],
    );
    let called = "called by the script, not by lib.py, run()";
    shows(
        &place,
        &["check", "x.py", "--candidate", "slip.py"],
        7,
        &[called],
    );
}

#[test]
fn a_text_that_a_sound_program_prints_as_well_verifies_nothing() {
    let place = Place::new();
    let told = "a program without the bug does not print these words";
    let said = "the script prints these words whatever happens";
    place.file("x.py", "import json\njson.loads('1')\nprint('went on')\n");
    let found = place.shown(&["x.py", "-s", "stdout:went on"]);
    assert!(
        found.starts_with("status: 7\n") && found.contains(&format!("NOT verified: {told}")),
        "{found}"
    );
    assert!(found.contains(said), "{found}");
    // Something decides whether these words are printed.
    place.file(
        "y.py",
        "import json\nif json.loads('0.1') * 3 != 0.3:\n    print('differs')\n",
    );
    let found = place.shown(&["y.py", "-s", "stdout:differs"]);
    assert!(
        found.starts_with("status: 0\n") && !found.contains(said),
        "{found}"
    );
}

/// A package whose decorators take a program's functions and call them; a program that is given an
/// option in vain; and one that is not given it.
const HANDED_OVER: [(&str, &str); 3] = [
    (
        "lib.py",
        "\
class Group:
    def __init__(self, function):
        self.commands = {}
    def add(self, command):
        self.commands[command[0].__name__] = command
    def __call__(self, words):
        function, default = self.commands[words[0]]
        function(not default if '-v' in words else bool(default))
def option(default):
    return lambda function: (function, default)
",
    ),
    (
        "x.py",
        "\
import lib
@lib.option(False)
def fine(loud):
    print(loud)
@lib.option(lambda: False)
def work(loud):
    print('loud:', loud)
@lib.Group
def main():
    pass
main.add(fine)
main.add(work)
main(['work', '-v'])
",
    ),
    (
        "slip.py",
        "\
import lib
@lib.option(False)
def work(loud):
    print('loud:', loud)
@lib.Group
def main():
    pass
main.add(work)
main(['work'])
",
    ),
];

#[test]
fn a_value_that_a_package_hands_over_verifies_nothing() {
    let place = Place::new();
    for (name, text) in HANDED_OVER {
        place.file(name, text);
    }
    let args = ["check", "x.py", "--candidate", "slip.py"];
    let told = "a program without the bug does not print these words";
    shows(
        &place,
        &[&args[..], &["-s", "stdout:loud: False"]].concat(),
        7,
        &[&format!("NOT verified: {told}")],
    );
}

#[test]
fn slips_of_a_case_are_judged_by_three_forms_of_its_signature() {
    let place = Place::new();
    let case = |name: &str, slip: &str, more: &str| {
        place.file(&format!("{name}/repro.py"), EXPORT);
        let ideal = "import csv\nnext(csv.DictReader(['\\ufeffid', '1']))['id']\n";
        place.file(&format!("{name}/ideal.py"), ideal);
        place.file(&format!("{name}/slip.py"), slip);
        let text = format!(
            "description = 'a case'\nsignature = \"KeyError: 'id'\"\npython = '>=3.8'\n\
             timeout = 20\nmax_tokens = 9\nmax_runs = 50\n{more}\n"
        );
        place.file(&format!("{name}/case.toml"), text);
    };
    case("good", "{}['id']\n", "");
    let judged = "judged: given right, derived right, short right";
    shows(
        &place,
        &["bench", "--check", "good"],
        0,
        &[judged, "judged 6 times, 0 of them wrongly"],
    );
    let ideal = "import csv\nnext(csv.DictReader(['id']), {'x': 'id'})['id']\n";
    case("bad", ideal, "");
    shows(
        &place,
        &["bench", "--check", "bad"],
        1,
        &["given WRONG", "bad: slip.py (short): verified"],
    );
    let holes = "holes = { 'slip.py' = ['given', 'derived', 'short'] }";
    case("bad", ideal, holes);
    shows(
        &place,
        &["bench", "--check", "bad"],
        0,
        &[
            "KNOWN HOLE bad: slip.py (short)",
            "judged 6 times, 3 of them wrongly",
        ],
    );
    case("shut", "{}['id']\n", holes);
    shows(
        &place,
        &["bench", "--check", "shut"],
        1,
        &["`slip.py (given)` is a hole no more"],
    );
    case("mute", "print(1)\n", "");
    shows(
        &place,
        &["bench", "--check", "mute"],
        1,
        &["mute: slip.py (given): does not show the bug"],
    );
}
