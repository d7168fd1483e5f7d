# SPDX-License-Identifier: BSD-3-Clause
"""The diagrams of the documents show calls that the code makes."""

import pytest
from blocks import DOCUMENTS, Block, blocks
from diagrams import REMARK, offences

DIAGRAMS = [block for document in DOCUMENTS for block in blocks(document) if block.remark == REMARK]


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in DIAGRAMS])
def test_a_diagram_shows_what_the_code_has(block: Block):
    assert offences(block.text) == []


def test_a_launch_and_an_op_have_one_each():
    begins = [block.text.split()[0] for block in DIAGRAMS]
    assert begins == ["run_launch()", "PointRunner::run_block()"]


@pytest.mark.parametrize(
    ("diagram", "offence"),
    [
        ("run_lunch()   a launch", "run_lunch() is not in the code"),
        ("Launch::prepare()", "Launch::prepare() is not in the code"),
        ("Lunch   a type", "Lunch is not in the code"),
        ("run_launch()   ends by give_in()", "give_in is not in the code"),
        ("OpLoop::run()   keeps sent_done", "sent_done is not in the code"),
        ("OpLoop::run()   of an OpEngine", "OpEngine is not in the code"),
        ("run_launch()\n├─ Launch::connect()\n└─ OpLoop::run()", "run_launch() has no OpLoop::run()"),
        ("Launch::connect()\n└─ OwnSamples", "Launch::connect() has no OwnSamples"),
        ("Workload::measure()\n└─ prepare()", "Workload::measure() has no prepare()"),
        ("Launch\n  prepare()", "not a line of a diagram:   prepare()"),
    ],
)
def test_what_the_code_does_not_have_is_found(diagram: str, offence: str):
    assert offences(diagram) == [offence]


def test_what_the_code_has_is_no_offence():
    assert offences("Launch\n├─ prepare()\n└─ Measurement   its connect() comes later\nWorkload::measure()\n└─ measure_all()") == []
