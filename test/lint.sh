#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What can be said about the sources without running them.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=/dev/null
. "$top/jobs/lib/say.sh"
cd "$top"

# Files of this tree: tracked, or new and not ignored. Whoever owns the clone.
sources() {
    git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" |
        while read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

lint_format() { sources '*.cpp' '*.hpp' | xargs -r clang-format --dry-run -Werror; }

# What the compiler is given of src: sources by the handful, or single ones.
compiled() {
    python3 - "$top/build/release" <<'PYTHON'
import json, os, sys
with open(f"{sys.argv[1]}/compile_commands.json") as database:
    for entry in json.load(database):
        if entry["output"].startswith("src/"):
            print(os.path.normpath(os.path.join(entry["directory"], entry["file"])))
PYTHON
}

lint_tidy() {
    [[ -f build/release/compile_commands.json ]] || die "no build/release: meson setup build/release"
    compiled src | xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p build/release --warnings-as-errors='*'
}

lint_shell() { sources 'packaging/completion/*' '*.sh' '*.sbatch' '.ci/run' | xargs -r shellcheck --external-sources; }

# Licence and copyright are one line near the top of every source.
lint_headers() {
    local file status=0
    while read -r file; do
        head -n 5 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || {
            echo "$file: no 'SPDX-License-Identifier: BSD-3-Clause' in its first 5 lines"
            status=1
        }
    done < <(sources '*.cpp' '*.hpp' '*.py' '*.sh' '*.sbatch' '*.md' '*.toml' '*meson.build' '.ci/run' 'docs/man/*' |
        grep -Ev '(^|/)(README|CHANGELOG|CONTRIBUTING)\.md$')
    return $status
}

# One word for one thing: docs/words.md.
lint_words() { python3 test/support/words.py; }

lint_man() {
    local page status=0
    for page in $(sources "docs/man/*.1"); do mandoc -T lint -W warning "$page" || status=1; done
    return $status
}

parts=(format tidy shell headers man words)
if [[ ${1-} == --list ]]; then
    printf '%s\n' "${parts[@]}"
    exit
fi
(($#)) || set -- "${parts[@]}"
for part in "$@"; do
    [[ " ${parts[*]} " == *" $part "* ]] || die -2 "unknown part '$part': expected one of ${parts[*]}"
    "lint_$part" || die "lint $part found something"
done
