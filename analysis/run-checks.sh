#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every check of the analysis package: lint, format, types, tests. They run against the package as it installs.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: analysis/run-checks.sh [--quick | --all | [--third] [--turn T]] [VENV]

Makes the virtual environment VENV (default: analysis/.venv) where it is missing or out of date, installs the
package and its tests' packages at the versions of constraints.txt, and runs ruff, mypy and pytest:
of the tests of each file that are marked slow one in sixteen, with --all all of them, and with --quick
none of them and one in eight of the others. --third takes one in three of the others. The next T takes the
next ones.
USAGE
}

plugins=$(cd "$(dirname "${BASH_SOURCE[0]}")/../test/support/plugins" && pwd)
export PYTHONPATH=$plugins${PYTHONPATH:+:$PYTHONPATH}
chosen=(-p share --share-slow 16)
case ${1-} in
--quick)
    chosen=(-p share --share 8 -m 'not slow')
    shift
    ;;
--all)
    chosen=()
    shift
    ;;
--third)
    chosen+=(--share 3)
    shift
    ;;
esac
if [[ ${1-} == --turn ]]; then
    [[ ${2-} =~ ^[0-9]+$ ]] || {
        printf -- "--turn '%s': expected a number\n" "${2-}" >&2
        exit 2
    }
    chosen+=(--share-turn "$2")
    shift 2
fi
case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
-*)
    usage >&2
    exit 2
    ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")"
unset PYTHONDONTWRITEBYTECODE # each process would compile every module anew
venv=${1:-.venv}
python=$venv/bin/python
stamp=$venv/installed

if [[ ! -x $python ]] || ! cat pyproject.toml constraints.txt | cmp -s - "$stamp"; then
    python3 -m venv --clear "$venv"
    "$python" -m pip install --quiet --constraint constraints.txt '.[lint,test]'
    cat pyproject.toml constraints.txt >"$stamp"
else
    # What builds it is there: nothing is fetched.
    "$python" -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .
fi

"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy src tests benchmarks
"$python" -m pytest -q -n "$(nproc)" "${chosen[@]}" --junitxml "$venv/pytest.xml"
