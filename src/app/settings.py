# SPDX-License-Identifier: BSD-3-Clause
"""Turns settings.toml into rows of C++: settings.py FILE.toml FILE.inc

Reads what is needed of TOML alone, for the Python that Meson runs in may have no reader of it: tables, and keys with a text, a whole number or a list of texts on one line. Says of a mistake where it stands.
"""

import json
import re
import sys

# The keys of a row, in the order of the members of its struct (known_settings.hpp).
KEYS = {
    "option": ("name", "default", "values", "what", "source"),
    "faster": ("provider", "mode", "than", "above", "limit", "what", "figure", "source"),
}
ROWS = {"option": ("TriedOption", "kTried"), "faster": ("KnownFaster", "kFaster")}  # struct and array
KINDS = {"above": int, "values": list, "than": list}  # all others are texts
LEFT_OUT = {"option": ("what", "source"), "faster": ("source",)}  # they are there for who reads the file


class Mistake(Exception):
    """In the file."""


def parsed(lines):
    """Tables, each with the name at its head and where it stands."""
    tables = []
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        head = re.fullmatch(r"\[\[(\w+)\]\]", line)
        if head:
            if head[1] not in KEYS:
                raise Mistake(f"{number}: expected [[{']] or [['.join(KEYS)}]], not {line}")
            tables.append((head[1], number, {}))
            continue
        key, is_one, value = line.partition(" = ")
        if not tables or not is_one:
            raise Mistake(f"{number}: expected KEY = VALUE below the head of a table, not {line}")
        name, _, row = tables[-1]
        if key not in KEYS[name] or key in row:
            raise Mistake(f"{number}: {key}: expected once each of {', '.join(KEYS[name])}")
        row[key] = value_of(number, key, value)
    for name, number, row in tables:
        missing = [key for key in KEYS[name] if key not in row]
        if missing:
            raise Mistake(f"{number}: lacks {', '.join(missing)}")
    for name in KEYS:
        if name not in [head for head, _, _ in tables]:
            raise Mistake(f" no [[{name}]]: expected one at least")
    return tables


def value_of(number, key, text):
    kind = KINDS.get(key, str)
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    is_right = type(value) is kind and value not in ("", [])
    if is_right and kind is list:
        is_right = all(isinstance(one, str) and one for one in value)
    if not is_right:
        expected = {str: "a text in quotes", int: "a whole number", list: 'texts such as ["1", "8"]'}[kind]
        raise Mistake(f"{number}: {key}: expected {expected}, not {text}")
    return value


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def rows_of(tables):
    """C++: an array of each kind of row, and those of their lists."""
    for kind, (struct, array) in ROWS.items():
        rows = []
        for at, row in enumerate(row for name, _, row in tables if name == kind):
            members = []
            for key in KEYS[kind]:
                if key in LEFT_OUT[kind]:
                    continue
                value = row[key]
                if isinstance(value, list):
                    name = f"{array}{key.capitalize()}{at}"
                    yield f"constexpr std::string_view {name}[]{{{', '.join(map(quoted, value))}}};"
                    value = name
                else:
                    value = quoted(value)
                members.append(value)
            rows.append(f"    {{{', '.join(members)}}},")
        yield f"constexpr {struct} {array}[]{{"
        yield from rows
        yield "};"


def main(source, made):
    try:
        with open(source, encoding="utf-8") as file:
            rows = list(rows_of(parsed(file)))
    except Mistake as mistake:
        sys.exit(f"{source}:{mistake}")
    with open(made, "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
