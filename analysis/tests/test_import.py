# SPDX-License-Identifier: BSD-3-Clause
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading
from a2aperf.importers import compat, formats
from conftest import DATA, TABLE_2019, Outcome

Run = Callable[..., Outcome]
FIRST_216 = slice(0, 216)


def blocks(text: str) -> list[list[str]]:
    """Runs of table rows in a text, by rank count: what lies between them is left out."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if re.match(r"^ +\d+ +\d+ ", line):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


# The 2019 table ----------------------------------------------------------------------------------


def test_2019_has_247_rows_in_7_launches(table_2019: Path) -> None:
    points = loading.load([table_2019]).points
    assert len(points) == 247
    counts = points.groupby("launch", sort=False).size().tolist()
    assert counts == [216, 6, 6, 6, 6, 6, 1]


def test_2019_is_marked_as_a_summary_of_its_origin(table_2019: Path) -> None:
    found = loading.load([table_2019])
    attributes = found.attributes["2019.h5"]
    assert attributes["raw_samples"] == 0
    assert attributes["origin"] == "table-2019: alltoall-omnipath-2019.txt"
    assert attributes["percentile_rule"] == "index"
    assert not found.points["has_raw"].any()
    assert set(found.points["engine"]) == {"table-2019"}


def test_2019_throughput_is_r_b_8_over_p50(table_2019: Path) -> None:
    """Within the rounding of p50 in all 247 rows, to the last digit in 245."""
    points = loading.load([table_2019]).points
    bits = (points["ranks"] * points["message_size"] * 8).to_numpy(dtype=float)
    printed = points["gbps_compat"].to_numpy()
    p50 = points["time_p50"].to_numpy()  # rounded to 10 ns
    exact = np.abs(bits / p50 - printed) <= 0.005 + 1e-9
    within = (bits / (p50 + 5) - 0.005 <= printed) & (printed <= bits / (p50 - 5) + 0.005)
    assert within.sum() == 247
    assert exact.sum() == 245
    assert compat.disagreements(compat.parse(TABLE_2019, TABLE_2019.read_text())) == []


def test_2019_statistics_ascend(table_2019: Path) -> None:
    points = loading.load([table_2019]).points
    for low, high in (("min", "p50"), ("p50", "p90"), ("p90", "p99")):
        assert (points[f"time_{low}"] <= points[f"time_{high}"]).all()


def test_2019_unknown_stays_unknown(table_2019: Path) -> None:
    """Ranks per machine of the first 216 rows are not stated: unknown, not 1."""
    first = loading.load([table_2019]).points[FIRST_216]
    assert first["ppn"].isna().all()
    assert first["nodes"].isna().all()
    for column in ("gbps_node_net", "gbps_node_compat", "efficiency", "time_max", "time_p50_low"):
        assert first[column].isna().all(), column
    assert (first["provider"] == "").all()


def test_2019_notes_become_ranks_per_node_and_settings(table_2019: Path) -> None:
    found = loading.load([table_2019])
    launches = list(found.launches.values())
    placed = [
        (launch.environment.get("PSM2_RCVTHREAD"), ppn, nodes)
        for launch, ppn, nodes in zip(
            launches,
            found.points.groupby("launch", sort=False)["ppn"].first(),
            found.points.groupby("launch", sort=False)["nodes"].first(),
            strict=True,
        )
    ]
    assert placed[1:] == [
        ("0", 2, 80),
        ("0", 4, 80),
        ("0", 2, 20),
        ("0", 2, 40),
        ("0", 4, 40),  # "15.7*4" in that note is no number of machines
        (None, 4, 20),  # after the line of equal signs nothing says that the setting still holds
    ]
    assert placed[0][0] is None
    assert "80*2 nodes" in launches[1].attributes["note"]


def test_2019_effect_of_the_receive_thread(table_2019: Path) -> None:
    points = loading.load([table_2019]).points
    default = points[points["launch"].str.endswith("#0") & (points["ranks"] == 160)]
    off = points[points["launch"].str.endswith("#1")]
    both = off.merge(default, on="message_size", suffixes=("_off", "_default"))
    ratio = (both["time_p50_default"] / both["time_p50_off"]).round(2).tolist()
    assert ratio == [1.73, 2.08, 2.38, 2.33, 2.29, 2.26]
    assert off["gbps_node_compat"].iloc[4] == pytest.approx(2 * 27.83, abs=0.01)


def test_2019_comes_back_line_by_line(a2a: Run, table_2019: Path) -> None:
    out = a2a("table", table_2019, "--layout", "compat").out
    original = TABLE_2019.read_text()
    assert blocks(out) == blocks(original)
    assert out.splitlines()[:227] == original.splitlines()[:227]  # headings and blank lines too


def test_2019_comes_back_through_its_own_layout(a2a: Run, table_2019: Path, tmp_path: Path) -> None:
    text = tmp_path / "again.txt"
    text.write_text(a2a("table", table_2019, "--layout", "compat").out)
    assert a2a("import", text, "-o", tmp_path / "again.h5").status == 0
    first, again = loading.load([table_2019]), loading.load([tmp_path / "again.h5"])
    columns = ["ranks", "message_size", "ppn", "time_p50", "time_p99", "gbps_compat"]
    assert again.points[columns].equals(first.points[columns])
    # 20*2 and 40*2 share their settings, so they share a heading now
    assert again.values("PSM2_RCVTHREAD").tolist() == first.values("PSM2_RCVTHREAD").tolist()


def test_options_say_what_the_text_does_not(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "given.h5"
    options = "--ppn 1 --provider psm2 --link-rate 100 --env PSM2_RCVTHREAD=1 --label when=2019"
    assert a2a("import", TABLE_2019, "-o", path, *options.split()).status == 0
    found = loading.load([path])
    assert set(found.points[FIRST_216]["ppn"]) == {1.0}
    assert found.points["ppn"].tolist()[216:217] == [2.0]  # the text wins where it speaks
    variable = found.values("PSM2_RCVTHREAD")
    assert (variable[FIRST_216] == "1").all()
    assert variable[216] == "0"
    assert found.points["efficiency"].notna().all()
    row = found.points.iloc[23]  # 20 ranks on 20 nodes, 60000 B, p50 284.20 µs
    assert row["gbps_node_net"] == pytest.approx(19 * 60000 * 8 / 284_200)
    assert row["efficiency"] == pytest.approx(row["gbps_node_net"] / 100)
    assert set(found.values("when")) == {"2019"}
    assert {one.has_stated_link for one in found.launches.values()} == {True}
    with_unit = ["--ppn", "1", "--link-rate", "100000Mbit/s"]
    assert a2a("import", TABLE_2019, "-o", tmp_path / "unit.h5", *with_unit).status == 0
    same = loading.load([tmp_path / "unit.h5"])
    assert same.points["efficiency"].tolist() == found.points["efficiency"].tolist()


HEADING = "\n".join(TABLE_2019.read_text().splitlines()[:2]) + "\n"
ROW = (
    "           20        1000     100       63.69      263.97       67.51     1684.35     1740.74"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty"]),
        ("hello\nworld\n", ["line 1, column 1", "no known table"]),
        (HEADING, ["line 1, column 1", "no row under it"]),
        (HEADING + ROW + "\n", ["line 3, column 94", "expected 9 columns", "found 8"]),
        (HEADING + ROW + "  2.37  1\n", ["line 3, column 102", "found 10"]),
        (HEADING + ROW + "  nan\n", ["line 3, column 96", "positive number", "'nan'"]),
        (HEADING + ROW + "  2,37\n", ["line 3, column 96", "expected a number", "'2,37'"]),
        (HEADING + ROW.replace(" 100 ", " 0 ") + "  2.37\n", ["line 3", "positive", "'0'"]),
        (HEADING + ROW.replace("1000 ", "10.5 ") + "  2.37\n", ["msg (B) is a whole number"]),
        (HEADING + ROW.replace("63.69", "69.69") + "  2.37\n", ["do not ascend"]),
        (HEADING + ROW.replace("20 ", " 1 ", 1) + "  2.37\n", ["at least 2 ranks"]),
        (HEADING + ROW + "  2.37\n\na note\n" + ROW + "  2.37\n", ["line 6", "heading comes"]),
    ],
)
def test_text_that_is_no_table_names_line_and_column(
    a2a: Run, tmp_path: Path, text: str, words: list[str]
) -> None:
    path, output = tmp_path / "x.txt", tmp_path / "x.h5"
    path.write_text(text)
    a2a("import", path, "-o", output).refused("x.txt", *words)
    assert list(tmp_path.iterdir()) == [path]


def test_a_throughput_that_does_not_fit_is_said(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(HEADING + ROW + "                2.38\n")
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert outcome.status == 0
    assert "20 ranks, 1000 B: 2.38 Gbit/s is not R·B·8/p50 = 2.37" in outcome.err


def test_a_rate_rounded_to_nothing_is_computed(a2a: Run, tmp_path: Path) -> None:
    path, row = tmp_path / "x.txt", ROW.replace("67.51", "99999999.99").replace("1684.35", "1e8")
    path.write_text(HEADING + row.replace("1740.74", "1e8") + "  0.00\n")
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert (outcome.status, outcome.err) == (0, "")
    computed = 20 * 1000 * 8 / 99_999_999_990
    assert loading.load([tmp_path / "x.h5"]).points["gbps_compat"][0] == pytest.approx(computed)


def test_uneven_ppn_is_refused(a2a: Run, tmp_path: Path) -> None:
    a2a("import", TABLE_2019, "-o", tmp_path / "x.h5", "--ppn", 3).refused("--ppn 3", "20 ranks")


# OSU ---------------------------------------------------------------------------------------------


def test_osu_full_with_percentiles(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "osu.h5"
    text = DATA / "osu_alltoall-fz.txt"
    assert a2a("import", text, "-o", path, "--ranks", 4, "--ppn", 2).status == 0
    found = loading.load([path])
    assert found.points["message_size"].tolist() == [1024 * 2**i for i in range(7)]
    row = found.points.iloc[6]
    printed = text.read_text().splitlines()[-1].split()
    assert row["time_mean"] == pytest.approx(float(printed[1]) * 1e3)
    assert row["ops"] == int(printed[4])
    assert row["time_p50"] == pytest.approx(float(printed[5]) * 1e3)
    assert row["time_p99"] == pytest.approx(float(printed[7]) * 1e3)
    assert np.isnan(row["time_min"])  # OSU's minimum is over ranks, not over ops
    assert np.isnan(row["time_max"])
    assert row["gbps_rank"] == pytest.approx(3 * 65536 * 8 / row["time_p50"])
    launch = next(iter(found.launches.values()))
    assert launch.attributes["program_version"] == "7.4"
    assert "mean over the ranks" in launch.attributes["time_meaning"]


@pytest.mark.parametrize("name", ["osu_alltoall-plain.txt", "osu_alltoall-c-z99.txt"])
def test_osu_with_fewer_columns(a2a: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "osu.h5"
    assert a2a("import", DATA / name, "-o", path, "--ranks", 4).status == 0
    points = loading.load([path]).points
    assert len(points) == 3
    assert points["time_p50"].isna().all()
    assert points["gbps_rank"].isna().all()  # a bandwidth is of the median, which is unknown
    assert points["gbps_sustained"].notna().all()
    assert points["ops"].isna().all() == (name == "osu_alltoall-plain.txt")
    assert a2a("table", path, "--layout", "compat").status == 0


def test_osu_needs_the_ranks(a2a: Run, tmp_path: Path) -> None:
    outcome = a2a("import", DATA / "osu_alltoall-fz.txt", "-o", tmp_path / "x.h5")
    outcome.refused("does not say how many ranks", "--ranks")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("All-to-All", "All-to-Allv"), ["line 2, column 1", "not osu_alltoall"]),
        (("Avg Latency(us)", "Bandwidth (MB/s)"), ["line 4", "Avg Latency(us)"]),
        (("# Size ", "# Size("), ["line 4", "no column 'Size'"]),
        (("9.78", "9.78x"), ["line 5, column 25", "expected a number"]),
        (("9.78", ""), ["line 5", "expected 8 columns, found 7"]),
        (("# Size", "# size"), ["line 5", "expected the heading"]),
    ],
)
def test_osu_that_is_none(
    a2a: Run, tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    path = tmp_path / "osu.txt"
    text = (DATA / "osu_alltoall-fz.txt").read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    a2a("import", path, "-o", tmp_path / "x.h5", "--ranks", 4).refused("osu.txt", *words)


def test_osu_failed_validation_is_no_result(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text((DATA / "osu_alltoall-c-z99.txt").read_text().replace("Pass", "Fail", 1))
    a2a("import", path, "-o", tmp_path / "x.h5", "--ranks", 4).refused("validation says 'Fail'")


# perftest ----------------------------------------------------------------------------------------


def test_perftest_bandwidth_in_both_units(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "perftest.h5"
    texts = sorted(DATA.glob("perftest-*bw*.json"))
    assert a2a("import", *texts, "-o", path).status == 0
    found = loading.load([path])
    assert found.points["mode"].tolist() == ["Send_Bidirectional_BW", "RDMA_Write_BW"]
    # 195.98 Gbit/s both ways together; 11681.25 MiB/s
    assert found.points["gbps_rank"].tolist() == pytest.approx([195.98 / 2, 11681.25 * 0.008388608])
    assert found.points["time_mean"][1] == pytest.approx(65536 * 8 / (11681.25 * 0.008388608))
    assert found.points["time_p50"].isna().all()
    assert found.points["window"].tolist() == [128, 128]
    assert found.points["ranks"].tolist() == [2, 2]


def test_perftest_latency(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "lat.h5"
    assert a2a("import", DATA / "perftest-send-lat.json", "-o", path).status == 0
    found = loading.load([path])
    row = found.points.iloc[0]
    assert row["time_p50"] == pytest.approx(890)
    assert row["time_p99"] == pytest.approx(1030)
    assert row["time_max"] == pytest.approx(3420)
    assert np.isnan(row["gbps_rank"])
    launch = next(iter(found.launches.values()))
    assert launch.attributes["domain"] == "mlx5_0"
    assert "Mtu=4096" in launch.attributes["note"]


MIB = 2**20 * 8 / 1e9


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("write-bw", {"gbps_rank": 34.74 * MIB, "msg_rate": 556, "window": 128}),
        ("send-bw-events", {"gbps_rank": 17.94 * MIB, "msg_rate": 287}),
        ("send-bidirectional-bw-gbits", {"gbps_rank": 0.20 / 2, "window": 128}),
        ("send-lat", {"time_p50": 3221.39e3, "time_stddev": 2226.79e3, "window": 1}),
        ("write-lat-duration", {"time_mean": 4042.70e3, "ops": 249}),
    ],
)
def test_perftest_of_debian_12_writes_no_json_and_is_read(
    a2a: Run, tmp_path: Path, name: str, figures: dict[str, float]
) -> None:
    """Files that ib_write_bw and its like, release 4.5, wrote on a SoftRoCE adapter."""
    text = DATA / "perftest-4.5" / f"{name}.json"
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.read_text())
    assert a2a("import", text, "-o", tmp_path / "x.h5").status == 0
    found = loading.load([tmp_path / "x.h5"])
    row = found.points.iloc[0]
    assert {key: row[key] for key in figures} == pytest.approx(figures)
    (launch,) = found.launches.values()
    assert launch.attributes["domain"] == "rxe0"
    assert "Mtu=4096" in launch.attributes["note"]


def test_perftest_that_printed_the_rate_only_is_no_result(a2a: Run, tmp_path: Path) -> None:
    text = DATA / "perftest-4.5" / "write-bw-only.json"
    a2a("import", text, "-o", tmp_path / "x.h5").refused("no MsgSize", "without --output")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"test": ', '"test" '), ["line 3, column 1", "expected 'name: value'"]),
        (('"MsgSize": 65536,', ""), ["no MsgSize", "without --output"]),
        (('"results"', '"result"'), ["test_info", "results"]),
        (("11681.25", "0"), ["results.BW_average is 0"]),
        (("11681.25", "1"), ["agree in neither"]),
        (('"BW_average"', '"bw"'), ["neither BW_average nor t_avg"]),
        (("65536", "NaN"), ["results.MsgSize is nan"]),
    ],
)
def test_perftest_that_is_none(
    a2a: Run, tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    path = tmp_path / "bw.json"
    text = (DATA / "perftest-write-bw.json").read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    a2a("import", path, "-o", tmp_path / "x.h5").refused("bw.json", *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "no 'test_info' and 'results'"),
        ("[" * 100_000, "nested too deeply"),
        ('{"test_info": {}, "results": {"MsgSize": 1' + "0" * 5000 + "}}", "4300 digits"),
        ('{"test_info": {}, "results": {"MsgSize": 1' + "0" * 400 + "}}", "positive number"),
    ],
    ids=["list", "nested", "endless", "large"],
)
def test_json_that_is_no_perftest(a2a: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bw.json"
    path.write_text(text)
    a2a("import", path, "--format", "perftest", "-o", tmp_path / "x.h5").refused("bw.json", words)


# All formats -------------------------------------------------------------------------------------


def test_formats_are_not_mixed(a2a: Run, tmp_path: Path) -> None:
    texts = (TABLE_2019, DATA / "perftest-write-bw.json")
    a2a("import", *texts, "-o", tmp_path / "x.h5").refused("several formats")


def test_a_text_that_is_given_twice_is_refused(a2a: Run, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(TABLE_2019)
    outcome = a2a("import", tmp_path / "link.txt", TABLE_2019, "-o", tmp_path / "x.h5")
    outcome.refused("link.txt: given twice")
    assert not (tmp_path / "x.h5").exists()


def test_binary_and_missing_texts(a2a: Run, table_2019: Path, tmp_path: Path) -> None:
    a2a("import", table_2019, "-o", tmp_path / "x.h5").refused("is not a text file")
    a2a("import", tmp_path / "none", "-o", tmp_path / "x.h5").refused("no such file")
    a2a("import", tmp_path, "-o", tmp_path / "x.h5").refused("a folder, not a file")


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("99999999 1000 100", "ranks"),
        (f"20 {10**20} 100", "message_size"),
        (f"20 1000 {10**20}", "ops"),
    ],
)
def test_numbers_that_no_file_has_room_for(a2a: Run, tmp_path: Path, row: str, name: str) -> None:
    heading = next(one for one in TABLE_2019.read_text().splitlines() if "Throughput" in one)
    (tmp_path / "t.txt").write_text(f"{heading}\n{row} 1 2 2 3 4 1.0\n")
    outcome = a2a("import", tmp_path / "t.txt", "-o", tmp_path / "x.h5")
    assert outcome.status == 2
    assert f"t.txt: {name} is 1e+{'08' if name == 'ranks' else '20'}: more than" in outcome.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--ranks", 10**10), ("--rails", 10**10)),
        *(("--link-rate", rate) for rate in ("", -5, 0, "inf", "100GB/s", "1000001", "2Tbit")),
    ],
)
def test_options_that_nothing_has(a2a: Run, tmp_path: Path, option: str, value: object) -> None:
    a2a("import", TABLE_2019, "-o", tmp_path / "x.h5", option, value).refused(option)


def test_bad_pairs(a2a: Run, tmp_path: Path) -> None:
    outcome = a2a("import", TABLE_2019, "-o", tmp_path / "x.h5", "--env", "PSM2_RCVTHREAD")
    outcome.refused("--env 'PSM2_RCVTHREAD'", "NAME=VALUE")


def test_existing_output_is_kept(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    path.write_text("mine")
    a2a("import", TABLE_2019, "-o", path).refused("exists already", "--force")
    assert path.read_text() == "mine"
    assert a2a("import", TABLE_2019, "-o", path, "--force").status == 0
    assert len(loading.load([path]).points) == 247


def test_text_with_a_nul_is_no_text(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(TABLE_2019.read_bytes() + b"\0")
    a2a("import", path, "-o", tmp_path / "out.h5").refused("is not a text file")
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("name", formats.ALL)
def test_every_format_of_the_table_is_offered_and_told(a2a: Run, tmp_path: Path, name: str) -> None:
    text = tmp_path / "table.txt"
    text.write_text("nothing that is known\n")
    refused = a2a("import", text, "-o", tmp_path / "o.h5")
    assert refused.status == 2
    assert formats.ALL[name].what in refused.err
    refused = a2a("import", text, "--format", name, "-o", tmp_path / "o.h5")
    assert refused.status == 2
    assert "table.txt" in refused.err, "the reader of this format was asked"
