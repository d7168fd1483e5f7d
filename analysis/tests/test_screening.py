# SPDX-License-Identifier: BSD-3-Clause
"""Designs, catalogues, plans and outcomes of a screening, and `a2a screen`."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from a2aperf.errors import InputError
from a2aperf.screening import catalogue, choosing, design, estimate, plan
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.costing import Cost
from a2aperf.screening.plan import Plan
from a2aperf.studies import screened
from conftest import Outcome
from support.edited import edited
from support.synthetic_screening import Truth, launched

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
GOOD = """\
provider = "psm2"

[[setting]]
name = "SITE_SWITCH"
values = ["on"]
default = "off"
what = "A switch of this site."
source = "our own notes"
"""


def one_line(outcome: Outcome, *words: str) -> None:
    assert outcome.status == 2, outcome
    assert not outcome.out
    assert len(outcome.err.splitlines()) == 1, outcome.err
    for word in words:
        assert word in outcome.err, (word, outcome.err)


def planned(*tried: str, seed: int = 5, **more: object) -> Plan:
    wanted = Wanted("psm2", tried, **more)  # type: ignore[arg-type]
    return choosing.make(catalogue.of("psm2"), wanted, seed)


DUMMIES = tuple(f"A2APERF_DUMMY_{i}=1" for i in range(6))


# Designs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", design.RUNS)
def test_columns_are_orthogonal(runs: int) -> None:
    matrix = design.hadamard(runs).astype(int)
    assert np.array_equal(matrix.T @ matrix, runs * np.eye(runs))


@pytest.mark.parametrize("settings", range(1, design.MOST + 1))
def test_a_design_is_balanced_and_folded_over(settings: int) -> None:
    made = design.make(settings, np.random.default_rng(settings))
    assert made.launches == design.launches_for(settings)
    alone = made.pair == design.ALONE
    assert alone.sum() == design.DEFAULTS
    assert (made.levels[alone] == -1).all()
    assert len(set(made.block[alone])) == 1
    rest = made.levels[~alone].astype(int)
    assert np.array_equal(rest.T @ rest, len(rest) * np.eye(settings))
    for pair in set(made.pair[~alone]):
        first, second = np.flatnonzero(made.pair == pair)
        assert np.array_equal(made.levels[first], -made.levels[second])
        assert made.block[first] == made.block[second]
    assert set(np.bincount(made.block)) == {4}
    assert (np.diff(made.block) >= 0).all()


def test_main_effects_are_clear_of_interactions_of_two() -> None:
    made = design.make(20, np.random.default_rng(1))
    rest = made.levels[made.pair != design.ALONE].astype(int)
    for i in range(20):
        for j in range(i):
            assert not (rest.T @ (rest[:, i] * rest[:, j])).any()


def test_an_order_follows_from_its_seed_alone() -> None:
    first, again, other = (design.make(9, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert np.array_equal(first.levels, again.levels)
    assert not np.array_equal(first.levels, other.levels)


def test_more_settings_than_have_room() -> None:
    with pytest.raises(InputError, match=r"24 settings .* 23 at once"):
        design.make(24, np.random.default_rng(1))


# Estimation --------------------------------------------------------------------------------------


def test_without_noise_the_effects_are_exact() -> None:
    arranged = design.make(7, np.random.default_rng(2))
    truth = Truth(7, {2: 0.1, 5: -0.2}, drift="line", spread=1e-9, own=1e-9)
    y = truth.speeds(arranged, np.random.default_rng(3))
    y -= 0.1 * np.arange(len(y))[:, None] / (len(y) - 1)
    y += arranged.block[:, None]  # what a block has in common changes nothing
    made = estimate.estimate(y, arranged)
    assert {x.setting for x in made.called()} == {2, 5}
    for x in made.effects:
        assert x.change == pytest.approx(
            {2: np.log(1.1), 5: np.log(0.8)}.get(x.setting, 0), abs=1e-6
        )


def test_a_lost_launch_costs_its_pair() -> None:
    arranged = design.make(7, np.random.default_rng(2))
    y = Truth(7, {2: 0.1}).speeds(arranged, np.random.default_rng(3))
    lost = int(np.flatnonzero(arranged.pair == 4)[0])
    y[lost] = np.nan
    made = estimate.estimate(y, arranged)
    assert made.pairs == 11
    other = y.copy()
    other[np.flatnonzero(arranged.pair == 4)[1]] += 1.0  # its partner tells nothing, either
    assert estimate.estimate(other, arranged).effects == made.effects
    assert {x.setting for x in made.called()} == {2}


def test_too_few_launches_tell_nothing_apart() -> None:
    arranged = design.make(2, np.random.default_rng(2))
    y = Truth(2).speeds(arranged, np.random.default_rng(3))
    same = arranged.levels[:, 0] == arranged.levels[:, 1]
    y[~same] = np.nan
    with pytest.raises(InputError, match="PSM2_A and PSM2_B always went together"):
        estimate.estimate(y, arranged, ["PSM2_A", "PSM2_B"])
    y[:] = np.nan
    with pytest.raises(InputError, match="0 whole pairs"):
        estimate.estimate(y, arranged)


def test_of_one_setting_no_pair_is_told() -> None:
    arranged = design.make(1, np.random.default_rng(2))
    made = estimate.estimate(Truth(1).speeds(arranged, np.random.default_rng(3)), arranged)
    assert np.isnan(made.together(0))


def test_what_two_do_together_takes_more_than_what_one_does() -> None:
    arranged = design.make(7, np.random.default_rng(2))
    y = Truth(7).speeds(arranged, np.random.default_rng(3))
    least = estimate.estimate(y, arranged).together(0)
    assert 2 * estimate.smallest(7, 3, 0.02) < least < 6 * estimate.smallest(7, 3, 0.02)
    y[np.flatnonzero(arranged.pair == 4)[0]] = np.nan
    assert estimate.estimate(y, arranged).together(0) > least


def test_a_larger_design_finds_less() -> None:
    assert estimate.smallest(20, 3, 0.02) < estimate.smallest(11, 3, 0.02)
    assert estimate.smallest(11, 3, 0.02) < estimate.smallest(11, 3, 0.04)


# Catalogues --------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", catalogue.providers())
def test_every_catalogue_makes_a_plan(provider: str) -> None:
    settings = catalogue.of(provider)
    made = choosing.make(settings, Wanted(provider), 1)
    by_name = {one.name: one for one in settings}
    screened = [by_name[name] for name in made.names]
    assert not any(one.danger for one in screened)
    assert not any(
        catalogue.conflict(one, other) for one in screened for other in screened if one != other
    )
    assert len(made.names) + len(made.left_out) == len(settings)


def test_each_provider_of_the_program_that_has_settings_has_a_file() -> None:
    named = {"psm2", "psm3", "opx", "verbs;ofi_rxm", "tcp", "tcp;ofi_rxm", "net", "shm", "efa"}
    assert named | {"cxi"} <= set(catalogue.providers())


@pytest.mark.parametrize("provider", catalogue.providers())
def test_defaults_and_values_are_allowed(provider: str) -> None:
    """And no queue may have room for nothing."""
    for one in catalogue.of(provider):
        for value in (*one.values, *([one.default] if one.default.isdigit() else [])):
            one.require_value(value)
        is_queue = one.name.endswith(("_TX_SIZE", "_RX_SIZE")) and "_MAX_" not in one.name
        if is_queue and "_MSG_" not in one.name:  # of these 0 leaves it to the provider below
            with pytest.raises(InputError, match=f"{one.name}=0: expected "):
                one.require_value("0")


def test_layers_have_the_settings_of_both() -> None:
    names = {one.name for one in catalogue.of("tcp;ofi_rxm")}
    assert {"FI_TCP_NODELAY", "FI_OFI_RXM_BUFFER_SIZE"} <= names


def test_a_site_adds_its_own(tmp_path: Path, a2a: A2A) -> None:
    path = tmp_path / "site.toml"
    path.write_text(GOOD)
    found = catalogue.of("psm2", [path])
    assert found[0].name == "SITE_SWITCH"
    assert len(found) == len(catalogue.of("psm2")) + 1
    outcome = a2a("screen", "--list", "--provider", "psm2", "--catalogue", path)
    assert outcome.out.startswith("SITE_SWITCH\n  A switch of this site.\n")
    path.write_text(GOOD.replace("psm2", "shm"))
    one_line(
        a2a("screen", "--list", "--provider", "psm2", "--catalogue", path),
        "is of provider 'shm', not of 'psm2'",
    )


def test_a_name_that_is_nearly_a_known_one_is_told() -> None:
    known = ["PSM2_RCVTHREAD", "FI_SHM_TX_SIZE", "A2APERF_DUMMY", "--window", "PATH"]
    assert not catalogue.slips(known)
    (told,) = catalogue.slips(["window=1,2", "--mode=tagged,msg"])
    assert told == "window is a variable here: --window would be the option of a2aperf"
    (told,) = catalogue.slips([*known, "PSM2_RCVTREAD"])
    assert told.startswith("PSM2_RCVTREAD is in no catalogue of settings: did you mean PSM2_RCV")
    assert not catalogue.slips(["FI_SHM_DISABLE_CMA=0,1", "PSM2_KASSIST_MODE=cma-get,none"])
    values = catalogue.slips(["FI_SHM_DISABLE_CMA=0,7", "PSM2_KASSIST_MODE=none,foo"])
    assert [one.split(": ")[0] for one in values] == [
        "FI_SHM_DISABLE_CMA=7",
        "PSM2_KASSIST_MODE=foo",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('what = "', 'wat = "', ":7:1: unknown key 'wat': did you mean what?"),
        ('["on"]', '"on"', ':5:1: values: expected texts such as ["1"]'),
        ('["on"]', '["off"]', ":5:1: values: 'off' is the default: nothing would change"),
        ('["on"]', "[]", ":5:1: values: expected one value at least"),
        ('["on"]', '["on", "on"]', ":5:1: values: a value is there twice"),
        ('source = "our own notes"\n', "", ":3:1: lacks 'source'"),
        ('"off"', "0", ":6:1: default: expected a text in quotes, not 0"),
        ('"off"', '"off', ":6:"),
        ("SITE_SWITCH", "SITE-SWITCH", ":4:1: name: 'SITE-SWITCH' is no name of a variable"),
        ("SITE_SWITCH", "SITE_TOKEN", ":4:1: name: 'SITE_TOKEN' looks like a credential"),
        ("values", "largest = -1\nvalues", ":5:1: largest: expected bytes such as 4096"),
        ("values", "  smallest = 9\n largest = 8\nvalues", ":5:3: smallest: is above 'largest'"),
        ("[[setting]]", "[[settings]]", "unknown key 'settings': did you mean setting?"),
        ("[[setting]]", "[setting]", "expected tables, each headed [[setting]]"),
        (
            "values",
            'conflicts = ["PSM2_RCVTHREADS"]\nvalues',
            ":5:1: SITE_SWITCH conflicts with the unknown setting 'PSM2_RCVTHREADS': "
            "did you mean PSM2_RCVTHREAD?",
        ),
        ("values", 'since = "foo"\nvalues', ":5:1: since: expected a library and its version"),
        ('provider = "psm2"', '\ufeffprovider = "psm3"', ":1:1: is of provider 'psm3', not of"),
        ('["on"]', '["on"]\nallowed = ["off"]', ":5:1: values: 'on' is not among those that are"),
        ('["on"]', '["5"]\nallowed = ["7..9"]', ":5:1: values: '5' is not among those that are"),
        (
            '["on"]',
            '["5"]\nallowed = ["9..7"]',
            ":6:1: allowed: expected a value, or a range such as 0..2 or 1.., not '9..7'",
        ),
        (
            '["on"]',
            '["5"]\nallowed = [".."]',
            ":6:1: allowed: expected a value, or a range such as",
        ),
        (
            '["on"]',
            '["5"]\nallowed = ["1...9"]',
            ":6:1: allowed: expected a value, or a range such",
        ),
        ('["on"]', '["5"]\nallowed = ["1..x"]', ":6:1: allowed: expected a value, or a range such"),
        ('["on"]', '["5"]\nallowed = ["../lib", "a..b"]', ":5:1: values: '5' is not among those"),
        ('["on"]', '["5"]\n allowed = {min = 1}', ":6:2: allowed: expected texts such as"),
        ('["on"]', '["5"]\nallowed = ["6.."]', ":5:1: values: '5' is not among those that are"),
        ('["on"]', '["5"]\nallowed = ["..4"]', ":5:1: values: '5' is not among those that are"),
        ('["on"]', '["on"', ":6:1: Unclosed array"),
        ('"our own notes"\n', '["our own notes"', ":8:26: Unclosed array: the file ends too early"),
    ],
)
def test_a_mistake_is_told_where_it_stands(
    tmp_path: Path, a2a: A2A, old: str, new: str, said: str
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(GOOD.replace(old, new))
    outcome = a2a("screen", "--provider", "psm2", "--catalogue", path, "--try", "SITE_SWITCH")
    one_line(outcome, said if said.startswith(":") is False else f"{path}{said}")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (
            'provider = "psm2"\nsetting = [\n  {name = "A", values = ["2"], default = "1", '
            'what = "{", source = "b"},\n  {name = "B", values = ["1"], default = "1", '
            'what = "w", source = "b"},\n]\n',
            "4:16",
            "values: '1' is the default",
        ),
        (
            'setting = [{name = "A", values = ["2"], default = "1", what = "{}", source = "b"},\n'
            '  { name = "B", values = ["2"], default = "1", what = "w" }]\n',
            "2:3",
            "lacks 'source'",
        ),
        ("# {}\nsetting = [ {}]\n", "2:13", "lacks 'name'"),
        (
            '[[setting]]\nname = "A"\nvalues = ["2"]\ndefault = "1"\nwhat = """\n[[setting]]\n'
            'values = ["x"]\n"""\nsource = "b"\n\n[[ "setting" ]] # B\nname = "B"\n'
            '"values" = ["1"]\ndefault = "1"\nwhat = "w"\nsource = "b"\n',
            "13:2",
            "values: '1' is the default",
        ),
        (
            "[[setting]]\r\nname = 'A'\r\nvalues = ['2'] # default = 1\r\ndefault = '1'\r\n"
            "what = '''\r\n[[setting]]\r\n'''\r\nsource = 'b'\r\n\r\n  [[setting]]\r\n",
            "10:3",
            "lacks 'name'",
        ),
        (
            "[[setting]]\nallowed.min = '1'\nname = 'allowed.min = 1'\nvalues = ['2']\n"
            "default = '1'\nwhat = 'w'\nsource = 'b'\n",
            "2:1",
            "allowed: expected texts",
        ),
        (
            "# w\n[[setting]]\nname = 'A'\n\"d\\u0065fault\" = 1\nvalues = ['2']\nwhat = 'w'\n"
            "source = 'b'\n",
            "2:1",
            "default: expected a text",
        ),
        ("\n[[setting]]\na2aperf-place-x = 1\n", "3:1", "unknown key 'a2aperf-place-x'"),
    ],
    ids=["inline", "inline-head", "empty", "text", "crlf", "dotted", "escape", "mark"],
)
def test_a_mistake_is_told_where_it_stands_in_every_form_of_toml(
    tmp_path: Path, a2a: A2A, text: str, place: str, said: str
) -> None:
    path = tmp_path / "site.toml"
    path.write_bytes(text.encode())
    one_line(a2a("screen", "--list", "--catalogue", path), f"{path}:{place}: {said}")


def test_values_that_there_are_go_in(a2a: A2A) -> None:
    for value in ("PSM2_SDMA=0x2", "PSM2_MTU=7", "PSM2_MTU=256", "PSM2_PATH_SELECTION=static_base"):
        assert a2a("screen", "--provider", "psm2", "--try", value).status == 0
    listed = a2a("screen", "--list", "--provider", "psm2").out
    assert "  allowed: one of adaptive, static_src, static_dest, static_base\n" in listed


@pytest.mark.parametrize(
    ("allowed", "good", "bad", "words"),
    [
        (
            '"1.."',
            ("5", "1", "0x10", "18446744073709551615"),
            ("0", "-1", "1.5", "all"),
            "1 or more",
        ),
        ('"..5"', ("5", "0"), ("6", "-1"), "0 to 5"),
        ('"8..", "5"', ("5", "8", "9"), ("7", "0"), "one of 8 or more, 5"),
    ],
)
def test_a_range_may_have_an_open_end(
    tmp_path: Path, a2a: A2A, allowed: str, good: Sequence[str], bad: Sequence[str], words: str
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(GOOD.replace('["on"]', f'["5"]\nallowed = [{allowed}]'))
    of_site = ("screen", "--provider", "psm2", "--catalogue", path)
    for value in good:
        assert a2a(*of_site, "--try", f"SITE_SWITCH={value}").status == 0
    for value in bad:
        told = a2a(*of_site, "--try", f"SITE_SWITCH={value}")
        one_line(told, f"SITE_SWITCH={value}: expected {words}")
    assert f"  allowed: {words}\n" in a2a("screen", "--list", *of_site[1:]).out


# Plans -------------------------------------------------------------------------------------------


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES, fixed={"PSM2_MTU": "4096"})
    path = tmp_path / "screen.json"
    path.write_text(made.as_json())
    again = plan.read(path)
    assert again.as_json() == made.as_json()
    assert [again.environment(i) for i in range(28)] == [made.environment(i) for i in range(28)]
    assert {made.environment(i)["PSM2_MTU"] for i in range(28)} == {"4096"}
    rows = json.loads(made.as_json())["launches"]
    assert [row["label"] for row in rows] == [made.label(i) for i in range(28)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"provider": "psm2"', '"provider": "psm3"', "was changed after it was written"),
        ('"pair": 3', '"pair": 4', "not a plan as it was written"),
        ('"block"', '"blok"', "not a plan as it was written"),
        ("{", "", "not a plan: "),
        ("a2aperf screening plan 1", "another", "expected a file that 'a2a screen -o' has written"),
    ],
)
def test_a_plan_that_is_none(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "screen.json"
    path.write_text(planned("PSM2_RCVTHREAD", *DUMMIES).as_json().replace(old, new))
    with pytest.raises(InputError, match=re.escape(said)):
        plan.read(path)


def test_of_conflicting_settings_one_a_round() -> None:
    made = planned("PSM2_SDMA", "PSM2_MQ_EAGER_SDMA_SZ", "PSM2_RCVTHREAD=0")
    assert made.names == ["PSM2_SDMA", "PSM2_RCVTHREAD"]
    said = "PSM2_MQ_EAGER_SDMA_SZ: conflicts with PSM2_SDMA: in a round of its own (--without PSM2_"
    assert made.left_out[0].startswith(said)
    other = planned("PSM2_SDMA", "PSM2_MQ_EAGER_SDMA_SZ", without=["PSM2_SDMA"])
    assert other.names == ["PSM2_MQ_EAGER_SDMA_SZ"]
    beside = planned("PSM2_MQ_EAGER_SDMA_SZ", "PSM2_RCVTHREAD", fixed={"PSM2_SDMA": "2"})
    assert beside.left_out == ("PSM2_MQ_EAGER_SDMA_SZ: conflicts with PSM2_SDMA, which is fixed",)


def test_a_fixed_setting_is_in_every_launch_and_screened_in_none() -> None:
    made = planned(fixed={"PSM2_SDMA": "2"}, without=["PSM2_RCVTHREAD"])
    assert not {"PSM2_SDMA", "PSM2_RCVTHREAD", "PSM2_MQ_EAGER_SDMA_SZ"} & set(made.names)
    assert {made.environment(i)["PSM2_SDMA"] for i in range(made.design.launches)} == {"2"}


def test_what_came_later_is_left_out() -> None:
    old = choosing.make(catalogue.of("shm"), Wanted("shm", libfabric="1.17.0"), 1)
    assert any(reason.startswith("FI_SHM_BUFFER_THRESHOLD: since") for reason in old.left_out)
    new = choosing.make(catalogue.of("shm"), Wanted("shm", libfabric="2.5"), 1)
    assert "FI_SHM_BUFFER_THRESHOLD" in new.names


def test_what_this_libfabric_does_not_know_is_left_out() -> None:
    """Where it knows others of that provider; of one that is not loaded it says nothing."""
    known = frozenset({"FI_SHM_TX_SIZE", "FI_OFI_MRAIL_ADDR"})
    made = choosing.make(catalogue.of("shm"), Wanted("shm", known=known), 1)
    assert "FI_SHM_TX_SIZE" in made.names
    assert not [name for name in made.names if name.startswith("FI_SHM_") and name not in known]
    assert "FI_SHM_RX_SIZE: the libfabric of this machine does not know it" in made.left_out
    layered = choosing.make(catalogue.of("tcp;ofi_rxm"), Wanted("tcp;ofi_rxm", known=known), 1)
    assert "FI_OFI_RXM_BUFFER_SIZE" in layered.names
    own = Wanted("shm", tried=["FI_SHM_MINE=3"], known=known)
    assert choosing.make(catalogue.of("shm"), own, 1).names == ["FI_SHM_MINE"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--provider", "psm22"), "no catalogue of provider 'psm22': did you mean psm2?"),
        (
            ("--try", "PSM2_RCVTREAD"),
            "unknown setting 'PSM2_RCVTREAD': did you mean PSM2_RCVTHREAD?",
        ),
        (("--try", "PSM2_RCVTREAD=0"), "did you mean PSM2_RCVTHREAD?"),
        (("--fix", "PSM2_RCVTREAD=0"), "did you mean PSM2_RCVTHREAD?"),
        (("--without", "PSM2_RCVTREAD"), "did you mean PSM2_RCVTHREAD?"),
        (
            ("--try", "PSM2_RCVTHREAD=banana"),
            "=banana: expected a whole number from 0, or yes or no",
        ),
        (("--try", "PSM2_MQ_EAGER_SDMA_SZ=-5"), "=-5: expected 0 to 4294967295"),
        (("--fix", "PSM2_MQ_EAGER_SDMA_SZ=1.5"), "=1.5: expected 0 to 4294967295"),
        (("--try", "PSM2_FLOW_CREDITS=0"), "PSM2_FLOW_CREDITS=0: expected 1 to 65535"),
        (("--provider", "shm", "--try", "FI_SHM_TX_SIZE=0"), "=0: expected 1 to 2147483647"),
        (
            ("--provider", "shm", "--try", "FI_SHM_TX_SIZE=999999999999999999"),
            "FI_SHM_TX_SIZE=999999999999999999: expected 1 to 2147483647",
        ),
        (("--provider", "shm", "--fix", "FI_SHM_RX_SIZE=32769"), "=32769: expected 1 to 32768"),
        (("--provider", "opx", "--try", "FI_OPX_MAX_PKT_SIZE=1"), "expected one of 2048, 4096"),
        (
            ("--provider", "tcp", "--try", "FI_TCP_RX_SIZE=0"),
            "FI_TCP_RX_SIZE=0: expected 1 or more",
        ),
        (("--try", "A=1", "--try", "A=2"), "A has two values"),
        (("--try", "A="), "A=: expected A or A=VALUE"),
        (("--try", "PSM2_RCVTHREAD="), "PSM2_RCVTHREAD=: expected PSM2_RCVTHREAD or"),
        (("--try", "PSM2_RCVTHREAD=1"), "=1: that is the default: nothing would change"),
        (("--try", f"PSM2_RCVTHREAD={'9' * 21}"), "expected a whole number from 0"),
        (("--try", "FI_PSM2_LAZY_CONN=7"), "=7: expected 0 or 1, or yes or no; worth trying: 1"),
        (("--try", "PSM2_SDMA=3"), "PSM2_SDMA=3: expected 0 to 2"),
        (("--try", "PSM2_SDMA=0x3"), "PSM2_SDMA=0x3: expected 0 to 2"),
        (("--try", "PSM2_SDMA=0:1"), "PSM2_SDMA=0:1: expected 0 to 2"),
        (("--fix", "PSM2_MTU=9999999"), "=9999999: expected one of 1 to 7, 256, 512, 1024"),
        (("--try", "PSM2_KASSIST_MODE=foo"), "=foo: expected one of cma-get, cma-put, none"),
        (("--fix", "PSM2_MTU"), "expected NAME=VALUE"),
        (("--budget", "90"), "expected a time such as 90min"),
        (("--budget", "30min"), "give --seconds"),
        (
            ("--budget", "50min", "--seconds", "60"),
            "23 settings with the confirmation of one take 68 launches, 68 min of 50 min; 11 set",
        ),
        (("--budget", "40min", "--seconds", "60"), "the smallest design has 44 launches, 44 min"),
        (
            ("--budget", "40min", "--seconds", "60", "--no-confirm"),
            "23 settings take 52 launches, 52 min of 40 min; 11 settings fit",
        ),
        (("--seconds", "-1"), "expected a time such as 60"),
        (("--spread", "0"), "expected a share"),
        (("--libfabric", "new"), "expected a version such as 1.17"),
        (("-o", "plan.h5"), "a plan is written as .json"),
        (("--list", "--seconds", "5"), "--seconds with --list"),
        (("--plot", "a.pdf"), "--plot with no files"),
    ],
)
def test_bad_input(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = words if "--provider" in words else ("--provider", "psm2", *words)
    one_line(a2a("screen", *given), said)
    assert not [*tmp_path.iterdir()]


def test_neither_files_nor_a_provider(a2a: A2A) -> None:
    one_line(a2a("screen"), "give files, --provider NAME for a plan, or --list")


def test_a_dry_run_says_what_it_costs_and_finds(a2a: A2A, tmp_path: Path) -> None:
    path = tmp_path / "screen.json"
    words = ("screen", "--provider", "psm2", "--seconds", "60", "--seed", "4")
    outcome = a2a(*words)
    assert "23 settings, 52 launches" in outcome.out
    assert "screening: 52 launches, 52 min" in outcome.out
    assert "left: 68 to 116 launches, 68 min to 1.9 h; 52 where nothing is left" in outcome.out
    assert "confirmation" not in a2a(*words, "--no-confirm").out
    assert "left: 44 launches, 44 min; 28 where" in a2a(*words, "--try", "PSM2_SDMA").out
    assert re.search(
        r"minimum detectable effect \(90 % power\): 3\.\d % of speed, where", outcome.out
    )
    assert not [*tmp_path.iterdir()]
    written = a2a(*words, "-o", path)
    assert written.out == outcome.out
    assert a2a(*words, "--json").out == path.read_text()


def test_a_budget_has_room_for_the_confirmation_of_one() -> None:
    cost = Cost(60.0, nodes=10)
    # 20 settings: 52 launches, and 16 for one of them that is left to 64 for six.
    assert cost.launches(20) == (52 + 16, 52 + 64)
    assert cost.launches(1) == (28 + 16, 28 + 16)
    cost.require(20, 68 * 60)
    said = r"take 68 launches, 68 min, 11 node-hours of 55 min, 9\.2 node-hours; 11 set"
    with pytest.raises(InputError, match=said):
        cost.require(20, 55 * 60)
    with pytest.raises(InputError, match=r"the smallest design has 44 launches, 44 min"):
        cost.require(20, 43 * 60)
    Cost(60.0, 10, confirms=False).require(20, 52 * 60)
    with pytest.raises(InputError, match=r"20 settings take 52 launches"):
        Cost(60.0, 10, confirms=False).require(20, 51 * 60)


# Outcomes ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six dummies and two settings, of which one is 8 % faster and one 7 % slower."""
    folder = tmp_path_factory.mktemp("screening")
    made = planned("PSM2_RCVTHREAD", "PSM2_TID", *DUMMIES)
    launched(folder, made, {"PSM2_RCVTHREAD": 0.08, "PSM2_TID": -0.07})
    (folder / plan.NAME).write_text(made.as_json())
    return folder


def test_what_matters_is_found_and_no_dummy(a2a: A2A, found: Path, tmp_path: Path) -> None:
    figure = tmp_path / "effects.pdf"
    outcome = a2a("screen", found, "--json", "--plot", figure)
    assert outcome.status == 0, outcome
    told = json.loads(outcome.out)
    assert {x["setting"] for x in told["effects"] if x["beyond_chance"]} == {
        "PSM2_RCVTHREAD",
        "PSM2_TID",
    }
    assert told["candidates"] == {"PSM2_RCVTHREAD": "0"}
    assert told["confirmed"] is False
    assert not told["interactions"]
    assert not told["unresolved"]
    for effect in told["effects"]:
        truth = {"PSM2_RCVTHREAD": 0.08, "PSM2_TID": -0.07}.get(effect["setting"], 0.0)
        assert effect["low"] <= truth <= effect["high"]
        if not effect["beyond_chance"]:
            assert 0 < effect["excluded_beyond"] < 0.05
    assert figure.read_bytes().startswith(b"%PDF")
    words = a2a("screen", found).out
    assert "  export PSM2_RCVTHREAD=0\n" in words
    assert "PSM2_TID=0 is slower: leave it at its default" in words
    assert "gain" not in words.replace("before any gain is claimed", "")
    # An effect up to what is excluded may be there.
    assert "not beyond chance; excluded is a change beyond ±" in words
    assert "without effect" not in words
    limits = [100 * band["smallest_together"] for band in told["bands"]]
    assert all(2 < limit < 20 for limit in limits)
    said = re.search(r"to interact, in 90 % of such cases or more from (.*) on; of a", words)
    assert said
    assert [float(x) for x in re.findall(r"[\d.]+", said[1])] == pytest.approx(limits, rel=0.05)


def test_bands_follow_the_steps_of_the_files(a2a: A2A, found: Path) -> None:
    told = json.loads(a2a("screen", found, "--json").out)["bands"]
    bands = [one["sizes"] for one in told]
    assert len(bands) == 3
    ends = [one["message_sizes"] for one in told]  # of programs, in B
    assert (ends[0][0], ends[-1][1]) == (1000, 160000)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    assert bands[0].startswith("1\u00a0kB")
    assert bands[-1].endswith("160\u00a0kB")


def test_a_setting_that_dominates_is_to_be_fixed(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES)
    files = launched(tmp_path / "r", made, {"PSM2_RCVTHREAD": 1.3})
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    outcome = a2a("screen", *files, "--plan", path)
    assert "PSM2_RCVTHREAD=0 dominates, and is faster" in outcome.out
    said = re.search(r"a2a (screen .*next\.json)", outcome.out)
    assert said
    again = a2a(*said[1].split()[:-1], tmp_path / "next.json")
    assert again.status == 0, again
    assert "in all launches: PSM2_RCVTHREAD=0" in again.out
    # The rest is what this plan had, not all that the catalogue has.
    assert plan.read(tmp_path / "next.json").names == made.names[1:]


def test_what_was_not_in_force_does_not_count(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES)
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    files = launched(tmp_path / "r", made, {}, ignored=["A2APERF_DUMMY_3"])
    outcome = a2a("screen", *files, "--plan", path)
    one_line(outcome, "A2APERF_DUMMY_3 was not set and should have been '1'")


def test_a_setting_that_the_library_does_not_know_changed_nothing(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES)
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    files = launched(tmp_path / "r", made, {})
    asked = ["screen", *files, "--plan", path]
    assert "does not know it" not in a2a(*asked).out
    count = 0
    for file in files:
        with edited(file) as opened:
            names = [one.decode() for one in opened["segments/0/environment_name"][()]]
            if "A2APERF_DUMMY_3" in names:
                opened["segments/0"].attrs["ignored_environment"] = "A2APERF_DUMMY_3"
                count += 1
    assert count
    words = f"A2APERF_DUMMY_3: the libfabric of {count} launches that set it does not know it"
    outcome = a2a(*asked)
    assert f"{words}: it changed nothing" in " ".join(outcome.out.split())


def test_lost_launches_are_told(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES)
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    lost = int(np.flatnonzero(made.design.pair == 2)[0])
    files = launched(tmp_path / "r", made, {"PSM2_RCVTHREAD": 0.08}, lost=[lost])
    outcome = a2a("screen", *files, "--plan", path)
    assert outcome.status == 0, outcome
    assert f"note: 1 of 28 launches is missing: {made.label(lost)}; with them 1 pair" in outcome.out
    assert "  export PSM2_RCVTHREAD=0\n" in outcome.out


def test_a_damaged_file_of_a_folder_is_left_out_and_told(
    a2a: A2A, found: Path, tmp_path: Path
) -> None:
    """Its pair is lost with it, as where a launch failed; a file that is named is refused."""
    folder = shutil.copytree(found, tmp_path / "r")
    broken = sorted(folder.glob("*.h5"))[0]
    broken.write_bytes(broken.read_bytes()[:5000])
    outcome = a2a("screen", folder)
    assert outcome.status == 3, outcome
    assert outcome.err.startswith("a2a: left out: ") and broken.name in outcome.err
    assert ", 27 of 28 launches" in outcome.out
    one_line(a2a("screen", *sorted(folder.glob("*.h5"))), broken.name)
    planned_next = a2a("screen", folder, "--confirm")
    assert planned_next.status == 3 and "to be confirmed by 16 launches" in planned_next.out


def test_launches_whose_ops_start_otherwise_do_not_count(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", *DUMMIES)
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    files = launched(tmp_path / "r", made, {})
    place = int(np.flatnonzero(made.design.pair != design.ALONE)[0])
    with edited(files[place]) as file:
        file["segments/0"].attrs["sync"] = "barrier"
    outcome = a2a("screen", *files, "--plan", path)
    assert "note: 1 launch began ops by another rule than clock" in outcome.out


def test_files_of_another_plan(a2a: A2A, found: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(planned("PSM2_RCVTHREAD", seed=9).as_json())
    one_line(a2a("screen", found, "--plan", path), "no file is of this plan")


def test_what_was_not_screened_is_told_with_the_outcome(a2a: A2A, tmp_path: Path) -> None:
    made = planned("PSM2_RCVTHREAD", "PSM2_SDMA", "PSM2_MQ_EAGER_SDMA_SZ", *DUMMIES)
    path = tmp_path / "p.json"
    path.write_text(made.as_json())
    launched(tmp_path / "r", made, {})
    said = "PSM2_MQ_EAGER_SDMA_SZ: conflicts with PSM2_SDMA: in a round"
    assert f"\nnot screened: {said}" in a2a("screen", tmp_path / "r", "--plan", path).out
    told = json.loads(a2a("screen", tmp_path / "r", "--plan", path, "--json").out)
    (one,) = told["not_screened"]
    assert one.startswith(said)


def test_a_plan_that_is_given_may_have_what_this_libfabric_does_not_know(tmp_path: Path) -> None:
    """Its launches are as it says: what will be ignored is told before they are made."""
    program = tmp_path / "a2aperf"
    program.write_text("#!/bin/sh\necho shm\necho '  FI_SHM_TX_SIZE  size_t'\n")
    program.chmod(0o755)
    tried = ["FI_SHM_TX_SIZE", "FI_SHM_RX_SIZE", "FI_SHM_MINE=1", "A2APERF_DUMMY=1"]
    path = tmp_path / "p.json"
    path.write_text(choosing.make(catalogue.of("shm"), Wanted("shm", tried), 1).as_json())
    ready = screened.prepare(str(path), tmp_path / "r", None, program=program)
    (said,) = ready.told
    assert said.endswith("does not know FI_SHM_RX_SIZE and FI_SHM_MINE, and ignores them")
    assert not screened.prepare("shm", tmp_path / "other", 1, program=program).told
    assert not screened.prepare(str(path), tmp_path / "third", None, program=None).told


def test_which_plan(a2a: A2A, found: Path, tmp_path: Path) -> None:
    copy = tmp_path / "one.h5"
    copy.write_bytes(next(found.glob("*.h5")).read_bytes())
    one_line(a2a("screen", copy), "which plan? give --plan FILE")
    one_line(a2a("screen", found, "--provider", "psm2"), "--provider with files")
