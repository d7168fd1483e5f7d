# SPDX-License-Identifier: BSD-3-Clause
"""`a2a merge`: several files as one."""

from rich.console import Console
from rich.progress import track

from a2aperf import merge as merging
from a2aperf import schema, terminal, writer
from a2aperf.commands.options import Files, Force, Mixed, Output
from a2aperf.labels import count_text

EXAMPLES = """\
a2a merge r20.h5 r40.h5 r80.h5 -o scaling.h5
"""


def run(
    files: Files,
    output: Output,
    mixed: Mixed = False,
    force: Force = False,
) -> None:
    """Put several files into one, with every sample; each launch stays a launch.

    Files that were measured by different rules, or the same launch twice, are refused.
    """
    writer.require_writable(output, force)
    document = merging.merge(files, mixed)
    points = len(document.columns["state"])
    console = Console(stderr=True)
    steps = iter(track(range(points), "writing", console=console, disable=not console.is_terminal))
    document.progress = lambda point: next(steps, None)
    writer.write(output, document, force)
    for _ in steps:  # summaries have no samples to write: let the bar end
        pass
    counted = count_text(sum(map(schema.is_counted, document.columns["role"])), "point")
    # A resume that measured nothing has no point.
    measured = {int(segment) for segment in document.columns["segment"] if segment >= 0}
    launches = count_text(len(measured), "launch", "launches")
    terminal.say(f"{output}: {counted} of {launches}")
