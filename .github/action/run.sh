#!/usr/bin/env bash
# Reduces TARGET, writes the result and its report to a folder, the summary of the job, and the outputs of the step.
# Everything that a user or a stranger wrote comes in by variables, and is never part of a command's text.
set -euo pipefail
folder=$RUNNER_TEMP/minrepro-result
mkdir -p "$folder"
python=$(command -v -- "$PYTHON") || { echo "::error title=minrepro::there is no interpreter of that name"; exit 5; }
options=(--python="$python" --sandbox="$SANDBOX")
[ -z "$SIGNATURE" ] || options+=(--signature="$SIGNATURE")

is_issue() { [[ $TARGET =~ ^[0-9]+$ || $TARGET =~ ^https://github\.com/[^/]+/[^/]+/issues/[0-9]+$ ]]; }

code=0
if is_issue; then
    [ "$TRUST" != true ] || options+=(--trust)
    [[ ! $TARGET =~ ^[0-9]+$ ]] || options+=(--repo="$REPOSITORY")
    # It may write nothing to the issue: what is posted is for a person, or for a job that can do nothing else.
    minrepro scrub --dry-run "${options[@]}" --dir="$folder/scrub" -- "$TARGET" >"$folder/log.txt" 2>&1 || code=$?
    # What a person would be asked to post.
    report=$folder/scrub/comment.md
    result=$(find "$folder/scrub" -name 'repro_*.py' ! -name '*_original.py' -print -quit 2>/dev/null || true)
else
    # Nothing of the job's token for a script.
    unset GH_TOKEN
    result=$folder/result.py
    report=$folder/report.md
    [[ $TARGET == *::* || -f $TARGET ]] || { echo "::error title=minrepro::the target is no file, pytest node or issue"; exit 2; }
    [[ $TARGET != -* ]] || TARGET=./$TARGET
    # A name of its own, whatever the target is called: a verb, an option.
    [[ $TARGET == /* ]] || TARGET=$PWD/$TARGET
    minrepro "$TARGET" "${options[@]}" --max-time="$MAX_TIME" --output="$result" --report="$report" \
        --report="$folder/report.html" >"$folder/log.txt" 2>&1 || code=$?
fi

names=([0]=reduced [1]=not-reproduced [2]=usage [3]=stopped [4]=unstable [5]=environment [6]=refused [7]=unverified [70]=bug)
{
    echo "exit-code=$code"
    echo "status=${names[$code]:-failed}"
    echo "folder=$folder"
} >>"$GITHUB_OUTPUT"

# A fence that nothing in a text can close.
fenced() {
    local fence
    fence=$(printf '`%.0s' {1..40})
    printf '%s%s\n' "$fence" "$1"
    cat
    printf '\n%s\n' "$fence"
}
{
    if [ -s "$report" ]; then
        cat "$report"
    elif [ -n "$result" ] && [ -s "$result" ]; then
        fenced python <"$result"
    fi
    printf '\n<details><summary>Log (exit status %s)</summary>\n\n' "$code"
    tail -n 200 "$folder/log.txt" | fenced text
    printf '\n</details>\n'
} >>"$GITHUB_STEP_SUMMARY"
cat "$folder/log.txt"
# A result that could not be finished or verified is a result; the output `status` says so.
case $code in 0 | 3 | 4 | 7) exit 0 ;; *) exit "$code" ;; esac
