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

# gather_units: of each library of src one source that includes all of what is compiled by the handful, for clang-tidy
# takes longest over the headers, and a database of compiler commands for them, in build/tidy; prints their names.
gather_units() {
    python3 - build/release build/tidy <<'PYTHON'
import json, pathlib, shutil, sys
release, folder = map(pathlib.Path, sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir()
together, commands = {}, []
for entry in json.loads((release / "compile_commands.json").read_text()):
    if not entry["output"].startswith("src/"):
        continue
    source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
    if "-unity" in source.name:
        entry = together.setdefault(source.parent, entry | {"sources": []})
        entry["sources"].append(source)
    else:
        commands.append(entry | {"file": str(source)})
for library, entry in together.items():
    unit = folder.resolve() / f"{library.name}.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in entry.pop("sources")))
    commands.append(entry | {"command": entry["command"].replace(entry["file"], str(unit)), "file": str(unit)})
(folder / "compile_commands.json").write_text(json.dumps(commands))
print(*(entry["file"] for entry in reversed(commands)), sep="\n")
PYTHON
}

lint_tidy() {
    [[ -f build/release/compile_commands.json ]] || die "no build/release: meson setup build/release"
    gather_units | xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p build/tidy --warnings-as-errors='*'
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
