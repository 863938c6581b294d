//! The runner on real children: it reports what they do, removes what they leave, and stops what
//! they may not do.

mod hostile;
mod python;
mod tracing;
mod warm;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use minrepro::runner::{
    Allowed, Command, Confinement, Covered, End, Inherited, Interpreter, Job, Limits, Outcome,
    Priority, Resource, RunError, Runner, Sandbox, Setup, Start,
};

use crate::support::{processes_with, skip, snapshot};

struct Bench {
    folder: tempfile::TempDir,
    runner: Runner,
}

const LIMITS: Limits = Limits {
    memory: 600 << 20,
    processes: 60,
    file_size: 64 << 20,
    scratch: 96 << 20,
    output: 4096,
};

pub(crate) fn setup(folder: &Path, jobs: usize) -> Setup {
    let python = Interpreter::find(None).unwrap().path;
    Setup {
        input: None,
        command: Command::Python {
            python,
            args: vec!["one".into(), "two words".into()],
        },
        script: folder.join("script.py"),
        env: vec![("GIVEN".to_owned(), "yes".to_owned())],
        inherited: Inherited::Scrubbed,
        limits: LIMITS,
        jobs,
        sandbox: Sandbox::Auto,
        allowed: Allowed::default(),
        covered: Covered::default(),
        supervisor: env!("CARGO_BIN_EXE_minrepro").into(),
    }
}

impl Bench {
    fn new() -> Self {
        Self::with_siblings(&[])
    }

    fn with_siblings(siblings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in siblings {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::File::create(path)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        }
        let runner = Runner::start(setup(folder.path(), 4)).unwrap();
        Self { folder, runner }
    }

    fn run(&self, source: &str) -> Outcome {
        self.run_for(source, Duration::from_secs(20))
    }

    fn run_for(&self, source: &str, timeout: Duration) -> Outcome {
        let job = Job::new(source.as_bytes().into(), timeout);
        let outcomes = self.runner.run_all(&[job], &mut |_, _| {}).unwrap();
        outcomes.into_iter().next().unwrap()
    }
}

#[test]
fn a_run_is_reported_as_it_was() {
    let bench = Bench::new();
    let outcome = bench.run(
        "import sys, os\nprint(sys.argv[1:], os.environ['GIVEN'], __name__, \
         os.path.basename(__file__))\n\
         print('x' * 3, file=sys.stderr)\nassert sys.stdin.read() == ''\nsys.exit(7)\n",
    );
    assert_eq!(outcome.end, End::Exit(7));
    assert_eq!(
        outcome.stdout.head,
        "['one', 'two words'] yes __main__ script.py\n"
    );
    assert_eq!(outcome.stderr.head, "xxx\n");
    assert!(outcome.timing.wall > Duration::ZERO && outcome.timing.cpu > Duration::ZERO);
}

#[test]
fn signals_are_reported() {
    let outcome = Bench::new().run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n");
    assert_eq!(outcome.end, End::Signal(11));
    assert_eq!(outcome.end.shell_status(), Some(139));
}

#[test]
fn a_time_limit_ends_processes_that_ignore_term() {
    let bench = Bench::new();
    let outcome = bench.run_for(
        "import signal, time, os\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         if os.fork() == 0: pass\n\
         os.write(1, b'ready\\n')\nwhile True: time.sleep(60)\n",
        Duration::from_millis(700),
    );
    assert_eq!(outcome.end, End::Timeout);
    assert_eq!(outcome.stdout.head, "ready\nready\n");
}

#[test]
fn time_in_which_other_processes_have_the_processors_is_not_the_runs_own() {
    if !Path::new("/proc/self/schedstat").exists() {
        return skip(
            "runner on a busy machine",
            "this kernel does not count how long threads wait for a processor",
        );
    }
    let bench = Bench::new();
    let ended = AtomicBool::new(false);
    let busy = 8 * std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let works = "import time\nwhile time.process_time() < 1: pass\nprint('done')\n";
        for start in [Start::Cold, Start::Recorded, Start::Warm] {
            let job = Job::new(works.as_bytes().into(), Duration::from_secs(3));
            let outcomes = bench
                .runner
                .run_all(&[Job { start, ..job }], &mut |_, _| {});
            let outcome = outcomes.unwrap().remove(0);
            assert_eq!(outcome.end, End::Exit(0), "{start:?}: {:?}", outcome.timing);
        }
        ended.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_run_of_which_all_threads_wait_for_each_other_is_ended() {
    let bench = Bench::new();
    let run = |start: Start, source: &str| {
        let job = Job::new(source.as_bytes().into(), Duration::from_mins(5));
        let outcomes = bench
            .runner
            .run_all(&[Job { start, ..job }], &mut |_, _| {});
        outcomes.unwrap().remove(0)
    };
    let held_up = [
        "import threading\nthreading.Event().wait()\n",
        "import threading\nlock = threading.Lock()\nlock.acquire()\n\
         threading.Thread(target=lock.acquire).start()\n",
        "import asyncio\nasync def main():\n    await asyncio.Event().wait()\n\
         asyncio.run(main())\n",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import threading; \
         threading.Event().wait()'])\n",
        "import os\nread, write = os.pipe()\nos.read(read, 1)\n",
        "import multiprocessing\nmultiprocessing.Queue().get()\n",
    ];
    // Each is quiet for longer than a standstill takes to see.
    let goes_on = [
        "import time\ntime.sleep(1)\n",
        "import threading\nthreading.Event().wait(1)\n",
        "import asyncio\nasyncio.run(asyncio.sleep(1))\n",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; \
         time.sleep(1)'])\n",
        "import signal, sys, threading\nsignal.signal(signal.SIGALRM, lambda *_: sys.exit())\n\
         signal.alarm(1)\nthreading.Event().wait()\n",
        "import threading, time\nevent = threading.Event()\n\
         threading.Timer(1, event.set).start()\nevent.wait()\n",
    ];
    for start in [Start::Cold, Start::Recorded, Start::Warm] {
        for source in held_up {
            let outcome = run(start, source);
            assert_eq!(outcome.end, End::Timeout, "{source}: {outcome:?}");
            assert!(outcome.timing.stuck, "{source}: {outcome:?}");
            assert!(!outcome.stack.is_empty(), "{source}: {outcome:?}");
        }
        for source in goes_on {
            let outcome = run(start, source);
            assert_eq!(outcome.end, End::Exit(0), "{source}: {outcome:?}");
        }
    }
}

#[test]
fn idle_runs_are_ended_early() {
    let bench = Bench::new();
    let run = |start: Start, source: &str| {
        let job = Job::new(source.as_bytes().into(), Duration::from_mins(1));
        let job = Job {
            start,
            idle: Some(Duration::from_millis(600)),
            ..job
        };
        bench
            .runner
            .run_all(&[job], &mut |_, _| {})
            .unwrap()
            .remove(0)
    };
    let works = "import subprocess, sys\n\
         busy = 'import time; end = time.monotonic() + 2\\nwhile time.monotonic() < end: pass'\n\
         subprocess.run([sys.executable, '-c', busy])\nprint('done')\n";
    for start in [Start::Cold, Start::Recorded, Start::Warm] {
        let outcome = run(
            start,
            "import threading\nprint('ready', flush=True)\nthreading.Event().wait()\n",
        );
        assert_eq!(
            (outcome.end, outcome.stdout.head.as_str()),
            (End::Timeout, "ready\n")
        );
        assert!(
            outcome.timing.wall < Duration::from_secs(30),
            "{:?}",
            outcome.timing
        );
        assert_eq!(
            outcome.stack.last().map(|frame| frame.function.as_str()),
            Some("wait"),
            "{:?}",
            outcome.stack
        );
        let outcome = run(start, works);
        assert_eq!(
            (outcome.end, outcome.stdout.head.as_str()),
            (End::Exit(0), "done\n")
        );
    }
}

#[test]
fn the_time_of_an_ended_run_counts() {
    let outcome = Bench::new().run("x = []\nwhile True: x.append(bytearray(b'x' * (1 << 20)))\n");
    assert_eq!(outcome.end, End::Limit(Resource::Memory));
    assert!(
        outcome.timing.cpu > Duration::from_millis(50),
        "{:?}",
        outcome.timing
    );
}

#[test]
fn daemons_and_processes_that_leave_their_session_are_ended() {
    let bench = Bench::new();
    let marker = format!("minrepro-stray-{}", std::process::id());
    let outcome = bench.run(&format!(
        "import os, subprocess, sys, time\n\
         stay = [sys.executable, '-c', 'import time; time.sleep(600)', '{marker}']\n\
         subprocess.Popen(stay, start_new_session=True)\n\
         if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execv(stay[0], \
         stay)\n    os._exit(0)\n\
         os.wait()\nprint('done')\n",
    ));
    assert_eq!(
        (outcome.end, outcome.stdout.head.as_str()),
        (End::Exit(0), "done\n")
    );
    assert_eq!(processes_with(&marker), Vec::<String>::new());
}

#[test]
fn a_flood_of_output_is_drained_and_cut() {
    let bench = Bench::new();
    let outcome = bench.run(
        "import os\nblock = b'x' * (1 << 20)\nfor _ in range(10 << 10): os.write(1, block)\n\
         os.write(1, b'end')\n",
    );
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(outcome.stdout.total, (10 << 30) + 3);
    assert_eq!(outcome.stdout.head.len(), LIMITS.output);
    assert!(outcome.stdout.tail.ends_with("xend"));
}

#[test]
fn memory_without_end_is_ended() {
    let outcome = Bench::new().run("x = []\nwhile True: x.append(bytearray(b'x' * (8 << 20)))\n");
    assert_eq!(outcome.end, End::Limit(Resource::Memory));
}

#[test]
fn processes_without_end_are_ended() {
    let outcome = Bench::new().run(
        "import os, time\nfor _ in range(400):\n    if os.fork() == 0: time.sleep(600)\n\
         time.sleep(600)\n",
    );
    assert_eq!(outcome.end, End::Limit(Resource::Processes));
}

#[test]
fn a_fork_bomb_is_ended() {
    let marker = format!("bomb-{}", std::process::id());
    let bench = Bench::new();
    // Each child forks on and its parent goes away; the count in a file bounds it should the runner
    // fail.
    let outcome = bench.run(&format!(
        "import os\n'{marker}'\n\
         for _ in range(2000):\n    pid = os.fork()\n    if pid == 0: continue\n    if _ % 3: \
         os._exit(0)\nimport time; time.sleep(600)\n"
    ));
    assert!(
        matches!(outcome.end, End::Exit(0) | End::Limit(Resource::Processes)),
        "{:?}",
        outcome.end
    );
    assert_eq!(bench.run("print(1)").stdout.head, "1\n");
}

#[test]
fn a_full_scratch_folder_ends_the_run() {
    let bench = Bench::new();
    let outcome = bench.run(
        "import time\nfor n in range(100):\n    with open(f'f{n}', 'wb') as f: f.write(b'x' * (16 \
         << 20))\ntime.sleep(600)\n",
    );
    assert_eq!(outcome.end, End::Limit(Resource::Scratch));
}

#[test]
fn a_file_beyond_its_limit_fails_in_the_program() {
    let outcome =
        Bench::new().run("f = open('f', 'wb')\nfor _ in range(100): f.write(b'x' * (1 << 20))\n");
    assert_eq!(outcome.end, End::Exit(1));
    assert!(
        outcome
            .stderr
            .head
            .contains("OSError: [Errno 27] File too large"),
        "{}",
        outcome.stderr.head
    );
}

#[test]
fn output_that_stays_open_does_not_hold_the_run() {
    let started = Instant::now();
    let outcome = Bench::new()
        .run("import os, time\nprint('out', flush=True)\nif os.fork() == 0: time.sleep(600)\n");
    assert_eq!(
        (outcome.end, outcome.stdout.head.as_str()),
        (End::Exit(0), "out\n")
    );
    assert!(started.elapsed() < Duration::from_mins(1));
}

#[test]
fn siblings_are_there_and_the_users_folder_stays_as_it_is() {
    let large = "x".repeat(3 << 20);
    let bench = Bench::with_siblings(&[
        ("helper.py", "value = 42\n"),
        ("package/__init__.py", "from .inner import name\n"),
        ("package/inner.py", "name = 'inner'\n"),
        ("data.json", "{\"k\": 1}\n"),
        ("large.bin", &large),
    ]);
    let before = snapshot(bench.folder.path());
    let outcome = bench.run(
        "import helper, package, json, os\n\
         print(helper.value, package.name, json.load(open('data.json')), \
         os.path.getsize('large.bin'))\n\
         print(sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))))\n\
         open('data.json', 'w').write('changed')\nos.remove('helper.py')\n\
         open('new', 'w').write('new')\n\
         try:\n    open('large.bin', 'a').write('changed')\n    print('written')\n\
         except OSError: print('refused')\n",
    );
    assert_eq!(
        outcome.stdout.head,
        format!(
            "42 inner {{'k': 1}} {}\n\
             ['data.json', 'helper.py', 'large.bin', 'package', 'script.py']\nrefused\n",
            3 << 20
        ),
        "{}",
        outcome.stderr.head
    );
    assert_eq!(snapshot(bench.folder.path()), before);
    // The next run sees everything as it was.
    assert_eq!(
        bench.run("print(open('data.json').read())").stdout.head,
        "{\"k\": 1}\n\n"
    );
}

#[test]
fn nothing_outside_the_scratch_folder_can_be_written() {
    let bench = Bench::new();
    if matches!(
        bench.runner.confinement(),
        Confinement::Off | Confinement::Unavailable
    ) {
        return skip(
            "nothing_outside_the_scratch_folder_can_be_written",
            "nothing confines runs here",
        );
    }
    let target = tempfile::tempdir().unwrap();
    let existing = target.path().join("existing");
    fs::File::create(&existing)
        .unwrap()
        .write_all(b"mine")
        .unwrap();
    let outcome = bench.run(&format!(
        "import os, shutil\nroot = {:?}\n\
         def attempt(f, *a):\n    try: f(*a); print('done', f)\n    except OSError as e: pass\n\
         attempt(open, root + '/new', 'w')\nattempt(open, root + '/existing', 'a')\n\
         attempt(os.truncate, root + '/existing', 0)\n\
         attempt(os.remove, root + '/existing')\nattempt(os.mkdir, root + '/folder')\n\
         attempt(os.rename, root + '/existing', root + '/moved')\n\
         os.symlink(root + '/existing', 'link')\nattempt(open, 'link', 'w')\n\
         attempt(shutil.rmtree, root)\n\
         attempt(os.link, root + '/existing', 'hard')\n\
         open('own', 'w').write('x')\nimport tempfile\ntempfile.TemporaryFile().write(b'x')\n\
         open(os.devnull, 'w').write('x')\nprint('end')\n",
        target.path()
    ));
    assert_eq!(outcome.stdout.head, "end\n", "{}", outcome.stderr.head);
    assert_eq!(fs::read(&existing).unwrap(), b"mine");
}

// CUDA gives its threads names that way, and does not start where it cannot.
#[test]
fn threads_can_be_given_names() {
    let bench = Bench::new();
    if !bench.runner.confinement().is_whole() {
        return skip("threads_can_be_given_names", "no namespaces here");
    }
    let outcome = bench.run(
        "import os, threading\nwait = threading.Event()\n\
         thread = threading.Thread(target=wait.wait)\nthread.start()\n\
         path = '/proc/self/task/%d/comm' % thread.native_id\n\
         open(path, 'w').write('worker')\nprint(open(path).read())\nwait.set()\n\
         try: open('/proc/sys/kernel/hostname', 'w')\nexcept OSError: print('refused')\n",
    );
    assert_eq!(
        outcome.stdout.head, "worker\n\nrefused\n",
        "{}",
        outcome.stderr.head
    );
}

#[test]
fn scratch_folders_go_with_the_run_and_the_session() {
    let bench = Bench::new();
    let outcome = bench.run(
        "import os, tempfile\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\n\
         os.chmod('a/b', 0o500)\nos.chmod('a', 0)\n\
         print(os.getcwd())\n",
    );
    let work = PathBuf::from(outcome.stdout.head.trim());
    assert!(!work.exists());
    let session = work.parent().unwrap().parent().unwrap().to_owned();
    assert!(session.exists());
    drop(bench);
    assert!(!session.exists());
}

#[test]
fn many_runs_at_once_come_back_in_order() {
    let bench = Bench::new();
    let jobs: Vec<Job> = (0..12)
        .map(|n| {
            let source = format!("import time\ntime.sleep(0.0{})\nprint({n})\n", 9 - n % 9);
            Job::new(source.into_bytes().into(), Duration::from_secs(20))
        })
        .collect();
    let mut seen = Vec::new();
    let outcomes = bench
        .runner
        .run_all(&jobs, &mut |index, _| seen.push(index))
        .unwrap();
    for (n, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.stdout.head, format!("{n}\n"));
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..12).collect::<Vec<_>>());
}

#[test]
fn a_run_beside_the_others_takes_one_of_their_places() {
    let job = |source: &str| Job::new(source.as_bytes().into(), Duration::from_secs(20));
    for places in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let runner = Runner::start(setup(folder.path(), places)).unwrap();
        let now = "import time\nprint(time.monotonic())\n";
        let long = job(&format!("{now}time.sleep(1)\n{now}"));
        runner.begin(long.clone(), Priority::High);
        runner.begin(long.clone(), Priority::High);
        let others = runner
            .run_all(&[job(now), job(now)], &mut |_, _| {})
            .unwrap();
        let beside = runner
            .run_all(&[long.clone(), long], &mut |_, _| {})
            .unwrap();
        let times = |outcome: &Outcome| -> Vec<f64> {
            outcome
                .stdout
                .head
                .lines()
                .map(|line| line.parse().unwrap())
                .collect()
        };
        let end = times(&beside[0])[1];
        let before = others.iter().filter(|other| times(other)[0] < end).count();
        assert_eq!(before, if places == 1 { 0 } else { 2 }, "{places} places");
        // What was begun is one of the runs that are asked for, and not two.
        assert!(
            times(&beside[1])[0] >= times(&others[1])[0],
            "{places} places"
        );
    }
}

#[test]
fn background_runs_take_the_places_that_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner::start(setup(folder.path(), 2)).unwrap();
    let job = |n: u32| {
        let source = format!("import time\nprint(time.monotonic())\ntime.sleep(1)\nn = {n}\n");
        Job::new(source.into_bytes().into(), Duration::from_secs(20))
    };
    let starts = |numbers: &[u32]| -> Vec<f64> {
        let jobs: Vec<Job> = numbers.iter().map(|&n| job(n)).collect();
        let outcomes = runner.run_all(&jobs, &mut |_, _| {}).unwrap();
        outcomes
            .iter()
            .map(|outcome| outcome.stdout.head.trim().parse().unwrap())
            .collect()
    };
    runner.begin(job(0), Priority::Low);
    let others = starts(&[1, 2, 3]);
    let left = starts(&[0])[0];
    assert!(
        left >= others[0] + 1.0 && left < others[2] + 1.0,
        "{left} {others:?}"
    );
}

#[test]
fn a_deadline_ends_background_runs() {
    let bench = Bench::new();
    bench
        .runner
        .set_deadline(Some(Instant::now() + Duration::from_millis(500)));
    let job = Job::new(
        b"while True: pass".as_slice().into(),
        Duration::from_mins(10),
    );
    bench.runner.begin(job.clone(), Priority::High);
    assert!(matches!(
        bench.runner.run_all(&[job], &mut |_, _| {}),
        Err(RunError::Deadline)
    ));
}

#[test]
fn a_deadline_ends_all_runs() {
    let bench = Bench::new();
    let marker = format!("minrepro-late-{}", std::process::id());
    bench
        .runner
        .set_deadline(Some(Instant::now() + Duration::from_millis(500)));
    let source = format!("import time\n'{marker}'\ntime.sleep(600)\n");
    let job = Job::new(source.into_bytes().into(), Duration::from_mins(10));
    let result = bench.runner.run_all(&[job.clone(), job], &mut |_, _| {});
    assert!(matches!(result, Err(RunError::Deadline)));
    assert!(fs::read_dir(bench.folder.path()).unwrap().next().is_none());
}

#[test]
fn a_command_that_cannot_start_is_an_error_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup(folder.path(), 1);
    setup.command = Command::Test(vec!["/nonexistent/test".to_owned()]);
    let runner = Runner::start(setup).unwrap();
    let job = Job::new(b"".as_slice().into(), Duration::from_secs(5));
    let error = runner.run_all(&[job], &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/test"), "{error}");
}

#[test]
fn a_test_command_runs_beside_the_candidate_with_its_path_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup(folder.path(), 1);
    setup.command = Command::Test(
        [
            "sh",
            "-c",
            "grep -q needle script.py && test -f \"$1\"",
            "sh",
        ]
        .map(str::to_owned)
        .into(),
    );
    let runner = Runner::start(setup).unwrap();
    let job = |source: &str| Job::new(source.as_bytes().into(), Duration::from_secs(5));
    let outcomes = runner
        .run_all(&[job("needle"), job("hay")], &mut |_, _| {})
        .unwrap();
    assert_eq!(
        [outcomes[0].end, outcomes[1].end],
        [End::Exit(0), End::Exit(1)]
    );
}

#[test]
fn programs_that_are_no_interpreters_are_recognized() {
    let find = |path: &Path| Interpreter::find(Some(path));
    assert!(matches!(
        find(Path::new("/nonexistent/python")),
        Err(RunError::PythonNotFound(_))
    ));
    assert!(matches!(
        find(Path::new("no-such-python-anywhere")),
        Err(RunError::PythonNotFound(_))
    ));
    assert!(matches!(
        find(Path::new("/bin/false")),
        Err(RunError::PythonBroken { .. })
    ));
    assert!(matches!(
        find(Path::new("/etc/passwd")),
        Err(RunError::PythonBroken { .. })
    ));
    let found = Interpreter::find(None).unwrap();
    assert!(
        found.version >= (3, 8) && found.path.is_absolute() && found.description.contains("Python")
    );
    assert_eq!(found.identity, Interpreter::find(None).unwrap().identity);
}

#[test]
fn what_is_not_in_sight_counts_as_well() {
    let bench = Bench::new();
    let hold = "import os, mmap, time\ndef fill(fd, size):\n    for _ in range(size): os.write(fd, bytes(1 << 20))\n";
    for (what, resource) in [
        // Files that are removed while they are open.
        (
            "held = []\nfor n in range(4):\n    held.append(open('x', 'wb')); os.remove('x'); fill(held[-1].fileno(), 40)",
            Resource::Scratch,
        ),
        (
            "held = [os.memfd_create('x') for _ in range(20)]\nfor each in held: fill(each, 40)",
            Resource::Memory,
        ),
        (
            "held = mmap.mmap(-1, 900 << 20)\nfor at in range(0, 900 << 20, 4096): held[at] = 1",
            Resource::Memory,
        ),
        // The session's cache, which outlives the run.
        (
            "cache = os.environ['TORCHINDUCTOR_CACHE_DIR']\nos.makedirs(cache, exist_ok=True)\nfor n in range(3): fill(os.open(f'{cache}/{n}', os.O_CREAT | os.O_WRONLY), 40)",
            Resource::Scratch,
        ),
    ] {
        let outcome = bench.run(&format!("{hold}{what}\ntime.sleep(10)\n"));
        let said = outcome.stderr.text();
        assert_eq!(outcome.end, End::Limit(resource), "{what}\n{said}");
        let next = bench.run("import time\ntime.sleep(0.8)\nprint(1)");
        assert_eq!(next.stdout.text(), "1\n", "{what}");
    }
}
