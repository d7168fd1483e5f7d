# SPDX-License-Identifier: BSD-3-Clause
"""What screenings are made of: a catalogue of one setting of one's own, and the launches of a plan."""

import json
from pathlib import Path


def own_catalogue(provider: str, name: str, values: list[str], default: str) -> str:
    """Its text: any of these values keeps messages from coming late."""
    return f"""\
provider = "{provider}"
[[setting]]
name = "{name}"
values = {json.dumps(values)}
default = "{default}"
what = "Messages do not come late."
source = "this test"
"""


def planned(file: Path) -> list[dict]:
    return json.loads(file.read_text())["launches"]
