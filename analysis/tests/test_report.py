# SPDX-License-Identifier: BSD-3-Clause
"""The report as text: what it says, what it escapes, what it refuses. `test_browser` shows it."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading, overview, plots, report, style, summary
from a2aperf.curves import Options
from a2aperf.explain import finders
from a2aperf.explain.finding import Finding
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

HARM = "</script><script>alert('x')</script><b onload=\"y\">"


def page(folder: Path, *setups: Setup) -> str:
    files = [synthetic.write_launch(folder / f"{i}.h5", s) for i, s in enumerate(setups)]
    return report.render(loading.load(files))


def body(text: str) -> str:
    """The page without its scripts and styles."""
    return re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.DOTALL)


def test_strings_of_a_file_are_escaped(tmp_path: Path) -> None:
    harm = Setup(
        environment={"FI_PROVIDER": HARM},
        labels={HARM: HARM},
        node_facts={"kernel": HARM},
        attributes={"command_line": HARM},
    )
    text = page(tmp_path, harm, Setup(environment={"FI_PROVIDER": "psm2"}))
    assert "<b onload" not in text
    assert "</script><script>alert" not in text
    assert html.escape(HARM, quote=False).split("'")[0] in body(text)
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    names = {t["name"] for c in json.loads(data[1]) for t in c["traces"] if "name" in t}
    assert any("&lt;script&gt;" in name for name in names)  # for plotly, which reads tags
    assert not any("<" in name for name in names)


def test_page_asks_for_nothing(tmp_path: Path) -> None:
    text = body(page(tmp_path, Setup()))
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "default-src 'none'" in text


def test_summary_tells_what_was_measured(tmp_path: Path) -> None:
    setups = [Setup(nodes=n, sizes=(1000, 60000), effects=Effects(late_share=0.1)) for n in (2, 4)]
    files = [synthetic.write_launch(tmp_path / f"{i}.h5", s) for i, s in enumerate(setups)]
    found = loading.load(files)
    said = summary.sentences(found)
    text = " ".join(said).replace("\u00a0", " ")
    assert "2 launches in 2 files: 4 to 8 ranks on 2 to 4 nodes over psm2" in text
    assert "2 message sizes (1 kB to 60 kB), n = 100 ops per point." in text
    best = found.points["gbps_node_net"].max()
    assert f"Best rate: {best:.1f} Gbit/s per node" in text
    assert "From 4 to 8 ranks the rate per node through its network ports at 60 kB" in text
    assert "began late on some rank" in text


def test_the_best_is_told_with_its_setting_and_its_traffic(tmp_path: Path) -> None:
    setup = Setup(sizes=(1000, 60000), modes=("tagged", "write"))
    found = loading.load([synthetic.write_launch(tmp_path / "run.h5", setup)])
    points = found.points
    (what, best, shortest, *_) = summary.sentences(found)
    assert "traffic" not in what
    best_of, shortest_of = points["gbps_node_net"], points["time_p50"]
    rate, time = int(np.argmax(best_of)), int(np.argmin(shortest_of))
    modes, traffic = list(points["mode"]), ["uniform", "incast"] * 2
    assert f"ranks on 4 nodes, {modes[rate]} (from the median op)" in best
    assert f"ranks on 4 nodes, {modes[time]} (" in shortest
    uneven = replace(found, points=points.assign(traffic=traffic))
    (what, best, *_) = summary.sentences(uneven)
    assert "traffic" not in what
    assert f", {modes[rate]}, {traffic[rate]} (from" in best
    alike = replace(found, points=points.assign(traffic="incast"))
    (what, best, *_) = summary.sentences(alike)
    assert "over psm2, traffic incast, 2 message sizes" in what
    assert "incast" not in best


def test_one_op_is_no_ops(tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "run.h5", Setup(sizes=(1000,), ops=1))
    found = loading.load([file])
    assert summary.sentences(found)[0].endswith("n\u00a0=\u00a01 op per point.")
    for kind in ("sizes", "cdf"):
        assert "n\u00a0=\u00a01 op per" in " ".join(plots.made(kind, found, Options()).said)


def test_table_has_every_point_and_marks_maxima(tmp_path: Path) -> None:
    text = body(page(tmp_path, Setup(sizes=(1000, 8000), ops=50)))
    table = re.search(r'<table id="points-table".*?</table>', text, re.DOTALL)
    assert table is not None
    assert table[0].count("<tr>") == 1 + 2
    assert table[0].count("= max") == 2  # the p99 of 50 ops


def test_every_cell_that_says_something_sorts(tmp_path: Path) -> None:
    text = body(page(tmp_path, Setup(ops=50, baseline=True), Setup(ops=50, nodes=2, seed=1)))
    assert ">undecided<" in text  # a word of the comparison, and a setting of the points
    assert ">engine=mpi<" in text or ">mpi<" in text
    cells = re.findall(r'<td[^>]* data-key="([^"]*)"[^>]*>([^<]*)<', text)
    assert len(cells) > 20
    assert {shown for key, shown in cells if not key} == {"–"}


def test_same_files_same_page(tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "a.h5", Setup())
    assert report.render(loading.load([file])) == report.render(loading.load([file]))


def test_report_writes_and_refuses(
    a2a: Callable[..., Outcome], launch: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    outcome = a2a("report", launch, "-o", out, "--title", "Cluster <X>")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert "<h1>Cluster &lt;X&gt;</h1>" in out.read_text(encoding="utf-8")
    before = launch.read_bytes()
    a2a("report", launch, "-o", launch).refused(".html")
    assert launch.read_bytes() == before
    a2a("report", tmp_path / "none.h5", "-o", out).refused("none.h5")
    a2a("report", launch, "-o", tmp_path / "no" / "r.html").refused("no")


@pytest.mark.parametrize("setup", [Setup(nodes=1, ppn=4), Setup(sync="barrier"), Setup(ops=1)])
def test_odd_launches_still_make_a_page(tmp_path: Path, setup: Setup) -> None:
    assert "<h2>Summary</h2>" in page(tmp_path, setup)


def test_every_line_has_its_marker_in_the_legend(tmp_path: Path) -> None:
    schedules = tuple(f"s{i:02}" for i in range(len(style.LOOKS)))
    text = page(tmp_path, Setup(sizes=(1000,), ops=5, schedules=schedules))
    swatches = re.findall(r'<svg class="swatch".*?</svg>', text, re.DOTALL)
    for look in style.LOOKS:
        of_look = [swatch for swatch in swatches if look.color in swatch]
        shape = "<circle " if look.symbol == "circle" else '<path d="M'
        assert any(shape in swatch for swatch in of_look), look.symbol


def test_a_folder_with_a_merged_copy_is_reported(
    a2a: Callable[..., Outcome], tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    files = [synthetic.write_launch(folder / f"{n}.h5", Setup(nodes=n, seed=n)) for n in (2, 4)]
    assert a2a("merge", *files, "-o", folder / "all.h5").status == 0
    outcome = a2a("report", folder)
    assert outcome.status == 0, outcome.err
    assert "all.h5: holds launches that other files here hold, too" in outcome.err
    said = summary.sentences(loading.load(files))[0]
    assert said.split(":")[0] in body((folder / "report.html").read_text(encoding="utf-8"))
    # With a launch that only the merged file has, the parts are the copies.
    files[0].unlink()
    outcome = a2a("report", folder)
    assert outcome.status == 0, outcome.err
    assert "4.h5: holds launches" in outcome.err
    assert "all.h5: holds" not in outcome.err


def test_the_page_begins_with_where_when_and_the_outcome(tmp_path: Path) -> None:
    setups = [
        Setup(
            nodes=2,
            ops=60,
            seed=seed,
            labels={"cluster": "north"},
            effects=Effects(timer=(0.03, 3e6), straggler=(3, 0.4)),
        )
        for seed in range(3)
    ]
    text = body(page(tmp_path, *setups)).replace("\u00a0", " ")
    top = text[: text.index("<nav")]
    assert "<dd>north</dd>" in top
    assert "2 hosts: node001 and node002" in top
    assert "Measured" in top
    assert "Stands out: " in top
    assert "Long tails" in top or "What a message costs" in top


def test_nothing_that_stands_out_is_said_too(tmp_path: Path) -> None:
    text = body(page(tmp_path, Setup(nodes=2, sizes=(8000,), ops=400)))
    top = text[: text.index("<nav")]
    assert "Nothing stands out." in top or "Stands out: " in top
    if "<h2>Findings" not in text:
        assert "Nothing stands out." in top


def test_a_finding_stands_once_with_the_places_it_holds_for() -> None:
    texts = ["p90 is 3.4 times p50", "p90 is 5 times p50", "a mode at 3 µs"]
    found = [Finding("tails", text, f"launch {index}", 100) for index, text in enumerate(texts)]
    first, second = overview.once(found)
    assert (first.finding, first.elsewhere) == (found[0], "launch 1")
    assert (second.finding, second.elsewhere) == (found[2], "")
    same_place = [found[0], replace(found[1], where="launch 0")]
    assert [one.finding for one in overview.once(same_place)] == same_place


def test_fi_info_stands_once_and_not_on_paper(tmp_path: Path) -> None:
    files = [synthetic.write_launch(tmp_path / f"{i}.h5", Setup(seed=i)) for i in range(3)]
    for path in files:
        with edited(path) as file:
            del file["segments/0/fi_info"]
            file["segments/0/fi_info"] = "prov_name: psm2"
    text = body(report.render(loading.load(files)))
    assert text.count("prov_name: psm2") == 1
    assert "of all 3 launches" in text
    before = text[: text.index("prov_name")]
    assert '<div class="screen-only">' in before
    assert before.rindex("<details>") > before.rindex("</details>")  # folded
    rules = re.search(r"@media print \{.*?\n\}", report.render(loading.load(files)), re.DOTALL)
    assert rules is not None
    assert re.search(r"[^}]*\.screen-only[^{]*\{ display: none !important; \}", rules[0])


def test_rates_come_before_times(tmp_path: Path) -> None:
    text = body(page(tmp_path, Setup(sizes=(8000,))))
    table = text[text.index('id="points-table"') :]
    assert table.index("Gbit/s") < table.index("p50")


def test_rates_come_before_times_in_a_comparison(
    a2a: Callable[..., Outcome], tmp_path: Path
) -> None:
    setups = [Setup(sizes=(8000,), seed=i, environment={"FI_A": str(i)}) for i in range(2)]
    text = body(page(tmp_path, *setups))
    places = [text.index(f">{name}<") for name in ("A Gbit/s", "B Gbit/s", "A µs", "B µs")]
    assert places == sorted(places)
    said = a2a("compare", *sorted(tmp_path.glob("*.h5")), "--by", "FI_A").out
    (heading,) = (line for line in said.splitlines() if "n A:B" in line)
    assert heading.index("A Gbit/s") < heading.index("B Gbit/s") < heading.index("A µs")


def test_the_verdict_of_a_comparison_is_on_top(tmp_path: Path) -> None:
    setups = [
        Setup(
            sizes=(8000, 60000),
            ops=40,
            seed=seed,
            environment={"PSM2_RCVTHREAD": value},
            effects=Effects(slowdown=1.5 if value == "1" else 1.0, launch_spread=0.01),
            started=datetime(2025, 6, 15, hour=seed, tzinfo=UTC),
        )
        for seed, value in enumerate("0110011001100110")
    ]
    text = body(page(tmp_path, *setups)).replace("\u00a0", " ")
    top = text[: text.index("<nav")]
    assert "PSM2_RCVTHREAD=1 against PSM2_RCVTHREAD=0: slower: 2 of 2 cells, by 3" in top


def test_the_page_has_a_finding_once_with_the_launches_it_holds_for(tmp_path: Path) -> None:
    effects = Effects(bimodal=(0.2, 5.0))
    setups = [Setup(nodes=2, sizes=(8000,), ops=400, seed=i, effects=effects) for i in range(3)]
    files = [synthetic.write_launch(tmp_path / f"{i}.h5", s) for i, s in enumerate(setups)]
    found = loading.load(files)
    merged = overview.once(finders.explain(found.measured(finders.ROLES)))
    several = [one for one in merged if one.elsewhere]
    assert several
    text = html.unescape(body(report.render(found)))
    for one in several:
        assert text.count(f"The same with other figures: {one.elsewhere}") >= 1
    assert text.count("The same with other figures: ") == len(several)


def test_the_summary_has_the_findings_figures(table_2019: Path) -> None:
    found = loading.load([table_2019])
    said = " ".join(summary.sentences(found))
    told = " ".join(one.text for one in finders.explain(found.measured(finders.ROLES)))
    assert "from 33.78 to 11.21" in said
    assert "33.78 at 20 ranks to 11.21 at 180" in told


def test_settings_that_are_not_compared_are_named(tmp_path: Path) -> None:
    names = [f"FI_{letter}" for letter in "ABCDE"]
    setups = [
        Setup(sizes=(8000,), seed=i, environment={name: str(int(name == of)) for name in names})
        for i, of in enumerate(["", *names])
    ]
    text = body(page(tmp_path, *setups))
    assert "<li>Not compared here: FI_D, FI_E; a2a compare --by NAME does it.</li>" in text
    (tmp_path / "three").mkdir()
    fewer = [replace(one, environment={**one.environment, "FI_D": "0", "FI_E": "0"})
             for one in setups[:4]]  # fmt: skip
    assert "compared here" not in body(page(tmp_path / "three", *fewer))


def test_comparisons_that_are_not_drawn_are_counted(tmp_path: Path) -> None:
    setups = [Setup(sizes=(8000,), seed=i, environment={"FI_A": str(i)}) for i in range(5)]
    assert "3 of 4 comparisons shown" in body(page(tmp_path, *setups))


def test_settings_whose_scaling_is_not_told_are_counted(tmp_path: Path) -> None:
    files = [
        synthetic.write_launch(
            tmp_path / f"{i}-{nodes}.h5",
            Setup(nodes=nodes, sizes=(8000,), seed=i, environment={"FI_A": str(i)}),
        )
        for i in range(6)
        for nodes in (2, 4)
    ]
    said = summary.sentences(loading.load(files))
    assert sum(one.startswith("From 4 to 8 ranks") for one in said) == 4
    assert "2 more settings have several scales, too, not told here." in said
    said = summary.sentences(loading.load(files[:8]))
    assert not [one for one in said if "not told here" in one]


def test_light_pages_share_a_script(a2a: Callable[..., Outcome], tmp_path: Path) -> None:
    for name in ("a", "b"):
        path = synthetic.write_launch(tmp_path / f"{name}.h5", Setup(sizes=(8000,), ops=6))
        assert a2a("report", path, "--light", "-o", tmp_path / f"{name}.html").status == 0
    script = tmp_path / report.SCRIPT_FILE
    assert script.stat().st_size > 10**6
    for name in ("a", "b"):
        text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert f'<script src="{script.name}"></script>' in text
        assert len(text) < 2 * 10**5
