# SPDX-License-Identifier: BSD-3-Clause
"""Flat rows as files, and appended to databases. A format is a function and a row."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a2aperf import output, schema, tables, writer
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError, installing
from a2aperf.flat.rows import KEY, Flat

_TYPES: Final = {bool: "INTEGER", int: "BIGINT", float: "DOUBLE", str: "TEXT"}
_DECLARED: Final = {"int8": int, "int32": int, "int64": int, "float64": float}
UNITS: Final = "columns"
"""The table that says what the columns of the others are."""


@dataclass(frozen=True)
class Format:
    """How rows are kept: `write` gets the file, the kind and the rows, and says how many it wrote.

    `appends`: what is there stays, but for launches that are written again.
    """

    write: Callable[[Path, str, Flat], int]
    appends: bool = False


def _as_csv(path: Path, _kind: str, made: Flat) -> int:
    output.replace(path, (tables.as_csv(made.rows).rstrip("\n") + "\n").encode())
    return len(made.rows)


def _as_lines(path: Path, _kind: str, made: Flat) -> int:
    lines = [json.dumps(row, default=str) for row in tables.records(made.rows)]
    output.replace(path, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)


def _as_parquet(path: Path, _kind: str, made: Flat) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        what = installing("pyarrow", "parquet")
        raise InputError(f"Parquet needs pyarrow: {what}") from None
    table = pa.Table.from_pandas(made.rows, preserve_index=False)
    said = tables.described(made.columns, table.column_names)
    fields = [field.with_metadata(said[field.name]) for field in table.schema]
    stream = io.BytesIO()
    parquet.write_table(table.cast(pa.schema(fields)), stream)
    output.replace(path, stream.getvalue())
    return len(made.rows)


def _into_sqlite(path: Path, kind: str, made: Flat) -> int:
    output.require_no_link(path)
    try:
        with closing(sqlite3.connect(path)) as base, base:
            base.execute("BEGIN")  # else tables and columns would stay where rows are refused
            return _append(base, kind, made, _insert)
    except (sqlite3.Error, InputError) as error:
        raise InputError(f"{path}: cannot be appended to: {error}") from None


def _into_duckdb(path: Path, kind: str, made: Flat) -> int:
    try:
        import duckdb
    except ImportError:
        raise InputError(f"DuckDB needs duckdb: {installing('duckdb', 'duckdb')}") from None
    output.require_no_link(path)
    try:
        with closing(duckdb.connect(str(path))) as base:
            base.execute("BEGIN")
            count = _append(base, kind, made, _insert_at_once)
            base.execute("COMMIT")
            return count
    except (duckdb.Error, InputError) as error:
        raise InputError(f"{path}: cannot be appended to: {error}") from None


_Insert = Callable[[Any, str, Mapping[str, str], list[dict[str, Any]]], None]


def _append(base: Any, kind: str, made: Flat, insert: _Insert) -> int:
    """A launch that is there already is replaced; columns that are new are added."""
    rows = made.rows.rename(columns=_distinct(map(str, made.rows.columns)))
    records = tables.records(rows)
    types = {
        name: _type_of([row[name] for row in records], made.columns.get(name))
        for name in map(str, rows.columns)
    }
    _make_table(base, kind, types)
    launches = [[key] for key in rows[KEY].unique()]
    base.executemany(f"DELETE FROM {_quoted(kind)} WHERE {_quoted(KEY)} = ?", launches)
    insert(base, kind, types, records)
    _describe(base, kind, made, types)
    return len(records)


def _insert(base: Any, name: str, types: Mapping[str, str], rows: list[dict[str, Any]]) -> None:
    names, places = ", ".join(map(_quoted, types)), ", ".join("?" for _ in types)
    values = [list(row.values()) for row in rows]
    base.executemany(f"INSERT INTO {_quoted(name)} ({names}) VALUES ({places})", values)


def _insert_at_once(
    base: Any, name: str, types: Mapping[str, str], rows: list[dict[str, Any]]
) -> None:
    """As a whole: DuckDB takes a millisecond for each row that it is given alone."""
    kept: Any = {_TYPES[bool]: "Int64", _TYPES[int]: "Int64", _TYPES[float]: "Float64"}
    given = pd.DataFrame(
        {
            column: pd.array([row[column] for row in rows], dtype=kept.get(kind, "object"))
            for column, kind in types.items()
        }
    )
    for column, kind in types.items():
        if kind == _TYPES[str]:
            given[column] = given[column].map(str, na_action="ignore")
    base.register("a2a_rows", given)
    names = ", ".join(map(_quoted, types))
    base.execute(f"INSERT INTO {_quoted(name)} ({names}) SELECT {names} FROM a2a_rows")


def _make_table(base: Any, name: str, types: Mapping[str, str]) -> None:
    """The table with these columns; InputError where one of that name lacks the first of them."""
    columns = ", ".join(f"{_quoted(column)} {kind}" for column, kind in types.items())
    base.execute(f"CREATE TABLE IF NOT EXISTS {_quoted(name)} ({columns})")
    there = {
        str(row[1]).lower()
        for row in base.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
    }
    first = next(iter(types))
    if first.lower() not in there:
        raise InputError(
            f"its table {name} is another program's, without {first}: give a database of its own"
        )
    for column, kind in types.items():
        if column.lower() not in there:
            base.execute(f"ALTER TABLE {_quoted(name)} ADD COLUMN {_quoted(column)} {kind}")


def _describe(base: Any, kind: str, made: Flat, types: Mapping[str, str]) -> None:
    _make_table(base, UNITS, dict.fromkeys(("rows", "name", "unit", "meaning"), "TEXT"))
    said = tables.described(made.columns, types)
    # Of columns that only other launches have it stays.
    which = f"{_quoted('rows')} = ? AND {_quoted('name')} = ?"
    base.executemany(f"DELETE FROM {_quoted(UNITS)} WHERE {which}", [[kind, x] for x in said])
    told = [[kind, name, x.get("units", ""), x.get("long_name", "")] for name, x in said.items()]
    names = ", ".join(map(_quoted, ("rows", "name", "unit", "meaning")))
    base.executemany(f"INSERT INTO {_quoted(UNITS)} ({names}) VALUES (?, ?, ?, ?)", told)


def _distinct(names: Any) -> dict[str, str]:
    """Databases do not tell PROVIDER from provider: the later one gets a number."""
    seen: dict[str, int] = {}
    found = {}
    for name in names:
        count = seen[name.lower()] = seen.get(name.lower(), 0) + 1
        found[name] = name if count == 1 else f"{name}_{count}"
    return found


def _type_of(values: list[Any], declared: schema.Column | None) -> str:
    """That of the values, and of the column, which may have none yet and has them tomorrow."""
    kinds = {type(value) for value in values if value is not None}
    if declared and not declared.flags and declared.kind in _DECLARED and str not in kinds:
        kinds.add(_DECLARED[declared.kind])
    if kinds <= {bool, int, float} and kinds:
        return _TYPES[max(kinds, key=[bool, int, float].index)]
    return _TYPES[str]


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


FORMATS: Final[Mapping[str, Format]] = {
    ".csv": Format(_as_csv),
    ".jsonl": Format(_as_lines),
    ".parquet": Format(_as_parquet),
    ".sqlite": Format(_into_sqlite, appends=True),
    ".duckdb": Format(_into_duckdb, appends=True),
}


def write(path: Path, kind: str, made: Flat, force: bool) -> int:
    """By the name's suffix; how many rows were written."""
    chosen = FORMATS[path.suffix.lower()]
    writer.require_writable(path, force or chosen.appends)
    return chosen.write(path, kind, made)


def require_format(path: Path) -> None:
    """InputError where no format has that suffix."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: flat rows are written as {', '.join(FORMATS)}")
