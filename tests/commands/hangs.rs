//! Scripts that hang, and scripts that die without a word: what is left does so where they did.

use super::Place;

fn reduced(text: &str) -> (Place, String) {
    let place = Place::new();
    place.file("x.py", text);
    let output = place.run(&["x.py", "--signature", "timeout", "--report", "r.json"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result = place.read("x.min.py");
    (place, result)
}

#[test]
fn locks_that_two_threads_take_in_two_orders_stay_two() {
    let (place, result) = reduced(
        "import threading\n\nBARRIER = threading.Barrier(2)\n\n\
         def transfer(source, target, log):\n    with source:\n        BARRIER.wait()\n        \
         with target:\n            log.append('moved')\n\n\
         def main():\n    log = []\n    first, second = threading.Lock(), threading.Lock()\n    \
         pairs = [(first, second), (second, first)]\n    \
         threads = [threading.Thread(target=transfer, args=(a, b, log)) for a, b in pairs]\n    \
         for thread in threads:\n        thread.start()\n    \
         for thread in threads:\n        thread.join()\n    print(log)\n\nmain()\n",
    );
    // A barrier that nobody else comes to hangs, too, but it is not what the threads wait at.
    assert!(
        result.matches("with ").count() == 2 && result.matches("Lock()").count() == 2,
        "{result}"
    );
    assert!(!result.contains("log"), "{result}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let runs = report["runs"].as_u64().unwrap();
    assert!(runs < 300, "{runs}");
}

#[test]
fn a_worker_that_died_stays_where_its_work_is_waited_for() {
    let (_, result) = reduced(
        "import queue\nimport threading\n\nclass Worker(threading.Thread):\n    \
         def __init__(self, jobs):\n        super().__init__(daemon=True)\n        \
         self.jobs = jobs\n\n    def run(self):\n        while True:\n            \
         job = self.jobs.get()\n            print(10 // job)\n            \
         self.jobs.task_done()\n\njobs = queue.Queue()\nWorker(jobs).start()\n\
         for job in [5, 0, 2]:\n    jobs.put(job)\njobs.join()\nprint('done')\n",
    );
    assert!(
        result.contains("jobs.join()") && result.contains("// "),
        "{result}"
    );
    assert!(!result.contains("print('done')"), "{result}");
}

#[test]
fn a_script_that_does_not_end_in_time_may_show_a_hang() {
    let place = Place::new();
    place.file("x.py", "import time\nwhile True:\n    time.sleep(0.1)\n");
    let output = place.run(&["x.py", "--max-time", "2"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(
        told.contains("the script did not end before the time was up")
            && told.contains("`--signature timeout`"),
        "{told}"
    );
}

#[test]
fn a_death_without_a_dump_is_extracted() {
    let place = Place::new();
    let functions: String = (0..9)
        .map(|number| {
            format!(
                "def step_{number}(values):\n    values.append({number})\n    \
                 return [value + {number} for value in values]\n\n"
            )
        })
        .collect();
    let calls: String = (0..9)
        .map(|number| format!("    values = step_{number}(values)\n"))
        .collect();
    place.file(
        "x.py",
        format!(
            "import ctypes\nimport faulthandler\n\nfaulthandler.disable()\n\n{functions}\
             def read(address):\n    return ctypes.string_at(address)\n\ndef main():\n    \
             values = [0]\n{calls}    read(values[0] - values[0])\n\nmain()\n"
        ),
    );
    let output = place.run(&["x.py", "--signature", "signal:SIGSEGV", "--format", "jsonl"]);
    assert!(output.status.success(), "{output:?}");
    assert!(!place.read("x.min.py").contains("step_"));
    let events = String::from_utf8_lossy(&output.stdout).into_owned();
    let improvements: Vec<&str> = events
        .lines()
        .filter(|event| event.contains("\"improvement\""))
        .collect();
    assert!(
        improvements
            .iter()
            .take(2)
            .any(|event| event.contains("\"extract-")),
        "{improvements:?}"
    );
}

#[test]
fn a_loop_that_never_ends_goes_on_for_the_same_reason() {
    let place = Place::new();
    place.file(
        "x.py",
        "import math\n\nclass Ramp:\n    def __init__(self, gain):\n        self.gain = gain\n        \
         self.seen = []\n\n    def run(self, end):\n        at = 0.0\n        while at != end:\n            \
         if len(self.seen) < 9:\n                self.seen.append(self.gain * math.sqrt(at))\n            \
         at += 0.1\n        return max(self.seen)\n\nprint(Ramp(2.0).run(0.5))\nprint(Ramp(2.0).run(1.0))\n",
    );
    let output = place.run(&[
        "x.py",
        "--signature",
        "timeout",
        "--max-runs",
        "40",
        "--report",
        "r.json",
    ]);
    // However far it came, it is the loop of the script.
    let result = place.read("x.min.py");
    assert!(
        result.contains("at += 0.1") && result.contains("while at != "),
        "{result}"
    );
    assert!(!result.contains("math"), "{result}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let findings = report["truth"].to_string();
    assert!(
        findings.contains("its loop goes on for the same reason"),
        "{findings} {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
