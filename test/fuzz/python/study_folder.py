# SPDX-License-Identifier: BSD-3-Clause
"""`a2a status`: the plan, the log and the preflight that jobs leave in a study's folder."""

import json
import tempfile
from functools import cache
from pathlib import Path

from a2aperf.studies import study
from property import FINE, NOT_SO, a2a, require

_FILES = ("plan-7.tsv", "log-7.tsv", "nodes-7.txt")


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="a2a-fuzz-"))
    (folder / "there.h5").touch()
    return folder


def target(data: bytes) -> None:
    """An input is the three files, parted by lines of `%%`; those behind the last `%%` are not there."""
    for name in _FILES:
        (_folder() / name).unlink(missing_ok=True)
    for name, content in zip(_FILES, data.split(b"%%\n"), strict=False):
        (_folder() / name).write_bytes(content)
    status, out = a2a("status", _folder(), "--json")
    if status not in (FINE, NOT_SO):
        return
    (job,) = json.loads(out)
    require(all(x["fate"] in list(study.Fate) for x in job["launches"]), "every launch has a fate")
    require(all(x["nodes"] >= 0 and x["ppn"] >= 0 for x in job["launches"]), "counts are not negative")
    for launch in study.read(_folder())[0].launches:
        require((launch.seconds is None) or abs(launch.seconds) < 1e12, "a launch takes a time")
    again, _ = a2a("status", _folder(), "--all")
    require(again == status, "both forms say the same")
