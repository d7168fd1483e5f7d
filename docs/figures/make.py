#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make every figure of docs/analysis.md and of the README again, from real files.

    python docs/figures/make.py                  all of them
    python docs/figures/make.py scaling-2019     those named
    python docs/figures/make.py --list           what there is

Needs the package a2a (`pip install './analysis[test]'` of an environment of its own), Chromium for the pictures of the report,
and for the figures of this machine the program: jobs/local.sh builds it, or A2APERF names it.
The table of 2019 is imported; everything else is measured here and now, in some minutes, and kept
in build/figures, so that a second call only draws. What needs a part that is missing is skipped
and said.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
WORK = TOP / "build" / "figures"
TABLE = TOP / "analysis" / "tests" / "data" / "alltoall-omnipath-2019.txt"
RUN_SECONDS = 300
sys.path[:0] = [str(HERE), str(TOP / "analysis" / "tests")]

import terminal  # noqa: E402
from a2aperf import cli  # noqa: E402


class MissingError(Exception):
    """A part that this machine does not have."""


# What is measured ------------------------------------------------------------------------------


def program() -> Path:
    """A2APERF, or the release build of jobs/local.sh."""
    path = Path(os.environ.get("A2APERF", TOP / "build" / "release" / "src" / "app" / "a2aperf"))
    if not path.exists():
        raise MissingError(f"{path} is not built; jobs/local.sh builds it")
    return path


def launch(name: str, ranks: int, *options: str, environment: dict[str, str] | None = None) -> Path:
    """One launch of the main job on this machine, measured unless its file is there already."""
    path = WORK / f"{name}.h5"
    if not path.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        print(f"measuring {name}", file=sys.stderr)
        script = '. jobs/lib/say.sh; . jobs/lib/mpi.sh; keep_mpi_off_fabric; launch_here "$@"'
        words = [
            "timeout",
            "-k",
            "5",
            str(RUN_SECONDS),
            "bash",
            "-c",
            script,
            "-",
            str(ranks),
            str(program()),
            "alltoall",
            *options,
        ]
        words += ["-o", str(path)]
        variables = os.environ | (environment or {})
        done = subprocess.run(
            words,
            cwd=TOP,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not path.exists():
            path.unlink(missing_ok=True)  # half a launch is none
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise MissingError(f"a2aperf ended with {done.returncode}: {last}")
    return path


def table() -> Path:
    """The text of 2019, beside the other files."""
    WORK.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(TABLE, WORK))


def old() -> Path:
    """The table of 2019, imported. The link rate is not in the text: Omni-Path's is 100 Gbit/s."""
    path = WORK / "2019.h5"
    quiet("import", table(), "-o", path, "--link-rate", 100, "--force")
    return path


def two_here() -> Path:
    """2 ranks on this machine over the loopback: each has a core, or nobody is shown to be last."""
    return launch("here-2", 2, "--sizes", "1000,8000,60000", "--ops", "200", "--provider", "net")


def here() -> Path:
    """4 ranks on this machine over the loopback."""
    sizes = ("--sizes", "1000,8000,60000")
    return launch("here-4", 4, *sizes, "--ops", "200", "--provider", "net")


def scales() -> list[Path]:
    """2, 4 and 8 ranks on this machine."""
    options = ("--sizes", "1000,8000,16000,60000", "--ops", "100", "--provider", "net")
    return [launch(f"scale-{ranks}", ranks, *options) for ranks in (2, 4, 8)]


def copies() -> list[Path]:
    """Two ways of copying in shared memory, 5 launches each, in the order A B B A."""
    options = ("--sizes", "1000,16000,60000", "--ops", "50", "--warmup", "5", "--provider", "shm")
    return [
        launch(f"copy-{index}", 2, *options, environment={"FI_SHM_DISABLE_CMA": value})
        for index, value in enumerate("0110011001")
    ]


def pairs() -> Path:
    """Every pair of eight emulated hosts: h3 sends slowly, and so does what goes from h6 to h2."""
    path = WORK / "pairs.h5"
    if not path.exists():
        sys.path[:0] = [str(TOP / "test" / "cluster"), str(TOP / "test" / "support")]
        from cluster import Cluster, NoCluster
        from measure import words_of_pairs

        WORK.mkdir(parents=True, exist_ok=True)
        print("measuring pairs", file=sys.stderr)
        command = [program(), "pairs", *words_of_pairs(program()), "--sizes", "1000000", "--ops", "5"]
        try:
            with Cluster(8, mbit=100) as cluster:
                cluster.limit("h3", "send", 30)
                cluster.limit_pair("h6", "h2", 30)
                done = cluster.launch(1, command, WORK, RUN_SECONDS)
        except NoCluster as why:
            raise MissingError(str(why)) from why
        if done.returncode:
            raise MissingError(done.stderr.strip())
        (WORK / "a.h5").rename(path)
    return path


def key() -> Path:
    """A secret for pseudonyms, made by the command on first use."""
    return WORK / "paper.key"


# How it is drawn -------------------------------------------------------------------------------


def quiet(*words: object) -> str:
    """Output of `a2a WORDS`, run in this process; a failure is an error."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = cli.main([str(word) for word in words])
    if status not in (0, 3, 4):  # 3 and 4 are answers of `a2a compare`
        raise MissingError(f"a2a {words[0]} ended with {status}")
    return out.getvalue()


def plot(
    kind: str, files: Callable[[], Sequence[Path] | Path], *options: object
) -> Callable[[Path], None]:
    """A figure by `a2a plot`."""

    def make(out: Path) -> None:
        found = files()
        paths = [found] if isinstance(found, Path) else list(found)
        quiet("plot", kind, *paths, "-o", out, *options)

    return make


def screen(rows: int, *commands: Callable[[], list[object]]) -> Callable[[Path], None]:
    """What commands print, as a picture of a terminal: at most `rows` lines of each."""

    def make(out: Path) -> None:
        shown = []
        for command in commands:
            words = [word.name if isinstance(word, Path) else str(word) for word in command()]
            shown.append((terminal.spoken(words), terminal.output(words, WORK)))
        out.write_text(terminal.picture(shown, rows), encoding="utf-8")

    return make


def page(width: int, height: int, phone: bool) -> Callable[[Path], None]:
    """The report of 2019 in Chromium."""

    def make(out: Path) -> None:
        from PIL import Image
        from support import browser

        if browser.program() is None:
            raise MissingError("Chromium is not installed")
        report = WORK / "2019.html"
        quiet("report", old(), "-o", report, "--title", "Omni-Path, 2019: 20 to 320 ranks")
        with browser.browser() as opened:
            opened.open(report, width, height, phone)
            opened.screenshot(out, whole=False)
        with Image.open(out) as image:  # 64 colours are plenty for lines and text
            image.convert("RGB").quantize(64).save(out, optimize=True)

    return make


@dataclass(frozen=True)
class Picture:
    """One file of this folder."""

    name: str
    make: Callable[[Path], None]


DEFAULT = ("--where", "PSM2_RCVTHREAD=", "--where", "ppn=")
BOTH_160 = (
    "--where",
    "ranks=160",
    "--where",
    "message_size>=15kB",
    "--where",
    "message_size<=40kB",
)

PICTURES = (
    Picture("scaling-2019.svg", plot("scaling", old, *DEFAULT)),
    Picture("compare-2019.svg", plot("compare", old, "--by", "PSM2_RCVTHREAD")),
    Picture("sizes-2019.svg", plot("sizes", old, *BOTH_160)),
    Picture("latency-2019.svg", plot("latency", old, "--where", "ranks=20,40,100,160", *DEFAULT)),
    Picture("scaling-here.svg", plot("scaling", scales)),
    Picture("compare-here.svg", plot("compare", copies, "--by", "FI_SHM_DISABLE_CMA")),
    Picture("cdf-here.svg", plot("cdf", here, "--size", "1000", "--size", "8000")),
    Picture("ops-here.png", plot("ops", here, "--size", "1000", "--size", "60000")),
    Picture("ranks-here.png", plot("ranks", two_here)),
    Picture("matrix.svg", plot("matrix", pairs)),
    Picture("table.svg", screen(14, lambda: ["table", here()])),
    Picture(
        "compare.svg", screen(40, lambda: ["compare", *copies(), "--by", "FI_SHM_DISABLE_CMA"])
    ),
    Picture("explain.svg", screen(34, lambda: ["explain", old()])),
    Picture("history.svg", screen(30, lambda: ["history", *scales(), here()])),
    Picture(
        "import.svg",
        screen(
            8,
            lambda: ["import", table(), "-o", WORK / "2019.h5", "--link-rate", "100", "--force"],
            lambda: ["table", WORK / "2019.h5", "--where", "ranks=160", "--where", "ppn=2"],
        ),
    ),
    Picture("merge.svg", screen(8, lambda: ["merge", *scales(), "-o", WORK / "all.h5", "--force"])),
    Picture("check.svg", screen(8, lambda: ["check", here(), old()])),
    Picture(
        "export.svg",
        screen(
            8,
            lambda: [
                "export",
                here(),
                "--anonymize",
                "--key",
                key(),
                "-o",
                WORK / "away.h5",
                "--force",
            ],
        ),
    ),
    Picture("live.svg", screen(12, lambda: ["live", here(), "--once"])),
    Picture("report-desktop.png", page(1280, 1000, phone=False)),
    Picture("report-phone.png", page(390, 844, phone=True)),
)


def main() -> int:
    """Make the pictures that are asked for; 1 if any could not be made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="without suffix; default: all")
    parser.add_argument("--list", action="store_true", help="what there is")
    asked = parser.parse_args()
    known = {Path(picture.name).stem: picture for picture in PICTURES}
    if asked.list:
        print("\n".join(known))
        return 0
    for name in asked.names:
        if name not in known:
            parser.error(f"no figure '{name}'; --list tells what there is")
    missed = 0
    for name in asked.names or known:
        picture = known[name]
        try:
            picture.make(HERE / picture.name)
        except MissingError as error:
            missed += 1
            print(f"{picture.name}: skipped: {error}", file=sys.stderr)
        else:
            size = (HERE / picture.name).stat().st_size
            print(f"{picture.name}: {size / 1000:.0f} kB", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
