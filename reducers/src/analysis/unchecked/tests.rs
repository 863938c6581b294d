//! What programs do that no run of them checks.

use super::*;

#[test]
fn constants_decide_and_stand_for_all() {
    let is = |check: fn(&Program) -> bool, text: &str| check(&Program::parse(text).unwrap());
    for text in [
        "x &= False\n",
        "y = x | True\n",
        "y = x or True\n",
        "y = False and x\n",
        "if None is not None: x\n",
        "y = x if not 0 else z\n",
    ] {
        assert!(is(asks_constants, text), "{text}");
    }
    for text in [
        "x &= y\n",
        "x |= False\n",
        "y = x or 'a'\n",
        "y = x and True\n",
        "if x is not None: y\n",
    ] {
        assert!(!is(asks_constants, text), "{text}");
    }
    assert!(is(repeats_a_constant, "sum(0 for x in y)\n"));
    assert!(!is(repeats_a_constant, "sum(x for x in y)\n"));
}

#[test]
fn what_is_computed_with_itself_or_made_of_nothing_is_known() {
    let is = |text: &str| computes_with_itself(&Program::parse(text).unwrap());
    assert!(is("y = x - x\n") && is("y = f(a.b / a.b)\n") && is("assert x == x\n"));
    assert!(!is("y = x + x\n") && !is("y = x - z\n") && !is("y = f() - f()\n"));
    assert!(!is("y = 1 - 1\n"));
    let is_of_nothing = |text: &str| makes_of_nothing(&Program::parse(text).unwrap());
    assert!(is_of_nothing("x = len(list())\n") && !is_of_nothing("x = list(y)\n"));
    assert!(is_of_nothing("x = y - len([])\n") && !is_of_nothing("x = len([y])\n"));
    assert!(!is_of_nothing("def list(): pass\nx = list()\n"));
}

#[test]
fn what_is_unpacked_takes_all_arguments() {
    let unpacks = |text: &str| unpacks_parameters(&Program::parse(text).unwrap());
    assert!(unpacks("def f(self, args):\n    self.g(*args)\n"));
    assert!(unpacks("def f(x, kwargs):\n    g(x, **kwargs)\n"));
    assert!(!unpacks(
        "def f(*args, **kwargs):\n    g(*args, **kwargs)\n"
    ));
    assert!(!unpacks("def f(x):\n    g(*h(x))\n"));
}

#[test]
fn loops_change_what_they_wait_for() {
    let unchanged = |text: &str| loops_unchanged(&Program::parse(text).unwrap());
    assert!(unchanged("while a.b != c:\n    yield\n"));
    assert!(unchanged("while x < 3:\n    y += 1\n"));
    for text in [
        "while x < 3:\n    x += 1\n",
        "while a.b < 3:\n    a.b = c\n",
        "while x:\n    x.pop()\n",
        "while f(x):\n    pass\n",
        "while True:\n    yield\n",
    ] {
        assert!(!unchanged(text), "{text}");
    }
}

#[test]
fn coroutines_are_awaited_or_handed_on() {
    let leaves = |text: &str| leaves_coroutines(&Program::parse(text).unwrap());
    assert!(leaves("async def f(): pass\nf()\n"));
    assert!(!leaves("async def f(): pass\ng(f())\n"));
    assert!(leaves("async def f(): pass\nx = f()\n"));
    assert!(!leaves("async def f(): pass\nx = f()\ng(x)\n"));
    assert!(!leaves("def f(): pass\nf()\n"));
    assert!(!leaves(
        "import asyncio\nclass A:\n    async def run(self): pass\nasyncio.run(g())\n"
    ));
    assert!(!leaves("async def f():\n    await f()\n"));
}

#[test]
fn a_lock_that_is_made_for_one_block_is_no_lock() {
    let holds = |text: &str| holds_own_lock(&Program::parse(text).unwrap());
    assert!(holds("import threading\nwith threading.Lock():\n    f()\n"));
    assert!(holds(
        "from asyncio import Semaphore as S\nasync def f():\n    async with S(2):\n        g()\n"
    ));
    assert!(!holds(
        "import threading\nlock = threading.Lock()\nwith lock:\n    f()\n"
    ));
    assert!(!holds("with open('a'), Lock():\n    f()\n"));
}

#[track_caller]
fn check(is_so: fn(&Program) -> bool, expected: bool, texts: &[&str]) {
    for text in texts {
        let program = Program::parse(*text).unwrap();
        assert_eq!(is_so(&program), expected, "{text}");
    }
}

#[test]
fn conditions_may_be_constants() {
    let odd = [
        "if 0:\n    f()\n",
        "if x:\n    f()\nelif None:\n    g()\n",
        "x = 1 if '' else 2\n",
    ];
    check(asks_constants, true, &odd);
    let usual = [
        "while True:\n    f(0 if x else 1)\n",
        "if [0]:\n    f()\nelse:\n    g()\n",
    ];
    check(asks_constants, false, &usual);
}

#[test]
fn constants_may_be_called() {
    let odd = [
        "None()\n",
        "n, f = (0, 0)\nx[n] = f(x[n])\n",
        "f = g = 'text'\ndef h(): f()\n",
    ];
    check(calls_constants, true, &odd);
    let usual = [
        "f = None\nif f: f()\n",
        "f = 0\ndef g(f): f()\n",
        "n, f = (0, g)\nf(n)\n",
        "f = 0\nf = g\nf()\n",
        "for f in x: f()\n",
    ];
    check(calls_constants, false, &usual);
}

#[test]
fn one_key_may_stand_for_all() {
    let odd = [
        "{'id': row for row in rows}\n",
        "{y: 0 for x in rows for _ in x}\n",
        "{0 for row in rows}\n",
    ];
    check(repeats_a_key, true, &odd);
    let usual = [
        "{row['id']: row for row in rows}\n",
        "{a: 0 for (a, *b) in rows}\n",
        "{next(ids): row for row in rows}\n[0 for row in rows]\n",
    ];
    check(repeats_a_key, false, &usual);
}

#[test]
fn handlers_may_name_an_exception() {
    let odd = [
        "try: f()\nexcept: g()\n",
        "try: f()\nexcept Exception as e: g()\n",
    ];
    check(handles_anything, true, &odd);
    let usual = [
        "try: f()\nexcept ValueError: g()\n",
        "try: f()\nexcept (KeyError, lib.Exception): g()\n",
    ];
    check(handles_anything, false, &usual);
}

#[test]
fn formats_may_have_other_places() {
    let odd = [
        "log.info('%s of %s', x)\n",
        "log.error('100 %% of', x)\n",
        "self.log.warning('%s', x, y)\n",
    ];
    check(logs_wrongly, true, &odd);
    let usual = [
        "log.info('%s')\nlog.info('%s: 5 %% of %.2f', x, y)\n",
        "log.info('%(a)s', x, y)\nlog.info('%s', *x)\nprint('%s', x, y)\n",
    ];
    check(logs_wrongly, false, &usual);
}

#[test]
fn threads_may_run_on() {
    let started = "import threading\nt = threading.Thread(target=f)\nt.start()\n";
    check(waits_for_no_thread, true, &[started]);
    let usual = [&format!("{started}t.join()\n"), "import lib\nt.start()\n"];
    check(waits_for_no_thread, false, &usual);
}

#[test]
fn what_is_awaited_may_be_plain() {
    check(
        awaits_nothing,
        true,
        &["class A:\n    def __aexit__(self, *_): f()\n"],
    );
    let usual = [
        "class A:\n    async def __aexit__(self, *_): f()\n    def __aiter__(self): f()\n",
        "class A:\n    def __anext__(self): return f()\n",
    ];
    check(awaits_nothing, false, &usual);
}

#[test]
fn calls_may_lack_arguments() {
    let odd = ["raise TypeError(type())\n", "isinstance(x)\n"];
    check(calls_with_too_little, true, &odd);
    let usual = [
        "len(*x)\nhash(**x)\ntype(x)\nx.type()\n",
        "def type(): pass\ntype()\n",
    ];
    check(calls_with_too_little, false, &usual);
}
