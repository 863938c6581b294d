#!/usr/bin/env bash
# Installs minrepro into an environment of its own, so that the user's environment stays as it is.
# Reads WHEEL; the later steps find the program on the path.
set -euo pipefail
home=$RUNNER_TEMP/minrepro-env
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check -- "$WHEEL"
# A folder with the program alone: the interpreters of its environment must not hide the user's.
mkdir -p "$RUNNER_TEMP/minrepro-bin"
ln -sf "$home/bin/minrepro" "$RUNNER_TEMP/minrepro-bin/minrepro"
echo "$RUNNER_TEMP/minrepro-bin" >>"$GITHUB_PATH"
"$home/bin/minrepro" --version
