# SPDX-License-Identifier: BSD-3-Clause
"""The real verbs provider over software RoCE: two adapters on two hosts, a wire between them."""

import math
import re

import h5py
import numpy as np
import pytest
from cases import CASES
from flow_files import require_true_streams, require_true_trips
from path_files import are_true_intervals, paths_of
from results import COMPLETE, SKIPPED, has_plausible_moments, has_true_node_figures, has_true_statistics

MTU = 4096  # payload of a RoCE packet, the largest there is


@pytest.mark.parametrize("name", CASES)
def test_every_figure_is_that_of_its_samples(outcome, name):
    case, results = outcome(name).case, outcome(name).results
    assert set(results.words("provider")) == {"verbs;ofi_rxm"}
    assert results.segments[0].end_state == 1
    measured = np.flatnonzero(results.columns["state"] == COMPLETE)
    assert len(measured) >= 1
    for point in measured:
        assert results.columns["ranks"][point] == case.ranks
        assert results.columns["ops"][point] == 5
        has_plausible_moments(results, point)
        has_true_statistics(results, point)
        has_true_node_figures(results, point, case.on_node)


def test_every_mode_at_every_size(outcome):
    results = outcome("two").results
    assert results.words("mode") == ["tagged"] * 4 + ["msg"] * 4 + ["write-imm"] * 4 + ["read"] * 4 + ["write"] * 4
    assert results.states() == [COMPLETE, COMPLETE, COMPLETE, SKIPPED] * 5
    assert "above the largest message of verbs;ofi_rxm" in results.words("skip_reason")[3]
    assert outcome("four").results.states() == [COMPLETE] * 8


def test_auto_takes_the_adapter(outcome):
    assert "verbs;ofi_rxm" in outcome("three").log
    assert outcome("three").results.states() == [COMPLETE] * 4


@pytest.mark.parametrize("name", CASES)
def test_what_was_measured_went_over_the_wire(outcome, name):
    """The least that the first host must have sent, by the cable's own counters: payload, and its packets."""
    ended = outcome(name)
    results, (k, other) = ended.results, ended.case.on_node
    sizes = results.columns["message_size"][results.columns["state"] == COMPLETE].tolist()
    messages = 5 + 1 + 1  # ops, warm-up, verification
    assert ended.bytes_sent >= messages * k * other * sum(sizes)
    assert sum(ended.packets) >= messages * k * other * sum(math.ceil(size / MTU) for size in sizes)


@pytest.mark.parametrize("name", CASES)
def test_the_traffic_class_set_from_outside_is_on_the_wire(outcome, name):
    with_class, without = outcome(name).packets
    assert with_class > 0
    # The kernel repeats the goodbyes of the launch before, which had another class, when its process is gone already.
    assert without <= with_class // 100


def test_each_host_has_its_adapter(machine, outcome):
    assert outcome("four").status == 0
    with h5py.File(machine / "four.h5", "r") as file:
        nics = [nic.decode() for nic in file["segments/0/rank_facts/nic"]]
    assert nics == ["rxe0", "rxe0", "rxe1", "rxe1"]


DEVICE = ("node_guid", "vendor_id", "vendor_part_id", "hw_ver", "max_mr_size", "page_size_cap", "max_qp", "max_qp_wr", "max_sge", "max_cq", "max_cqe")
PORT = ("max_mtu", "active_mtu", "max_msg_sz", "gid_tbl_len", "port_cap_flags", "active_width", "link_layer")
ATOMICS = {"ATOMIC_NONE": "none", "ATOMIC_HCA": "HCA", "ATOMIC_GLOB": "global"}


def said_by_ibv_devinfo(machine, adapter: str) -> dict[str, str]:
    path = machine / f"{adapter}.devinfo"
    if not path.exists():
        pytest.skip("no ibv_devinfo here")
    return dict(re.findall(r"^\s*(\w+):\s+(\S+)", path.read_text(), re.MULTILINE))


def same(value: str, other: str) -> bool:
    """Numbers are told in decimals or as 0x…."""
    numbers = [int(text, 0) for text in (value, other) if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text)]
    return numbers[0] == numbers[1] if len(numbers) == 2 else value == other


def test_attributes_of_the_adapters_are_those_of_ibv_devinfo(machine, outcome):
    assert outcome("two").status == 0
    with h5py.File(machine / "two.h5", "r") as file:
        facts = {name: values.asstr()[()].tolist() for name, values in file["segments/0/node_facts"].items()}
    for node, adapter in enumerate(("rxe0", "rxe1")):
        said = said_by_ibv_devinfo(machine, adapter)
        of_node = {name.removeprefix("nic_"): values[node].removeprefix("port 1 ") for name, values in facts.items()}
        assert facts["nic"][node] == adapter
        for name in DEVICE + PORT:
            assert same(of_node[name], said[name]), (name, of_node[name], said[name])
        assert of_node["atomic_cap"] == ATOMICS[said["atomic_cap"]]
        assert of_node["firmware"] == said["fw_ver"]
        assert same(of_node["lid"], said["port_lid"]) and same(of_node["subnet_manager"], said["sm_lid"])
        speed, unit = of_node["active_speed"].split()
        assert (float(speed), unit) == (float(said["active_speed"]), "Gbit/s")
        assert int(of_node["max_inline_data"]) > 0  # ibv_devinfo does not tell it


def test_providers_show_the_attributes_of_the_adapters(machine, outcome):
    assert outcome("two").status == 0
    of_devices = (machine / "providers.txt").read_text().split("\ndevice ")[1:]
    devices = {text.split("\n")[0]: dict(re.findall(r"^  (\S.*?) {2,}(\S.*)$", text, re.MULTILINE)) for text in of_devices}
    for adapter in ("rxe0", "rxe1"):
        said = said_by_ibv_devinfo(machine, adapter)
        for name in DEVICE:
            assert same(devices[adapter][name], said[name]), name
        for name in ("max_mtu", "active_mtu", "max_msg_sz", "gid_tbl_len", "port_cap_flags", "active_width"):
            assert same(devices[adapter][f"port 1 {name}"], said[name]), name


def test_streams_and_round_trips(machine, outcome):
    for name in ("streams", "trips"):
        assert set(outcome(name).results.words("provider")) == {"verbs;ofi_rxm"}
        assert min(outcome(name).results.columns["nodes"]) == 2
    require_true_streams(machine / "streams.h5", [(0, 1)], 100)
    require_true_trips(machine / "trips.h5", [0, 1])


def test_what_streams_moved_went_over_the_wire(outcome):
    ended = outcome("streams")
    assert ended.bytes_sent >= ended.results.columns["bytes"].sum()


def test_paths_are_opened_with_the_class_they_ask_for(machine, outcome):
    """Each has it on the wire, the one that asks for none has what the adapter had, and has again."""
    ended = outcome("classes")
    are_true_intervals(machine / "classes.h5", 0)
    asked = ["low-latency", "bulk", "dscp26", ""]
    for name in ("class_requested", "class_granted", "class_verified"):
        assert [path[name] for path in paths_of(machine / "classes.h5", 0)] == asked
    assert ended.log.count("granted, verified") == 3
    as_before, by_path = ended.packets
    assert as_before > 0 and by_path > 0
    assert (machine / "classes.class").read_text().split() == [str(ended.case.traffic_class)] * 2
