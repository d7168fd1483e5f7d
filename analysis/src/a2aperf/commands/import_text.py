# SPDX-License-Identifier: BSD-3-Clause
"""`a2a import`: foreign text into the schema."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from a2aperf import regular, strict, terminal, writer
from a2aperf.commands.options import Force, Output
from a2aperf.errors import InputError
from a2aperf.importers import block, formats
from a2aperf.link_rate import MOST, rate_of

EXAMPLES = """\
a2a import table.txt -o table.h5
a2a import table.txt -o table.h5 --link-rate 100 --label cluster=north
a2a import osu.txt -o osu.h5 --ranks 160 --ppn 2
a2a import bw-*.json -o perftest.h5
a2a import loopback.txt -o streams.h5
a2a import qos-notes.txt -o shares.h5
"""


Format = StrEnum("Format", {name.upper(): name for name in ("auto", *formats.ALL)})  # type: ignore[misc]
AUTO = Format("auto")


def run(
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT", help="Files to read.")],
    output: Output,
    format_: Annotated[
        Format, typer.Option("--format", help="compat is the layout of 2019.")
    ] = AUTO,
    ranks: Annotated[
        int | None, typer.Option(min=2, max=strict.MOST, help="Number of ranks.")
    ] = None,
    ppn: Annotated[float | None, typer.Option(min=1, help="Ranks per node.")] = None,
    provider: Annotated[str, typer.Option(help="libfabric provider.")] = "",
    link_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of one rail: 100 (Gbit/s), 200Mbit/s.")
    ] = None,
    rails: Annotated[int, typer.Option(min=1, max=1024, help="Rails per node.")] = 1,
    env: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="A variable that was set.")
    ] = [],  # noqa: B006
    label: Annotated[
        list[str], typer.Option(metavar="KEY=VALUE", help="A label to find it by.")
    ] = [],  # noqa: B006
    force: Force = False,
) -> None:
    """Read results of other tools: the 2019 layout, perftest, OSU, loopback tests, clusterperf.

    Of perftest its JSON, of OSU osu_alltoall's text (-f -z), of a verbs loopback test its tables.
    Also notes on service levels, with what each path got in each interval, and published tables
    of interconnects with named columns.
    They become summaries without raw samples, marked with their origin. What the text says of ranks
    per node and settings is read; what it does not say stays unknown, or is what the options say.
    """
    writer.require_writable(output, force)
    regular.require_once(texts, "tables")
    rate = math.nan if link_rate is None else rate_of(link_rate)
    if rate is None:
        raise InputError(
            f"--link-rate '{link_rate}': expected Gbit/s above 0, up to {MOST}, such as 100, "
            "or with a unit: 200Mbit/s"
        )
    given = block.Given(
        ranks, ppn, provider, rate, rails, _pairs("--env", env), _pairs("--label", label)
    )
    blocks: list[block.Block] = []
    used = set()
    for path in texts:
        text = _read(path)
        reader = formats.of_text(path, text) if format_ == AUTO else formats.ALL[format_]
        found = reader.parse(path, text)
        blocks += found
        used.add(reader)
        for line in reader.remarks(found):
            terminal.tell(f"a2a: {path}: {line}")
    if len(used) > 1:
        raise InputError("texts of several formats; import each format into a file of its own")
    origin = f"{blocks[0].engine}: {', '.join(path.name for path in texts)}"
    reader = used.pop()
    document = block.document(blocks, given, origin, reader.percentile_rule, reader.kind)
    writer.write(output, document, force)
    terminal.say(f"{output}: {reader.told(blocks)}")


def _read(path: Path) -> str:
    try:
        text = regular.read_text(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: {why[:1].lower()}{why[1:]}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # nor could a results file keep it
        raise InputError(f"{path} is not a text file; results files need no import")
    return text


def _pairs(option: str, values: list[str]) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not equals or not name:
            raise InputError(f"{option} '{value}': expected NAME=VALUE")
        pairs[name] = content
    return pairs
