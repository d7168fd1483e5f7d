# SPDX-License-Identifier: BSD-3-Clause
"""Checks that includes point down the list of layers only, that a header which one layer keeps to itself lies beside
its code and not in include/, and that each outside library stays in its layer: its headers, and its names, which come
with the headers of the layer that has it.

`layers.py [FOLDER]`: the root of the tree, by default the working folder. One line for every offence, exit
status 1 when there is any."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

LAYERS = ["base", "plan", "stats", "result", "job", "fabric", "transfer", "measure", "record", "config", "app"]

# What is asked for and what is kept know no more of a measurement than its result: layer -> the highest that it sees.
HIGHEST = {"record": "result", "config": "result"}



@dataclass(frozen=True)
class Library:
    """One that is not ours. `homes` may use it: layers, or single files."""

    headers: re.Pattern[str]
    names: re.Pattern[str]
    homes: frozenset[str]


# The timed loop reads its completion queue itself: a call for each completion would cost what it measures.
TIMED_LOOP = {
    "measure/exchange.hpp",
    "measure/exchange_flags.hpp",
    "measure/exchange_strays.hpp",
    "measure/exchange_state.hpp",
    "measure/exchange_state.cpp",
    "measure/one_queue_engine.hpp",
    "measure/credit_stream.hpp",
    "measure/credit_stream.cpp",
    "measure/credit_stream_untimed.hpp",
    "measure/credit_stream_words.hpp",
    "measure/credit_stream_asking.hpp",
    "measure/credit_stream_ends.hpp",
    "measure/echo_engine.hpp",
    "measure/echo_engine_untimed.hpp",
    "measure/echo_engine_places.hpp",
    "measure/echo_engine.cpp",
}

LIBRARIES = [
    Library(re.compile(r"mpi\w*\.h"), re.compile(r"MPI_\w+"), frozenset({"job", "measure/mpi_baseline.cpp"})),
    Library(
        re.compile(r"rdma/.*"),
        re.compile(r"(?:fi|fid|FI)_\w+|(?:fabric|domain|ep|tx|rx)_attr|prov_name"),
        frozenset({"fabric", "transfer"} | TIMED_LOOP),
    ),
    Library(re.compile(r"hdf5.*|H5.*"), re.compile(r"H5[A-Z]\w*|hid_t|herr_t|hsize_t|hssize_t"), frozenset({"record"})),
    Library(re.compile(r"CLI/.*|CLI11.*"), re.compile(r"CLI(?=::)"), frozenset({"config"})),
    Library(re.compile(r"zlib\.h"), re.compile(r"crc32(?:_z)?(?=\()|Bytef"), frozenset({"record"})),
    # What is said may come from anywhere: one file makes it harmless to a terminal.
    Library(
        re.compile(r"iostream|fmt/ostream\.h"),
        re.compile(r"std::f?(?:printf|puts|fputs|fwrite|putchar)\b|fmt::print\b|std::(?:cout|cerr)"),
        frozenset({"base/terminal.cpp", "record/progress.cpp"}),
    ),
    Library(re.compile(r"infiniband/.*"), re.compile(r"(?:ibv|IBV)_\w+"), frozenset({"fabric"})),
    Library(re.compile(r"hwloc.*"), re.compile(r"hwloc_\w+|HWLOC_\w+"), frozenset({"fabric"})),
    # The bytes of a message are touched by its kind of memory alone; the others copy what is no message.
    Library(
        re.compile(r"(?!)"),
        re.compile(r"(?:std::)?mem(?:cpy|move|set|cmp)(?=\()"),
        frozenset({"fabric", "record", "measure/counters.cpp", "measure/payload.cpp"}),
    ),
]

INCLUDE_LINE = re.compile(r"\s*#\s*include\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A comment, or a literal: no code.
WORDS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.[^\'\n]*|[^\'\\\n])\'', re.DOTALL
)


def code_of(text: str) -> list[str]:
    """The lines of a source without its comments, literals and includes."""
    lines = WORDS.sub(lambda words: "\n" * words.group().count("\n"), text).split("\n")
    return ["" if INCLUDE_LINE.match(line) else line for line in lines]


def wrong_include(line: str, layer: str) -> str | None:
    """What is wrong with where an include points to, or None."""
    match = INCLUDE.match(line)
    if not match:
        return None
    quote, header = match.groups()
    own = header.removeprefix("a2aperf/")
    if own != header:
        target = own.split("/")[0]
        if target not in LAYERS:
            return f"includes {header}, but '{target}' is no layer"
        highest = HIGHEST.get(layer, layer)
        if target != layer and LAYERS.index(target) > LAYERS.index(highest):
            if highest == layer or LAYERS.index(target) > LAYERS.index(layer):
                return f"includes {header}, but {target} is above {layer}"
            return f"includes {header}, but {layer} sees no layer above {highest}"
    elif quote == '"' and "/" in header:
        return f"includes {header}, but a private header is for its own folder only"
    return None


def strangers(path: Path, inside: Path) -> list[str]:
    """Outside libraries where they do not belong: the number of the line and what is wrong."""
    found = []
    text = path.read_text(encoding="utf-8")
    code = code_of(text)
    for library in LIBRARIES:
        if inside.parts[0] in library.homes or inside.as_posix() in library.homes:
            continue
        which = f"which belongs to {', '.join(sorted(library.homes))} only"
        name = re.compile(rf"\b(?:{library.names.pattern})\b")
        for number, line in enumerate(text.split("\n"), 1):
            match = INCLUDE.match(line)
            if match and library.headers.fullmatch(match.group(2)):
                found.append(f"{number}: includes {match.group(2)}, {which}")
        for number, line in enumerate(code, 1):
            if match := name.search(line):
                found.append(f"{number}: uses {match.group()}, {which}")
    return found


def own_headers(root: Path) -> list[str]:
    """Headers in include/ that no other layer needs, by itself or by another header that it needs of the same layer."""
    shared = root / "include" / "a2aperf"
    includes: dict[str, set[str]] = {}  # of each header there
    needed = set()
    for folder in (shared, root / "src"):
        for path in folder.rglob("*.[ch]pp"):
            inside = path.relative_to(folder)
            matches = map(INCLUDE.match, path.read_text(encoding="utf-8").split("\n"))
            headers = {match.group(2).removeprefix("a2aperf/") for match in matches if match}
            if folder == shared:
                includes[inside.as_posix()] = headers
            needed |= {header for header in headers if header.split("/")[0] != inside.parts[0]}
    needed &= includes.keys()
    reached = needed
    while reached := {inner for header in reached for inner in includes[header] & includes.keys()} - needed:
        needed |= reached
    return sorted(includes.keys() - needed)


def offences(root: Path) -> list[str]:
    found = [
        f"include/a2aperf/{header}: no other layer needs it: its place is src/{header}" for header in own_headers(root)
    ]
    for folder in (root / "include" / "a2aperf", root / "src"):
        for path in sorted(folder.rglob("*.[ch]pp")):
            inside = path.relative_to(folder)
            shown = path.relative_to(root)
            layer = inside.parts[0]
            if layer not in LAYERS:
                found.append(f"{shown}: '{layer}' is no layer; expected one of {', '.join(LAYERS)}")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if wrong := wrong_include(line, layer):
                    found.append(f"{shown}:{number}: {wrong}")
            found += [f"{shown}:{stranger}" for stranger in strangers(path, inside)]
    return found


def main() -> int:
    lines = offences(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
