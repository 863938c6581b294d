//! Reads what people write about when a bug shows: how often, in which versions it fails or works,
//! and on which devices alone. Pure.

use pep440_rs::Version;
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{Issue, blocks::own_words, versions::all_of_torch};
use crate::text::pattern;

/// The claims in an issue's posts about when its bug shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The bug shows only sometimes.
    pub chance: Option<ChanceClaim>,
    /// Versions that show the bug.
    pub fails_on: Vec<String>,
    /// Versions that do not.
    pub works_on: Vec<String>,
    /// All versions that are named as such, or in three numbers, except those that do not.
    #[serde(default)]
    pub named: Vec<String>,
    /// The words that tie the bug to a device.
    pub device: Option<String>,
    /// The words that mention a device, which the bug may need or not.
    #[serde(default)]
    pub mentioned: Option<String>,
    /// The words that show that several processes take part.
    #[serde(default)]
    pub processes: Option<String>,
    /// A command that starts the script with variables, options or arguments.
    #[serde(default)]
    pub command: Option<String>,
}

/// The words that say that a bug shows only sometimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChanceClaim {
    /// The words.
    pub words: String,
    /// The share of runs that show it, in percent, if they say so.
    pub percent: Option<u32>,
}

const NUMBER: &str = r"(\d{1,4}|once|one|two|three|four|five|six|seven|eight|nine|ten|twenty)";

pattern!(
    PERCENT,
    r"(?i)\b(\d{1,2})(?:\.\d+)? ?%\s+(?:of (?:the |all |my )?)?(?:time|times|runs?|cases|attempts|tries|executions|chance|probability|failure)\b|\b(?:fail|crash|hang|happen|occur|reproduc)\w*\s+(?:in |at |about |around |roughly |approximately |~){0,3}(\d{1,2})(?:\.\d+)? ?%"
);
pattern!(
    SHARE,
    &format!(
        r"(?i)\b{NUMBER}\s*(?:times?\s+)?(?:out of|in|of|/)\s*(?:every |each |about |the )?{NUMBER}\s+(?:\w+\s+)?(?:runs?|times|tries|attempts|executions|iterations|cases|launches)\b"
    )
);
pattern!(
    SOMETIMES,
    r"(?i)\bsome ?times\b|\b(?:run|try|repeat)\w* (?:\w+ ){0,3}(?:multiple|several|many|a few|a couple of) times\b|\brun\w* (?:this|the) (?:code|script|program|snippet) (?:twice|again)\b|\bintermittent\w*|\boccasional\w*|\bflak[yi]\w*|\bnon-?determinis\w+|\bnot (?:always|every time|every run|consistent\w*|deterministic\w*)\b|\bsporadic\w*|\brace condition\b|\b(?:from time to time|now and then|once in a while)\b|\brandomly\s+(?:fail|crash|hang|give|return|produc|rais|throw)\w*|\b(?:fails|crashes|hangs|happens|occurs) (?:randomly|at random|rarely)\b|\bhash ?seed\b|\bdepend\w* on the (?:random )?seed\b"
);
// A word of success or failure, then the versions that follow it in the same sentence.
pattern!(
    VERDICT,
    r"(?i)\b(still|also)?\s*(?:(works?|worked|working|passes|passed|fine|correct|ok|good|not (?:affected|reproducible)|(?:does(?:n't| not)|did(?:n't| not)|no longer|can(?:'t|not)) (?:fail|crash|happen|repro\w*|occur|show))|(fails?|failed|failing|crash\w*|broken|breaks?|bug|errors?|happens|occurs|repro(?:s|duc\w*)?|regress\w*|affected|present|seen|see|get|hang\w*))\b"
);
pattern!(
    NUMBERED,
    r"(?i)\b(?:(?:py)?torch|versions?|release|v|on|in|with|since|from|until|before|and|to)\s*(?:==|=|:)?\s*v?(\d+\.\d+(?:\.\d+)?(?:\.?(?:dev|a|b|rc|post)\d+)?)"
);
pattern!(
    OTHER_PACKAGE,
    r"(?i)(?:python|cuda|cudnn|rocm|ubuntu|numpy|triton|gcc|clang|transformers|driver|torchvision|nccl|mkl|macos|ios|windows|linux|wsl|openmp|glibc)\s*(?:version|==|=|:)?\s*v?$"
);
pattern!(
    DEVICE,
    r"(?i)\b(?:only|just|solely|specific(?:ally)?)\b[^.\n]{0,30}\b(?:cuda|gpus?|mps|rocm|hip|xpu|tpu|a100|h100|v100|rtx ?\d+|multi-?gpu)\b|\b(?:cuda|gpu|mps|rocm|xpu)[- ](?:only|specific)\b|\b(?:works?|passes|fine|correct|no (?:error|issue|problem))\b[^.\n]{0,20}\bon (?:the )?cpu\b|\bcpu\b[^.\n,;]{0,20}\b(?:works|fine|ok|correct|right|succeeds|passes)\b"
);
pattern!(
    DEVICE_OPTION,
    r"--(?:device|accelerator)[ =](?:cuda|gpu|mps|xpu)\b"
);
pattern!(
    ON_DEVICE,
    r"(?i)\b(?:on|with|using|to|via) (?:the |a |an |my |our )?(?:\w+ )?(?:gpus?|cuda|mps|rocm|xpu)\b"
);
// Both devices are named as alike.
pattern!(
    ON_BOTH,
    r"(?i)\b(?:gpus?|cuda)\s*(?:and|or|&|/|as well as)\s*(?:the |on )*cpu\b|\bcpu\s*(?:and|or|&|/|as well as)\s*(?:the |on )*(?:gpus?|cuda)\b"
);
pattern!(
    PROCESSES,
    r"(?im)^\s*\[rank[1-9]\d*\]|\b(?:torchrun|torch\.distributed\.(?:run|launch)|mpirun|mpiexec|srun|accelerate launch|deepspeed)\s[^\n`]*"
);
pattern!(ONE_PROCESS, r"--nproc[-_]per[-_]node[ =]1\b|-np? 1\b");
// What precedes or follows the script in a command line changes the run.
pattern!(
    COMMAND,
    r"(?m)\b(?:[A-Z][A-Z0-9_]*=\S+\s+)+python[\d.]*\s+[^\n`]*\.py\b[^\n`]*|\bpython[\d.]*\s+-[^\n`]*\.py\b[^\n`]*|\bpython[\d.]*\s+\S+\.py\s+[-\w][^\n`]*|\bpytest\s+-[^\n`]*"
);
pattern!(
    IN_THREE_NUMBERS,
    r"(?:^|[\s(`|*~v=])(\d+\.\d+\.\d+(?:\.?(?:dev|a|b|rc|post)\d+)?)\b"
);
// `CMake version: 3.25.0`
pattern!(OF_A_LIST, r"^[\s*-]*[A-Za-z][\w ().,-]*:\s");
pattern!(UPGRADED, r"(?i)\b(?:upgrad|updat|bump|mov|switch)\w*\b");
pattern!(
    DEVICE_IN_TITLE,
    r"(?i)\b(?:cuda|gpus?|mps|rocm|xpu|tpu|xla|hpu|npu|a100|h100|nccl|triton)\b"
);

/// Reads the posts of an issue, except those of programs.
pub fn claims(issue: &Issue) -> Claims {
    let first = |pattern: &Regex, text: &str| {
        let words = pattern.find(text)?.as_str().trim();
        Some(words.to_owned())
    };
    let mut found = Claims {
        mentioned: first(&DEVICE_IN_TITLE, &issue.title),
        ..Claims::default()
    };
    for post in issue.posts().filter(|post| !post.is_bot) {
        found.named.extend(all_of_torch(&post.body));
        found.device = found.device.or_else(|| first(&DEVICE_OPTION, &post.body));
        found.processes = found
            .processes
            .or_else(|| first(&PROCESSES, &post.body).filter(|words| !ONE_PROCESS.is_match(words)));
        found.command = found.command.or_else(|| first(&COMMAND, &post.body));
    }
    let posts = issue.posts().filter(|post| !post.is_bot);
    let texts = std::iter::once(issue.title.clone()).chain(posts.map(|post| own_words(&post.body)));
    for text in texts {
        found.chance = match (found.chance.take(), chance(&text)) {
            // The rarest asks for the most runs.
            (Some(known), Some(new)) => {
                let rate = |claim: &ChanceClaim| claim.percent.unwrap_or(u32::MAX);
                Some(if rate(&new) < rate(&known) {
                    new
                } else {
                    known
                })
            }
            (known, new) => known.or(new),
        };
        found.device = found.device.or_else(|| first(&DEVICE, &text));
        if found.mentioned.is_none() && !ON_BOTH.is_match(&text) {
            found.mentioned = first(&ON_DEVICE, &text);
        }
        read_versions(&text, &mut found);
        found.named.extend(all_of_torch(&text));
        found.named.extend(in_three_numbers(&text));
    }
    let works_on = found.works_on.clone();
    found.named.retain(|version| !works_on.contains(version));
    for versions in [&mut found.fails_on, &mut found.works_on, &mut found.named] {
        versions.sort();
        versions.dedup();
    }
    found
}

fn chance(text: &str) -> Option<ChanceClaim> {
    let claim = |words: &str, percent| {
        Some(ChanceClaim {
            words: words.trim().to_owned(),
            percent,
        })
    };
    if let Some(found) = PERCENT.captures(text)
        && let Some(percent) = found.get(1).or_else(|| found.get(2))
        && let Ok(percent) = percent.as_str().parse::<u32>()
    {
        // Below one percent, no number of runs that is worth its time says anything.
        return claim(&found[0], (percent > 0).then_some(percent));
    }
    if let Some(found) = SHARE.captures(text)
        && let (Some(some), Some(of)) = (number(&found[1]), number(&found[2]))
        && (1..of).contains(&some)
    {
        let percent = some * 100 / of;
        return claim(&found[0], (percent > 0).then_some(percent));
    }
    SOMETIMES
        .find(text)
        .and_then(|found| claim(found.as_str(), None))
}

fn number(word: &str) -> Option<u32> {
    const WORDS: &[&str] = &[
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let word = word.to_lowercase();
    match word.as_str() {
        "once" => Some(1),
        "twenty" => Some(20),
        _ => WORDS
            .iter()
            .position(|known| *known == word)
            .map(|at| at as u32 + 1)
            .or_else(|| word.parse().ok()),
    }
}

/// Adds the versions that each sentence names after a word of success or failure.
fn read_versions(text: &str, found: &mut Claims) {
    let lines = text.lines().flat_map(|line| line.split(". "));
    for sentence in lines.flat_map(|line| line.split([';', '!', '?'])) {
        let verdicts: Vec<(usize, bool)> = VERDICT
            .captures_iter(sentence)
            .filter_map(|found| Some((found.get(0)?.start(), found.get(2).is_some())))
            .collect();
        let numbers = NUMBERED.captures_iter(sentence).filter_map(|found| {
            let number = found.get(1)?;
            let is_other = OTHER_PACKAGE.is_match(&sentence[..number.start()]);
            (!is_other).then(|| (number.start(), number.as_str().to_owned()))
        });
        for (at, number) in numbers {
            // The verdict before a version is about it; at the beginning of a sentence, the next.
            let verdict = verdicts
                .iter()
                .rfind(|(start, _)| *start < at)
                .or_else(|| verdicts.first());
            // Without a verdict, a version that people have changed to is the one they report.
            let works = match verdict {
                Some((_, works)) => *works,
                None if UPGRADED.is_match(sentence) => false,
                None => continue,
            };
            if parsed(&number).is_none() {
                continue;
            }
            if works {
                found.works_on.push(number);
            } else {
                found.fails_on.push(number);
            }
        }
    }
}

/// Numbers in the form of a release that are not said to be those of another package.
fn in_three_numbers(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| !OF_A_LIST.is_match(line));
    lines.flat_map(|line| {
        let found = IN_THREE_NUMBERS.captures_iter(line);
        found.filter_map(|found| {
            let number = found.get(1)?;
            let is_other = OTHER_PACKAGE.is_match(&line[..number.start()]);
            (!is_other).then(|| number.as_str().to_owned())
        })
    })
}

/// A version without its build, for comparisons; none for a text that is not a version.
pub fn parsed(text: &str) -> Option<Version> {
    let plain = text.split('+').next().unwrap_or(text).trim();
    let plain = plain.split("git").next().unwrap_or(plain);
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_in_all_their_forms() {
        for (text, percent) in [
            ("It fails in about 5% of the runs.", Some(Some(5))),
            ("This fails roughly 40 % of the time", Some(Some(40))),
            ("crashes ~30% on my machine", Some(Some(30))),
            ("1 in 10 runs fails", Some(Some(10))),
            ("fails 3 out of 5 times", Some(Some(60))),
            ("3/10 runs", Some(Some(30))),
            ("one out of twenty tries", Some(Some(5))),
            ("It fails only sometimes", Some(None)),
            ("the test is flaky", Some(None)),
            ("crashes randomly", Some(None)),
            ("you may need to run this code several times", Some(None)),
            ("the result is not deterministic", Some(None)),
            ("5% slower than before", None),
            ("fills a tensor randomly", None),
            ("two of the tensors", None),
        ] {
            assert_eq!(
                chance(text).map(|claim| claim.percent),
                percent,
                "{text}: {:?}",
                chance(text)
            );
        }
    }

    #[test]
    fn versions_are_read_with_their_verdicts() {
        for (text, fails, works) in [
            (
                "It fails on torch 10.1 and works on 9.9.9.",
                vec!["10.1"],
                vec!["9.9.9"],
            ),
            (
                "Works fine in 2.5.1, but crashes with PyTorch 2.6.0",
                vec!["2.6.0"],
                vec!["2.5.1"],
            ),
            (
                "I can still reproduce this with 2.8.0",
                vec!["2.8.0"],
                vec![],
            ),
            ("no longer reproduces on 2.7", vec![], vec!["2.7"]),
            ("This is a regression from 2.4", vec!["2.4"], vec![]),
            ("I use Python 3.12 and it fails", vec![], vec![]),
            ("fails on Python 3.12", vec![], vec![]),
            ("fails with CUDA 12.4", vec![], vec![]),
            ("the loss is 2.5", vec![], vec![]),
        ] {
            let mut found = Claims::default();
            read_versions(text, &mut found);
            let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(
                (found.fails_on, found.works_on),
                (owned(fails), owned(works)),
                "{text}"
            );
        }
    }

    #[test]
    fn devices_are_read_where_the_bug_needs_them() {
        for (text, is_claim) in [
            ("It fails only on GPU", true),
            ("The same code works on CPU", true),
            ("a CUDA-only bug", true),
            ("I have a GPU", false),
            ("fails on CPU and GPU", false),
        ] {
            assert_eq!(DEVICE.is_match(text), is_claim, "{text}");
        }
    }
}
