# SPDX-License-Identifier: BSD-3-Clause
"""Diagrams of calls, as the documents have them, compared with the code.

A line is a function or a type behind the branches of a tree, and what it is for. Below a name stands what it calls or
holds. A function is written with its class, `Launch::connect()`, or alone when it has none; of a virtual function the
calls are those of any class that overrides it."""

import re
from collections.abc import Iterator
from functools import cache

from blocks import ROOT
from layers import code_of

REMARK = "a diagram: its calls are the code's"
LINE = re.compile(r"(?P<branch>[│├└─ ]*)(?P<name>[\w:]+(?:\(\))?)(?P<about>.*)")
LEVEL = 3  # columns
# Of what a line is for, these can only be the code's: calls, members, names of two words.
NAME = re.compile(r"\w+(?:::\w+)+|\w+(?=\(\))|[A-Za-z]+_\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+")


@cache
def code() -> str:
    """The program's, without comments and literals."""
    sources = [*ROOT.glob("include/**/*.hpp"), *ROOT.glob("src/**/*.[ch]pp")]
    return "\n".join("\n".join(code_of(path.read_text(encoding="utf-8"))) for path in sorted(sources))


def has(word: str) -> bool:
    return re.search(rf"\b{word}\b", code()) is not None


def from_braces(start: re.Pattern[str], text: str) -> Iterator[str]:
    """From each place where the pattern matches, which ends in an opening brace, to the brace that closes it."""
    for begin in start.finditer(text):
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[begin.start() : end]


@cache
def type_bodies(name: str) -> list[str]:
    return [*from_braces(re.compile(rf"\b(?:class|struct) {name}\b[^;{{}}()]*\{{"), code())]


@cache
def function_bodies(owner: str, name: str) -> list[str]:
    """With what stands between the name and the brace: parameters and initialisers."""
    inside = re.compile(rf"\b{name}\([^;{{}}]*\{{")
    if not owner:
        return [*from_braces(re.compile(rf"^(?!\s)[^;{{}}=()]*\b{name}\([^;{{}}]*\{{", re.MULTILINE), code())]
    outside = re.compile(rf"\b{owner}(?:<\w+>)?::{name}\([^;{{}}]*\{{")
    bodies = [*from_braces(outside, code())]
    for body in type_bodies(owner):
        bodies += from_braces(inside, body)
        if not bodies and re.search(rf"\bvirtual\b[^;]*\b{name}\([^;]*= 0;", body):
            bodies += from_braces(re.compile(rf"\b{name}\([^;{{}}]*\boverride \{{"), code())
    return bodies


def bodies_of(name: str) -> list[str]:
    """Where a name of a diagram is defined; of a type, its members and its constructors. Nothing: nowhere."""
    if not name.endswith("()"):
        return type_bodies(name) and [*type_bodies(name), *function_bodies(name, name)]
    owner, _, function = name.removesuffix("()").rpartition("::")
    return function_bodies(owner, function)


def offences(diagram: str) -> list[str]:
    """What a diagram says that the code does not."""
    found: list[str] = []
    above: list[str] = []  # the names that lead to the line at hand
    for line in diagram.splitlines():
        parts = LINE.fullmatch(line)
        if parts is None or len(parts["branch"]) % LEVEL:
            found.append(f"not a line of a diagram: {line}")
            continue
        name, level = parts["name"], len(parts["branch"]) // LEVEL
        above = above[:level]
        if not bodies_of(name):
            found.append(f"{name} is not in the code")
        elif above:
            plain = name.removesuffix("()").rpartition("::")[2]
            used = rf"\b{plain}[(<]" if name.endswith("()") else rf"\b{plain}\b"
            if not any(re.search(used, body) for body in bodies_of(above[-1])):
                found.append(f"{above[-1]} has no {name}")
        found += [f"{word} is not in the code" for word in NAME.findall(parts["about"])
                  if not all(map(has, word.split("::")))]  # fmt: skip
        above.append(name)
    return found
