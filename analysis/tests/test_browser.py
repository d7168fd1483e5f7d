# SPDX-License-Identifier: BSD-3-Clause
"""The report in a real headless Chromium: nothing complains, everything is drawn and readable."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2aperf import loading, report
from a2aperf.screening import catalogue, choosing, plan
from a2aperf.screening.choosing import Wanted
from support import browser, synthetic
from support.browser import Page
from support.edited import edited
from support.synthetic import Effects, Setup
from support.synthetic_pairs import Truth, topology, write_pairs
from support.synthetic_screening import launched

EXAMINE = (Path(__file__).parent / "support" / "examine.js").read_text()
HOSTILE = "<img src=http://10.255.255.1/x onerror=console.error(1)></script><script>alert(1)//"
SCREENS = {"desktop": (1280, 900, False), "phone": (390, 844, True)}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser.program() is None, reason="Chromium is not installed (Debian: apt install chromium)"
    ),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of: one launch; two settings over three scales; strings that mean harm; pairs."""
    folder = tmp_path_factory.mktemp("reports")
    quirks = Effects(timer=(0.03, 3e6), straggler=(3, 0.4), late_share=0.05, launch_spread=0.02)
    sizes = (1000, 4000, 16000, 60000)
    launches = {
        (nodes, value, again): Setup(
            nodes=nodes, sizes=sizes, ops=60, seed=nodes * 10 + int(value) + 100 * again,
            environment={"PSM2_RCVTHREAD": value}, effects=quirks, sentinel=True,
        )
        for nodes in (2, 4, 8)
        for value in ("0", "1")
        for again in (0, 1)
    }  # fmt: skip
    harm = Setup(
        sizes=sizes, environment={"FI_PROVIDER": HOSTILE}, labels={HOSTILE: HOSTILE},
        node_facts={"kernel": HOSTILE}, attributes={"command_line": HOSTILE},
    )  # fmt: skip
    plain = Setup(sizes=sizes, environment={"FI_PROVIDER": "psm2"})
    sets = {
        "one": [Setup(sizes=(1024, 8192, 65536), effects=quirks)],
        "settings": list(launches.values()),
        "hostile": [harm, plain],
    }
    matrix = folder / "pairs.h5"
    truth = Truth(senders={3: 2.0}, crowded={(4, 7): 2.0}, per_switch=4)
    attached = {"topology.txt": topology(12, 4)}
    write_pairs(matrix, Setup(12, 2, (8, 10**6), ops=9, attachments=attached), truth)
    (folder / "pairs.html").write_text(report.render(loading.load([matrix])), encoding="utf-8")
    made = {name: _report(folder, name, setups) for name, setups in sets.items()}
    return {**made, "pairs": folder / "pairs.html", "screening": _screening(folder / "screening")}


def _screening(folder: Path) -> Path:
    """One setting matters, and waits for its confirmation."""
    settings = ("PSM2_RCVTHREAD", *(f"A2APERF_DUMMY_OF_A_LONG_NAME_{i}=1" for i in range(6)))
    made = choosing.make(catalogue.of("psm2"), Wanted("psm2", settings), 5)
    setup = Setup(sizes=(1000, 60000), ops=10, provider="psm2")
    files = launched(folder, made, {"PSM2_RCVTHREAD": 0.12}, setup=setup)
    (folder / plan.NAME).write_text(made.as_json())
    out = folder / "page.html"
    out.write_text(report.render(loading.load(files)), encoding="utf-8")
    return out


def _report(folder: Path, name: str, setups: list[Setup]) -> Path:
    files = [
        synthetic.write_launch(folder / f"{name}-{index}.h5", setup)
        for index, setup in enumerate(setups)
    ]
    out = folder / f"{name}.html"
    out.write_text(report.render(loading.load(files)), encoding="utf-8")
    return out


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["one", "settings", "hostile", "pairs", "screening"])
def test_nothing_is_wrong(page: Page, pages: dict[str, Path], name: str, screen: str) -> None:
    page.open(pages[name], *SCREENS[screen])
    assert page.run(EXAMINE) == []
    assert page.complaints() == []
    assert page.requests() == []


@pytest.mark.parametrize("screen", SCREENS)
def test_a_light_page_is_drawn_too(
    page: Page, pages: dict[str, Path], tmp_path: Path, screen: str
) -> None:
    found = loading.load([pages["one"].with_name("one-0.h5")])
    light = tmp_path / "light.html"
    light.write_text(report.render(found, script_file=report.SCRIPT_FILE), encoding="utf-8")
    (tmp_path / report.SCRIPT_FILE).write_text(report.charts_script(), encoding="utf-8")
    page.open(light, *SCREENS[screen])
    assert page.run(EXAMINE) == []
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        ("Plotly.purge(document.querySelector('.chart'))", "is not drawn"),
        ("document.querySelector('.scatterlayer').remove()", "marks painted"),
        ("document.querySelector('figcaption').style.fontSize = '8px'", "small"),
        ("document.querySelector('h1').style.color = '#bbb'", "contrast"),
        ("document.querySelector('h1').style.width = '3000px'", "wide"),
        ("document.querySelector('.xtick text').textContent = 'x'.repeat(60)", "overlap"),
    ],
)
def test_the_examination_sees_damage(
    page: Page, pages: dict[str, Path], damage: str, word: str
) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    page.run(f"void ({damage})")
    page.settle()
    assert any(word in sentence for sentence in page.run(EXAMINE))


def test_complaints_and_requests_are_seen(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<p>x<img src='http://127.0.0.1:9/x.png'><script>nonsense()</script>")
    page.open(bad, *SCREENS["desktop"])
    assert page.requests() == ["http://127.0.0.1:9/x.png"]
    assert any("nonsense is not defined" in text for text in page.complaints())


def test_policy_forbids_the_network(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["one"], *SCREENS["desktop"])
    script = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
    assert page.run(script) == "refused"
    assert any("Content Security Policy" in text for text in page.complaints())
    titles = (
        "[...new Set([...document.querySelectorAll('.modebar-btn')].map(b => b.dataset.title))]"
    )
    wanted = ["Download plot", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]
    assert page.run(titles) == wanted  # and none that uploads


def test_legend_hides_and_shows_lines(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    shown = (
        "[...document.querySelectorAll('#scaling .chart')]"
        ".map(d => d._fullData.filter(t => t.visible === true).length)"
    )
    before = page.run(shown)
    press = "document.querySelector('#scaling .legend button').click()"
    page.run(press)
    page.settle()
    hidden = page.run(shown)
    assert all(now < then for now, then in zip(hidden, before, strict=True))
    page.run(press)
    page.settle()
    assert page.run(shown) == before


def test_hover_tells_numbers(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    page.run("document.querySelector('#sizes').scrollIntoView({behavior: 'instant'})")
    page.settle()
    place = page.run(
        "(() => { const b = document.querySelector('#sizes .chart .scatterlayer .point')"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()"
    )
    for shift in (3, 0):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0] + shift, y=place[1])
    page.wait_for("document.querySelector('#sizes .hoverlayer text')")
    said = page.run("document.querySelector('#sizes .hoverlayer').textContent")
    assert "1\u00a0kB" in said
    assert "Gbit/s" in said
    assert "n\u00a0=\u00a060 ops" in said


def test_marks_of_a_matrix_stand_in_its_cells(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["pairs"], *SCREENS["desktop"])
    drawn = "document.querySelector('#matrix .chart')"
    assert page.run(f"{drawn}._fullLayout.xaxis._categories.length") == 12
    marks = page.run(f"{drawn}.data.slice(1).map(t => [t.y[0], t.x[0]])")
    assert marks == [["node005", "node008"]] * 2


def test_drag_zooms_and_labels_follow(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    page.run("document.querySelector('#latency').scrollIntoView({behavior: 'instant'})")
    page.settle()
    x, y, width, height = page.run(
        "(() => { const b = document.querySelector('#latency .nsewdrag').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height] })()"
    )
    ends = [(x + 0.3 * width, y + 0.3 * height), (x + 0.7 * width, y + 0.7 * height)]
    steps = [("mousePressed", ends[0]), ("mouseMoved", ends[1]), ("mouseReleased", ends[1])]
    for kind, (px, py) in steps:
        page.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=px,
            y=py,
            button="left",
            buttons=1,
            clickCount=1,
        )
    zoomed = "document.querySelector('#latency .chart')._fullLayout.yaxis.range"
    before = page.run("document.querySelectorAll('#latency .chart')[1]._fullLayout.yaxis.range")
    page.wait_for(f"({zoomed})[1] - ({zoomed})[0] < {0.6 * (before[1] - before[0])}")
    page.settle()
    assert page.run(EXAMINE) == []


def test_tables_sort_numbers_as_numbers(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    column = page.run(
        "[...document.querySelectorAll('#points-table th')]"
        ".findIndex(h => h.textContent.startsWith('msg'))"
    )
    press = f"document.querySelectorAll('#points-table th button')[{column}].click()"
    read = (
        "[...document.querySelectorAll('#points-table tbody tr')]"
        f".map(r => Number(r.cells[{column}].textContent))"
    )
    page.run(press)
    values = page.run(read)
    assert values == sorted(values)
    assert len(set(values)) == 4
    page.run(press)
    assert page.run(read) == sorted(values, reverse=True)


def test_prints_whole(page: Page, pages: dict[str, Path], tmp_path: Path) -> None:
    page.open(pages["settings"], *SCREENS["desktop"])
    paper = tmp_path / "report.pdf"
    page.print_pdf(paper)
    assert page.complaints() == []
    reader = shutil.which("pdftotext")
    if reader is None:
        pytest.skip("pdftotext is not installed (Debian: apt install poppler-utils)")
    words = [reader, "-layout", str(paper), "-"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True).stdout
    for needed in ("Summary", "Message size per pair of ranks", "Provenance", "command line"):
        assert needed in text, needed
    assert text.count("PSM2_RCVTHREAD") > 20  # the rows of the table and every launch, unfolded


def test_what_libfabric_said_is_not_on_paper(page: Page, tmp_path: Path) -> None:
    reader = shutil.which("pdftotext")
    if reader is None:
        pytest.skip("pdftotext is not installed (Debian: apt install poppler-utils)")
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(sizes=(8000,), ops=6))
    with edited(path) as file:
        del file["segments/0/fi_info"]
        file["segments/0/fi_info"] = "prov_name: psm2"
    out, paper = tmp_path / "a.html", tmp_path / "a.pdf"
    out.write_text(report.render(loading.load([path])), encoding="utf-8")
    page.open(out, *SCREENS["desktop"])
    told = "document.querySelector('.screen-only pre')"
    assert page.run(f"{told}.textContent") == "prov_name: psm2"
    assert not page.run(f"{told}.closest('details').open")
    page.print_pdf(paper)
    words = [reader, "-layout", str(paper), "-"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True).stdout
    assert "Provenance" in text
    assert "prov_name" not in text
