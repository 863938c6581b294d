# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_minrepro_global_optspecs
    string join \n m/module= stdin= s/signature= control= good= min-rate= loose test= p/python= t/timeout= memory= env= sandbox= allow-network allow-write= runner= j/jobs= o/output= force max-time= max-runs= passes= keep= inline= report= emit-test= diff no-ablation format= no-journal q/quiet v/verbose color= h/help V/version
end

function __fish_minrepro_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_minrepro_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_minrepro_using_subcommand
    set -l cmd (__fish_minrepro_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c minrepro -n "__fish_minrepro_needs_command" -s m -l module -d 'Run this module, as `python -m` does, instead of a script' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l stdin -d 'Give each run this file as its standard input [default: nothing]' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -s s -l signature -d 'The signature of the bug; `minrepro --help` lists the forms [default: derived from the script\'s own failure]' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l control -d 'Reject candidates that also show the bug under this control [default: derived, such as the script without `torch.compile`]' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l good -d 'Require that candidates succeed in this other interpreter, such as one with a version without the bug; the script must succeed in it' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -l min-rate -d 'The share of runs that must show a flaky bug [default: a sixteenth of the script\'s own]' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l test -d 'An interestingness test: a command that exits with 0 if the candidate is interesting' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -s p -l python -d 'The interpreter [default: one that fits the script\'s metadata, else that of the project\'s `.venv`, else that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -s t -l timeout -d 'Time limit of each run in seconds [default: four times the slowest baseline run, at least 3 for candidates and 10 for other runs, at most 60]' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l memory -d 'Memory limit of each run with all its processes, such as 4G [default: 16G, or three quarters of the machine\'s memory]' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l env -d 'Set an environment variable in each run' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l sandbox -d 'Whether to keep runs from writing outside their scratch folders, using the network and reaching other processes' -r -f -a "auto\t'As far as this system allows'
require\t'In full, or fail'
off\t'Not at all'"
complete -c minrepro -n "__fish_minrepro_needs_command" -l allow-write -d 'Let confined runs write to this folder: each run gets a copy of its own, which is thrown away after it' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -l runner -d 'Whether to fork candidates from an interpreter that has already imported the script\'s modules' -r -f -a "auto\t'Warm if that shows the bug as well and saves time'
warm\t'Warm, or fail'
cold\t'Each in a fresh interpreter'"
complete -c minrepro -n "__fish_minrepro_needs_command" -s j -l jobs -d 'Runs at a time [default: the number of cores]; the result does not depend on it' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -s o -l output -d 'File for the result; `-` is standard output [default: NAME.min.py beside the script]' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -l max-time -d 'Stop after this time: 90, 10m, 1h30m' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l max-runs -d 'Stop after this many candidate runs' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l passes -d 'Use these passes only; `no-NAME` leaves one out' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l keep -d 'Reject candidates without this: a name in code, the text of the line with this number, or a match of a regular expression; may be given several times' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l inline -d 'Inline these of the script\'s modules: `local` (those that are not installed), also installed packages by their names, `all` (also every package of pure Python), or `none`' -r
complete -c minrepro -n "__fish_minrepro_needs_command" -l report -d 'Write a report: FILE.html, FILE.md or FILE.json; may be given several times' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -l emit-test -d 'Write the result as a unit test that fails because of the bug, in PyTorch\'s style if the script uses PyTorch' -r -F
complete -c minrepro -n "__fish_minrepro_needs_command" -l format -d 'How to print progress: for people, or as one JSON value per line on standard output' -r -f -a "human\t'For people'
jsonl\t'As JSON, one event per line'"
complete -c minrepro -n "__fish_minrepro_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_needs_command" -l loose -d 'Accept candidates with the same words, whatever raises them [default: only those that fail by the mechanism of the script\'s own failure]'
complete -c minrepro -n "__fish_minrepro_needs_command" -l allow-network -d 'Let confined runs use the network'
complete -c minrepro -n "__fish_minrepro_needs_command" -l force -d 'Replace files that minrepro did not write'
complete -c minrepro -n "__fish_minrepro_needs_command" -l diff -d 'Print the differences between the script and the result'
complete -c minrepro -n "__fish_minrepro_needs_command" -l no-ablation -d 'Skip the final ablation of devices, types, sizes, settings and variables'
complete -c minrepro -n "__fish_minrepro_needs_command" -l no-journal -d 'Neither read nor write a journal, so a rerun starts from the beginning'
complete -c minrepro -n "__fish_minrepro_needs_command" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_needs_command" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_needs_command" -s V -l version -d 'Print version'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "check" -d 'Run a script several times, and show the signature of its bug and how often it shows'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "scrub" -d 'Turn a GitHub issue into a minimized repro, a report and a comment'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "bisect" -d 'Find the version in which a bug appeared or disappeared'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "diagnose" -d 'Classify a failure of PyTorch: its component, its category, its line, where to look'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "review" -d 'List what a script does that a stranger\'s script should not do, without running it'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "triage" -d 'Suggest labels for an issue in PyTorch\'s distributed or compiler queue'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "stale" -d 'Find marks of tests, such as `expectedFailure`, that no longer hold'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "passes" -d 'List the reduction passes, or explain one'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "completions" -d 'Print a completion script for a shell'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "man" -d 'Print the manual page of minrepro, or of a verb'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "skill" -d 'Print a `SKILL.md` that tells a coding agent when and how to use minrepro'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "mcp" -d 'Serve coding agents over the Model Context Protocol on standard input and output'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "bench" -d 'Minimize every case of a corpus and print a table'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "corpus" -d 'Fetch the code of the historical issues that `bench --historical` minimizes'
complete -c minrepro -n "__fish_minrepro_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l format -d 'How to print the findings: for people, or as one JSON value per line on standard output' -r -f -a "human\t'For people'
jsonl\t'As JSON, one event per line'"
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s n -l runs -d 'How often to run the script' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l candidate -d 'Judge this program as a reduction judges its result; may be given several times' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s m -l module -d 'Run this module, as `python -m` does, instead of a script' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l stdin -d 'Give each run this file as its standard input [default: nothing]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s s -l signature -d 'The signature of the bug; `minrepro --help` lists the forms [default: derived from the script\'s own failure]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l control -d 'Reject candidates that also show the bug under this control [default: derived, such as the script without `torch.compile`]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l good -d 'Require that candidates succeed in this other interpreter, such as one with a version without the bug; the script must succeed in it' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l min-rate -d 'The share of runs that must show a flaky bug [default: a sixteenth of the script\'s own]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l test -d 'An interestingness test: a command that exits with 0 if the candidate is interesting' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s p -l python -d 'The interpreter [default: one that fits the script\'s metadata, else that of the project\'s `.venv`, else that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s t -l timeout -d 'Time limit of each run in seconds [default: four times the slowest baseline run, at least 3 for candidates and 10 for other runs, at most 60]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l memory -d 'Memory limit of each run with all its processes, such as 4G [default: 16G, or three quarters of the machine\'s memory]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l env -d 'Set an environment variable in each run' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l sandbox -d 'Whether to keep runs from writing outside their scratch folders, using the network and reaching other processes' -r -f -a "auto\t'As far as this system allows'
require\t'In full, or fail'
off\t'Not at all'"
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l allow-write -d 'Let confined runs write to this folder: each run gets a copy of its own, which is thrown away after it' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l runner -d 'Whether to fork candidates from an interpreter that has already imported the script\'s modules' -r -f -a "auto\t'Warm if that shows the bug as well and saves time'
warm\t'Warm, or fail'
cold\t'Each in a fresh interpreter'"
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s j -l jobs -d 'Runs at a time [default: the number of cores]; the result does not depend on it' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l loose -d 'Accept candidates with the same words, whatever raises them [default: only those that fail by the mechanism of the script\'s own failure]'
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -l allow-network -d 'Let confined runs use the network'
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l from -d 'Read an issue as `gh issue view --json ...` or `gh api repos/OWNER/NAME/issues/NUMBER` prints it (FILE.json), or a script, without using the network' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l search -d 'Scrub all issues that GitHub\'s search finds, unattended. Their plans are kept until you `--approve` them. Run the same command again to continue' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l limit -d 'Take so many issues of the search at most [default: 100]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l ray -d 'Let the nodes of the Ray cluster at this address scrub the issues of the search. Writes are made from here. Each issue takes the cores that `--jobs` says [default: 2]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l entry -d 'Scrub the issue of an entry of the queue into the working folder, and complete the entry: what `--ray` runs on a node' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l repo -d 'The repository [default: that of the URL, else pytorch/pytorch]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l dir -d 'Folder for scripts, report and state [default: scrub-NUMBER; scrub-backlog for a search]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l assume -d 'Treat the issue as one of this kind, whatever the rules say' -r -f -a "bug\t'A bug to reproduce'
duplicate\t'A duplicate of another issue'
feature\t'A request for something new'
refactoring\t'Work on the code'
question\t'A question or a discussion'
tracker\t'A list of issues'"
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l with -d 'Install a package for the run, into the scrub\'s folder' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l pick -d 'Take this piece of code as the repro if there are several' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s s -l signature -d 'The signature of the bug [default for an issue: the failure that it reports]; if several are given, all must hold' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s p -l python -d 'The interpreter [default: that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s t -l timeout -d 'Time limit of each run of the unchanged script in seconds [default: 120]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l memory -d 'Memory limit of each run with all its processes [default: 16G, or three quarters of the machine\'s memory]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l sandbox -d 'Whether to keep runs from writing outside their scratch folders, using the network and reaching other processes' -r -f -a "auto\t'As far as this system allows'
require\t'In full, or fail'
off\t'Not at all'"
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s j -l jobs -d 'Runs at a time [default: the number of cores]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l interpreter -d 'A version and the interpreter that has it [default: the conda environments named pytorch-VERSION]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l versions -d 'Versions of PyTorch, in environments that uv manages' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l pytorch -d 'A checkout of PyTorch: search its history for the change, and its tests for tests that are disabled until the bug is fixed' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l approve -d 'Show the plans that a search has made, ask about each, and write what you agree to'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l dry-run -d 'Show every write to the issue, but make none'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l post -d 'Agree in advance to every write, for unattended scrubs. You are responsible for every post'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l json -d 'Print the whole report with its plan as JSON; never prompt'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l trust -d 'Run the script whoever wrote it and whatever the review finds; it is still confined'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l reverify -d 'Verify and minimize a bug that somebody confirmed recently'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l close-stale -d 'Plan to close an old issue that nobody can act on'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l accept-fix -d 'Consider the bug fixed if an older version shows it and this one does not, even if other conditions of the report, such as its device, are not met here'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -l install -d 'Let uv install missing versions'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand scrub" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s s -l signature -d 'The signature of the bug [default for an issue: the failure that it reports]; if several are given, all must hold' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s p -l python -d 'The interpreter [default: that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s t -l timeout -d 'Time limit of each run of the unchanged script in seconds [default: 120]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l memory -d 'Memory limit of each run with all its processes [default: 16G, or three quarters of the machine\'s memory]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l sandbox -d 'Whether to keep runs from writing outside their scratch folders, using the network and reaching other processes' -r -f -a "auto\t'As far as this system allows'
require\t'In full, or fail'
off\t'Not at all'"
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s j -l jobs -d 'Runs at a time [default: the number of cores]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l interpreter -d 'A version and the interpreter that has it [default: the conda environments named pytorch-VERSION]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l versions -d 'Versions of PyTorch, in environments that uv manages' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l pytorch -d 'A checkout of PyTorch: search its history for the change, and its tests for tests that are disabled until the bug is fixed' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l at-once -d 'Probes at a time' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l issue -d 'Number of the issue that the change may mention' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l install -d 'Let uv install missing versions'
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -l json -d 'Print the answer as JSON'
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand bisect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s s -l signature -d 'The signature of the bug [default for an issue: the failure that it reports]; if several are given, all must hold' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s p -l python -d 'The interpreter [default: that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s t -l timeout -d 'Time limit of each run of the unchanged script in seconds [default: 120]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l memory -d 'Memory limit of each run with all its processes [default: 16G, or three quarters of the machine\'s memory]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l sandbox -d 'Whether to keep runs from writing outside their scratch folders, using the network and reaching other processes' -r -f -a "auto\t'As far as this system allows'
require\t'In full, or fail'
off\t'Not at all'"
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s j -l jobs -d 'Runs at a time [default: the number of cores]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l env -d 'Set an environment variable in each run' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l report -d 'Write the diagnosis: FILE.html, FILE.md or FILE.json; may be given several times' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l artifacts -d 'Folder for logs and artifacts [default: NAME.diagnosis beside the script]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l also -d 'Run the script under another interpreter or build as well, and say whether the bug shows there; may be given several times' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l emitted-test -d 'A test that `--emit-test` wrote for this script: run it as well, here and under each interpreter of `--also`' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l minifier-time -d 'Time limit of PyTorch\'s own minifier, and again of the minimization of its result; with this, small graphs are minified as well [default: 60, and 180]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l explain -d 'Explain a category, without running anything: how it shows, what to run, and what to read in the output' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand diagnose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand review" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand review" -l json -d 'Print the findings as JSON'
complete -c minrepro -n "__fish_minrepro_using_subcommand review" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand review" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand review" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l from -d 'Read an issue as `gh issue view --json ...` or `gh api repos/OWNER/NAME/issues/NUMBER` prints it, without using the network' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l repo -d 'The repository [default: that of the URL, else pytorch/pytorch]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l dir -d 'Folder for the state of the writes [default: triage-NUMBER]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l dry-run -d 'Show every write to the issue, but make none'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l post -d 'Agree in advance to every write. You are responsible for every post'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -l json -d 'Print the labels with their evidence and the plan as JSON; never prompt'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand triage" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l tests -d 'Check only tests in files whose path contains this' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l issue -d 'Check only marks that name this issue' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l since -d 'Check only marks that name an issue that a commit since this one claims to fix' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s o -l output -d 'File for the patch' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s p -l python -d 'The interpreter [default: that of the active virtual or conda environment, else python3]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s t -l timeout -d 'Time limit of each run of a file\'s tests in seconds' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s j -l jobs -d 'Runs at a time [default: the number of cores]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l apply -d 'Remove the stale marks from the checkout'
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -l json -d 'Print every mark with its result as JSON'
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand stale" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -f -a "explain" -d 'Explain a pass, with an example'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and not __fish_seen_subcommand_from explain help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from explain" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from explain" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Explain a pass, with an example'
complete -c minrepro -n "__fish_minrepro_using_subcommand passes; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand completions" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand completions" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand man" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand man" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand skill" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand skill" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand skill" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand skill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand mcp" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand mcp" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand mcp" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -s p -l python -d 'An interpreter for the cases that it fits; may be given several times' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l runs -d 'How often `--check` runs `repro.py` and `ideal.py`. Slips are confirmed as often, up to 3 times; with fewer than 3, the last look at them is not made in fresh interpreters' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -s j -l jobs -d 'Runs at a time [default: the number of cores]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l runner -d 'Whether to fork candidates from an interpreter that has already imported the script\'s modules' -r -f -a "auto\t'Warm if that shows the bug as well and saves time'
warm\t'Warm, or fail'
cold\t'Each in a fresh interpreter'"
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l ray -d 'Let the nodes of the Ray cluster at this address minimize. Each case or issue takes the cores that `--jobs` says [default: 2]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l json -d 'Write all figures as JSON' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l keep -d 'Keep the results: a file for each case' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l historical -d 'Minimize issues that `minrepro corpus fetch` has fetched [default: corpus/historical/issues.toml]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l label -d 'Minimize only issues of this kind: a whole kind, or one of its words' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l only -d 'Minimize only these issues' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l max-time -d 'Stop each reduction after this time [default: 4m]' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l code -d 'The folder of the fetched code [default: minrepro/historical in the user\'s cache folder]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l name -d 'A name for the rows of this run, for `--compare`' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l history -d 'The file of the history [default: minrepro/history.jsonl in the user\'s cache folder]' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l compare -d 'Minimize nothing; compare two versions of minrepro by their rows in the history, each a commit or a name' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l plot -d 'Write the comparison as a page with a plot: FILE.html' -r -F
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l check -d 'Reduce nothing; check that `repro.py` and `ideal.py` show the case\'s signature, `ideal.py` on the case\'s rung but not on the next weaker one, and that the judge tells slips from `ideal.py`'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l speed -d 'Reduce nothing; time `repro.py` and `ideal.py`, cold and warm'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l ablation -d 'Also run the final ablation of each result'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l interpreters -d 'Minimize nothing; print the interpreters of this machine as JSON'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l install -d 'Let uv install missing interpreters and packages into minrepro\'s part of the cache folder'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -l trust -d 'Run scripts whatever the review finds; they are still confined'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -f -a "fetch" -d 'Fetch the code of historical issues with `gh`, and compare it with the recorded hashes'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and not __fish_seen_subcommand_from fetch help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -l only -d 'Fetch only these issues' -r
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -l offline -d 'Ask nobody; compare the code that was fetched before'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -l record -d 'Write the hashes of the fetched code into FILE'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -s q -l quiet -d 'Print nothing but errors'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -s v -l verbose -d 'Print more: every accepted change'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from fetch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from help" -f -a "fetch" -d 'Fetch the code of historical issues with `gh`, and compare it with the recorded hashes'
complete -c minrepro -n "__fish_minrepro_using_subcommand corpus; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "check" -d 'Run a script several times, and show the signature of its bug and how often it shows'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "scrub" -d 'Turn a GitHub issue into a minimized repro, a report and a comment'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "bisect" -d 'Find the version in which a bug appeared or disappeared'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "diagnose" -d 'Classify a failure of PyTorch: its component, its category, its line, where to look'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "review" -d 'List what a script does that a stranger\'s script should not do, without running it'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "triage" -d 'Suggest labels for an issue in PyTorch\'s distributed or compiler queue'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "stale" -d 'Find marks of tests, such as `expectedFailure`, that no longer hold'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "passes" -d 'List the reduction passes, or explain one'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "man" -d 'Print the manual page of minrepro, or of a verb'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "skill" -d 'Print a `SKILL.md` that tells a coding agent when and how to use minrepro'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "mcp" -d 'Serve coding agents over the Model Context Protocol on standard input and output'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "bench" -d 'Minimize every case of a corpus and print a table'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "corpus" -d 'Fetch the code of the historical issues that `bench --historical` minimizes'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and not __fish_seen_subcommand_from check scrub bisect diagnose review triage stale passes completions man skill mcp bench corpus help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and __fish_seen_subcommand_from passes" -f -a "explain" -d 'Explain a pass, with an example'
complete -c minrepro -n "__fish_minrepro_using_subcommand help; and __fish_seen_subcommand_from corpus" -f -a "fetch" -d 'Fetch the code of historical issues with `gh`, and compare it with the recorded hashes'
