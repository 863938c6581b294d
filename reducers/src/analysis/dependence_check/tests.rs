//! What programs and reports depend on, seen from the statement that fails.

use super::*;
use crate::testing::evidence;

#[test]
fn the_packages_are_those_of_all_that_a_failing_statement_depends_on() {
    let of = |text: &str, frames: &[u32]| {
        let found = packages(&Program::parse(text).unwrap(), frames, None);
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    let text = "import csv, io, os\nfrom typing import List\ndef rows(data):\n    return \
                list(csv.DictReader(io.StringIO(data)))\nos.getcwd()\nfor row in rows(''):\n    \
                row['id']\n";
    assert_eq!(of(text, &[7]), "csv io");
    assert_eq!(of("import csv\ncsv.reader([])\n{}['id']\n", &[3]), "");
    let class = "import pathlib\nclass P(pathlib.Path):\n    def f(self):\n        return \
                 self.x\nP().f()\n";
    assert_eq!(of(class, &[5, 4]), "pathlib");
}

#[test]
fn arguments_are_read_off_objects() {
    let of = |text: &str, frames: &[u32]| {
        let found = read_for_arguments(&Program::parse(text).unwrap(), frames, None);
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    let text = "import lib\nclass A:\n    def __init__(self):\n        self.d = lib.D(2)\n    \
                def m(self):\n        return self.d.mode\n    def f(self):\n        return \
                self.d.log(self.m()).exp()\nA().f()\n";
    assert_eq!(of(text, &[9, 8]), "mode");
    assert_eq!(
        of("import lib\nlib.D(2).log(lib.tensor(0)).exp()\n", &[2]),
        ""
    );
    assert_eq!(
        of("import lib\nx = lib.D()\nlib.f(x.a.b(1), k=x)\n", &[3]),
        "a b"
    );
    assert_eq!(of("import lib, os\nlib.f(os.stat(1).mode)\n", &[2]), "");
    assert_eq!(of("import os\nos.f(os.stat(1).mode)\n", &[2]), "");
}

#[test]
fn words_are_said_where_they_are_printed() {
    let text = "'A RED lost update.'\ndef report(case, bad):\n    status = 'RED' if bad else 'GREEN'\n    \
                print(f'{status} {case}')\ncase = 'lost_update'\nx = round(1.5)\n\
                report(case, x != 2)\nprint('done')\n";
    let words = ["RED", "lost", "update"].map(str::to_owned);
    check(
        text,
        &ReportSite::Words(words.into()),
        &["!=", "print()", "round()"],
    );
}

#[test]
fn conditions_ask_whether_what_packages_gave_is_true() {
    let asked =
        |condition: &str| format!("import lib\nx = lib.find()\nif {condition}:\n    raise x\n");
    let site = ReportSite::Raised(vec![4]);
    check(&asked("not x"), &site, &["bool(find())", "find()"]);
    check(&asked("x is None"), &site, &["find()"]);
    check("x = 1\nif x: raise y\n", &ReportSite::Raised(vec![2]), &[]);
}

#[track_caller]
fn check(text: &str, report_site: &ReportSite, expected: &[&str]) {
    let found = operations(&Program::parse(text).unwrap(), report_site, None);
    let found = found.iter().flatten().map(String::as_str);
    // Whether something was filled, only a trace says.
    let found: Vec<&str> = found.filter(|name| *name != "not filled").collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_was_not_reached_has_its_reason() {
    let last = |text: &str, expected: &[&str]| {
        let program = Program::parse(text).unwrap();
        let frames = vec![text.lines().count() as u32];
        let evidence = crate::testing::evidence(text);
        let found = operations(&program, &ReportSite::Raised(frames), Some(&evidence));
        let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
        assert_eq!(found, expected, "{text}");
    };
    let found = "found = None\nfor row in lib.rows():\n    if row.get('id') == 7:\n        \
                 found = row  # not executed\nassert found\n";
    last(found, &["==", "get()", "rows()"]);
    let kept = "kept = []\nfor row in lib.rows():\n    if row.bad():\n        continue\n    \
                kept.append(row)  # not executed\nassert kept\n";
    last(kept, &["bad()", "not filled", "rows()"]);
    let failed = "failed = False\ntry:\n    lib.run()\nexcept E:\n    failed = True  # not \
                  executed\nassert failed\n";
    last(failed, &["run() alone"]);
    let seen = "class A:\n    def look(self, x):\n        if lib.fits(x):\n            self.seen \
                = x  # not executed\na = A()\na.look(1)\nassert a.seen\n";
    last(seen, &["fits()"]);
    let in_loop = |text: &str| {
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        let evidence = crate::testing::evidence(text);
        missed(&Program::parse(text).unwrap(), &site, &evidence)
    };
    let deciding = ["==", "get()", "rows()"].map(str::to_owned);
    assert_eq!(in_loop(found), [deciding.into()]);
    assert_eq!(in_loop(seen), [Operations::new()]);
    let last_one = "for row in lib.rows():\n    found = row.get('id') == 7\nassert found\n";
    assert_eq!(in_loop(last_one), [Operations::new()]);
    // What nobody called, nothing kept from being reached.
    let other = "found = None\ndef later():\n    global found\n    found = lib.f()  # not \
                 executed\nassert found\n";
    last(other, &[]);
}

#[test]
fn what_a_loop_repeats_does_not_rest_on_it() {
    let last = |text: &str, expected: &[&str]| {
        let frames = vec![text.lines().count() as u32];
        let program = Program::parse(text).unwrap();
        let found = flow(&program, &ReportSite::Raised(frames), None);
        let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
        assert_eq!(found, expected, "{text}");
    };
    last(
        "for x in lib.f():\n    y = x.g()\nassert y\n",
        &["f()", "g()"],
    );
    last("for x in lib.f():\n    y = lib.g()\nassert y\n", &["g()"]);
}

#[test]
fn deleting_a_part_changes_the_whole() {
    for (deleted, expected) in [
        ("del x.a", &["del", "make()"] as &[&str]),
        ("del x['a']", &["del", "make()"]),
        ("del y", &["make()"]),
    ] {
        let text = format!("import lib\nx = y = lib.make(a=1)\n{deleted}\nassert x\n");
        check(&text, &ReportSite::Raised(vec![4]), expected);
    }
}

#[test]
fn a_part_of_a_tensor_is_overwritten() {
    let of_change = |change: &str, expected: &[&str]| {
        let text = format!("import torch\nx = torch.ones(3)\n{change}\nassert x.sum() > 1\n");
        let last = text.lines().count() as u32;
        check(&text, &ReportSite::Raised(vec![last]), expected);
    };
    of_change(
        "x[2].fill_(5)",
        &[">", "[].fill_() alone", "ones()", "sum()"],
    );
    of_change("x.fill_(5)", &[">", "fill_() alone", "ones()", "sum()"]);
    of_change("y = x[2].tolist()", &[">", "ones()", "sum()"]);
}

#[test]
fn packages_read_the_annotations_of_fields() {
    let of_field = |base: &str, annotation: &str, expected: &[&str]| {
        let text = format!(
            "from lib import Model\nclass Base({base}): pass\nclass A: pass\nclass B: pass\n\
             class H(Base):\n    x: {annotation}\nassert isinstance(H(x=A()).x, A)\n"
        );
        check(&text, &ReportSite::Raised(vec![7]), expected);
    };
    of_field("object", "B | A", &["class", "isinstance()"]);
    let all = ["class", "field: A", "isinstance()", "|"];
    of_field("Model", "B | A", &all);
    of_field("Model", "B", &["class", "isinstance()"]);
    let all = ["List[]", "class", "field: A", "isinstance()"];
    of_field("Model", "List[A]", &all);
}

#[test]
fn what_an_assertion_rests_on() {
    let last = |text: &str, expected: &[&str]| {
        check(
            text,
            &ReportSite::Raised(vec![text.lines().count() as u32]),
            expected,
        );
    };
    last(
        "x = round(1.5)\nassert x == 2, str(x)\n",
        &["==", "round()"],
    );
    last("assert False\n", &[]);
    last("assert open('a')[:]\n", &["open()"]);
    last(
        "x = 2\ny = -x\nassert open('a') < 1 - x - y\n",
        &["<", "open()"],
    );
    last("x = 2\nx = f(x)\nassert 1 - x\n", &["-", "f()"]);
    last(
        "from torch import nn, optim\nm = nn.Linear(1, 1)\no = optim.SGD(m.parameters())\n\
         m(x).sum().backward()\no.step()\nassert m.bias\n",
        &[
            "Linear()",
            "SGD()",
            "backward() alone",
            "parameters()",
            "step() alone",
            "sum()",
        ],
    );
    last(
        "class M:\n    def __call__(self, y): self.n = y\nm = M()\nm(abs(2))\nassert m.n\n",
        &["abs()", "object() alone"],
    );
    last(
        "class M:\n    def on(self): return self\n    def __call__(self, y): self.n = y\n\
         m = M()\nm.on()(abs(2))\nassert m.n\n",
        &["abs()", "object() alone"],
    );
    last(
        "from threading import Thread\nx = []\nt = Thread(target=f, args=(x,))\nt.start()\nassert x\n",
        &["Thread()", "start() alone"],
    );
    last(
        "from torch import nn, optim\nm = nn.Linear(1, 1)\no = optim.SGD(m.parameters())\n\
         assert m.bias\n",
        &["Linear()"],
    );
    last(
        "y = abs(2)\ny.backward()\nassert y.grad\n",
        &["abs()", "backward() alone"],
    );
    let tried = "try:\n    y = round(1.5)\nexcept ValueError:\n    ";
    last(
        &format!("{tried}pass\nelse:\n    assert False\n"),
        &["round()"],
    );
    last(&format!("{tried}assert False\n"), &[]);
    let reached = "try:\n    round(1.5)\n    assert False\n";
    let handled = format!("{reached}except ValueError: pass\n");
    check(&handled, &ReportSite::Raised(vec![3]), &["round() alone"]);
    last(&format!("{tried}pass\nassert False\n"), &["after round()"]);
    last(
        "def f(x): return sorted(x)[1:]\ny = open('a')\nassert f([1])\n",
        &["[:]", "sorted()"],
    );
    last(
        "rows = []\nrows.append(1)\nlog = len(rows)\nassert rows\n",
        &["append() alone"],
    );
    last(
        "x = 0\nx += 1\nfor y in zip(x):\n    assert y\n",
        &["+", "zip()"],
    );
    last(
        "class A:\n    def __init__(self): self.x = max(1)\n    def f(self): return self.x * 2\nassert A().f() < 3\n",
        &["*", "<", "max()"],
    );
}

#[test]
fn what_functions_change_in_their_arguments_counts() {
    let last = |text: &str, expected: &[&str]| {
        let line = text.lines().count() as u32;
        check(text, &ReportSite::Raised(vec![line]), expected);
    };
    let refresh =
        "def refresh(model, weights):\n    missing = model.load_all(weights)\n    return missing\n";
    last(
        &format!("{refresh}m = make()\nrefresh(m, read())\nassert m(1) > 2\n"),
        &[">", "load_all() alone", "make()", "read()"],
    );
    last(
        &format!("{refresh}def again(m):\n    refresh(m, 1)\nm = make()\nagain(m)\nassert m\n"),
        &["load_all() alone", "make()"],
    );
    last(
        "def show(model):\n    print(model.size())\nm = make()\nshow(m)\nassert m\n",
        &["make()"],
    );
}

#[test]
fn a_result_that_is_used_is_not_one_that_is_dropped() {
    let of = |text: &str| {
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        operations(&Program::parse(text).unwrap(), &site, None).remove(0)
    };
    let used = of("a = read()\na = a.union(b)\nassert a\n");
    let dropped = of("a = read()\na.union(b)\nassert a\n");
    assert!(include(&used, &dropped) && !include(&dropped, &used));
    let changed = of("a = read()\nc = a.update(b)\nassert a\n");
    assert!(include(
        &of("a = read()\na.update(b)\nassert a\n"),
        &changed
    ));
}

#[test]
fn what_is_passed_to_a_constructor_counts() {
    let text = "class Form:\n    def __call__(self, x):\n        return join(x)\nclass Check:\n    def __init__(self, form):\n        self.form = form\n    def run(self, x):\n        if self.form(x) != x:\n            print('wrong form')\nCheck(Form()).run('a')\n";
    let site = ReportSite::Words(["wrong".to_owned()].into());
    check(text, &site, &["!=", "join()", "print()"]);
    let text = "@dataclass\nclass Form:\n    x: int\n    def ok(self):\n        return self.x\nForm(read())\nhash(Form(2).ok())\nassert Form(abs(1)).ok()\n";
    let site = ReportSite::Raised(vec![8]);
    check(text, &site, &["abs()", "read()"]);
}

#[test]
fn what_a_command_line_gives_is_as_good_as_a_constant() {
    let text = "class A:\n    x: list = field()\nn = ArgumentParser().parse_args().n\na = A()\nassert hash(n) == a.x\n";
    check(text, &ReportSite::Raised(vec![5]), &["==", "hash()"]);
}

#[test]
fn what_a_raise_rests_on() {
    let tried = "def f(x):\n    try:\n        int(x)\n    except ValueError:\n        return\n    raise TypeError\nf(1)\n";
    check(tried, &ReportSite::Raised(vec![7, 6]), &["int() alone"]);
    let text = "def f(x):\n    if x < 1:\n        return\n    raise ValueError(str(x))\ny = abs(2)\nf(y)\n";
    check(text, &ReportSite::Raised(vec![6, 4]), &["<", "abs()"]);
    // Nothing decides but what it says.
    let text = "raise ValueError(str(1))\n";
    check(text, &ReportSite::Raised(vec![1]), &["str()"]);
    let text = "import sys\ny = abs(2)\nif y > 3:\n    sys.exit('no')\nprint('wrong')\n";
    let site = ReportSite::Words(["wrong".to_owned()].into());
    check(text, &site, &[">", "abs()", "print()"]);
}

#[test]
fn what_a_context_holds_rests_on_what_runs_in_it() {
    let text = "with lib.profile() as p:\n    y = x.t()\n    y.f(abs(1))\nassert p.events()\n";
    let site = ReportSite::Raised(vec![4]);
    check(
        text,
        &site,
        &["abs()", "events()", "f() alone", "profile()", "t()"],
    );
    let within = "with open('a') as p:\n    y = abs(1)\n    z = p.read()\nassert z\n";
    check(within, &site, &["open()", "read()"]);
}

#[test]
fn what_nothing_decides_rests_on_its_way() {
    let words = ReportSite::Words(["wrong".to_owned()].into());
    let called = "from lib import Base\nclass A(Base):\n    def __init__(self, x):\n        self.x = x\n    \
                  def on(self, y):\n        print(f'wrong {self.x}')\nA(1).send('on')\n";
    let way = ["called by others", "given self", "print()"];
    check(called, &words, &way);
    let written = called.replace("self.x}", "1}");
    check(&written, &words, &["called by others", "print()"]);
    let by_itself = called.replace("send('on')", "on(1)");
    check(&by_itself, &words, &["print()"]);
    let computed = called.replace("self.x}", "abs(2)}");
    check(&computed, &words, &["abs()", "print()"]);
    let text = "async def f():\n    await lib.start()\n    print('on')\n    assert False\nasync def g():\n    \
                await lib.wait(f())\nlib.run(g())\n";
    let site = ReportSite::Raised(vec![7, 6, 4]);
    check(
        text,
        &site,
        &[
            "after await start()",
            "await",
            "through await wait()",
            "through run()",
        ],
    );
    let text = "try:\n    lib.start()\nexcept E:\n    print('wrong')\n";
    check(text, &words, &["print()"]);
    let text = "import lib, sys, warnings\nsys.path.append('a')\nlib.seed(1)\nwarnings.filterwarnings('error', \
                module='a')\nlib.f()\nraise E\n";
    let way = ["after f()", "before filterwarnings('error', module='a')"];
    check(text, &ReportSite::Raised(vec![6]), &way);
    let decided = text.replace("raise E", "assert lib.g()");
    let rest = ["f() alone", "g()", "seed() alone"];
    check(&decided, &ReportSite::Raised(vec![6]), &rest);
}

#[test]
fn what_words_and_exits_rest_on() {
    let words = |text: &str| ReportSite::Words(text.split(' ').map(str::to_owned).collect());
    let text = "import sys\nx = hash(1)\nif x > 0:\n    print('sum is wrong')\n    sys.exit(3)\nprint('sum')\n";
    check(text, &words("sum is wrong"), &[">", "hash()", "print()"]);
    check(text, &ReportSite::Exit, &[">", "exit()", "hash()"]);
    check(text, &words("other"), &[]);
}

#[test]
fn what_is_not_filled_could_have_been() {
    let of = |text: &str| {
        let evidence = evidence(text);
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        let found = operations(&Program::parse(text).unwrap(), &site, Some(&evidence));
        found
            .iter()
            .any(|operations| operations.contains("not filled"))
    };
    let text = "class A:\n    def __init__(self):\n        self.done = []\n    def f(self):\n        self.done.append(1)  # not executed\na = A()\na.f()\nassert a.done\n";
    assert!(of(text) && !of(&text.replace("  # not executed", "")));
    assert!(!of(&text.replace(
        "        self.done.append(1)  # not executed",
        "        pass"
    )));
    let text = "x = []\nif y:\n    x.append(1)  # not executed\nassert x\n";
    assert!(of(text) && !of(&text.replace("x = []", "x = f()")));
}

#[test]
fn a_command_line_that_is_written_is_computed_with() {
    let of = |line: &str| {
        let text = format!("p = ArgumentParser()\na = p.parse_args({line})\nassert a.x\n");
        let site = ReportSite::Raised(vec![3]);
        operations(&Program::parse(text.as_str()).unwrap(), &site, None).remove(0)
    };
    assert!(of("['-x']").contains("parse_args()") && of("").is_empty() && of("[]").is_empty());
}

#[test]
fn how_often_is_no_computation() {
    let last = |text: &str, expected: &[&str]| {
        let lines = text.lines().count() as u32;
        check(text, &ReportSite::Raised(vec![lines]), expected);
    };
    last(
        "import lib\nx = lib.f()\nfor _ in range(3):\n    x.step()\nassert x\n",
        &["f()", "step() alone"],
    );
    last(
        "import lib\nx = lib.f()\nfor i in range(3):\n    x.step(i)\nassert x\n",
        &["f()", "range()", "step() alone"],
    );
}
