# SPDX-License-Identifier: BSD-3-Clause
import io
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from a2aperf import anonymize, loading, looks
from a2aperf.errors import InputError
from conftest import Outcome
from support import (
    native_echo,
    native_interference,
    native_open_loop,
    native_paths,
    native_streams,
    planted,
    synthetic,
    unread,
)
from support.edited import edited

Run = Callable[..., Outcome]
KEY = bytes(range(32))

SETUP = synthetic.Setup(
    sizes=(1000,),
    environment={
        "PSM2_RCVTHREAD": "0",
        "PSM2_DEVICES": "self,shm,hfi",
        "FI_PROVIDER": "tcp;ofi_rxm",
        "FI_SOURCE": "10.77.0.13",
        "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/16",
        "OMPI_MCA_orte_hnp_uri": "1234.0;tcp://192.168.5.7,fe80::21b:44ff:fe11:3ab7:40001",
        "SLURM_JOB_USER": "alice",
        "SLURM_JOB_NODELIST": "node[001-004]",
        "SLURM_SUBMIT_DIR": "/home/alice/a2a",
        "SLURM_SUBMIT_HOST": "login7.cluster.example",
        "SLURM_JOB_ID": "4711",
        "SLURM_NNODES": "4",
        "SLURM_JOB_PARTITION": "phaseless",
    },
    labels={"run": "by alice on node002", "cluster": "north"},
    attributes={
        "command_line": "a2aperf alltoall -o results/alice.h5 --sizes 1000..2000 "
        "--config=/etc/site/x.toml --label 'run=by alice on node002'",
        "slurm_job_id": "4711",
        "domain": "hfi1_0",
    },
)
SECRETS = (
    "alice node00 login7 cluster.example /home /etc/site results/ 10.77 192.168 fe80 4711 phaseless"
).split()


@pytest.fixture
def named(tmp_path: Path) -> Path:
    return synthetic.write_launch(tmp_path / "named.h5", SETUP)


def export(a2a: Run, path: Path, output: Path) -> Outcome:
    key = path.parent / "key"
    return a2a("export", path, "--anonymize", "--key", key, "-o", output)


def test_no_name_is_left_in_the_file(a2a: Run, named: Path, tmp_path: Path) -> None:
    before = named.read_bytes()
    for secret in SECRETS:
        assert secret.encode() in before, secret  # else the test would test nothing
    output = tmp_path / "out.h5"
    assert export(a2a, named, output).status == 0
    content = output.read_bytes()
    for secret in SECRETS:
        assert secret.encode() not in content, secret
    assert named.read_bytes() == before


def test_what_the_file_is_for_is_kept(a2a: Run, named: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    export(a2a, named, output)
    before, after = loading.load([named]), loading.load([output])
    own = ["file", "launch"]
    pd.testing.assert_frame_equal(before.points.drop(columns=own), after.points.drop(columns=own))
    assert np.array_equal(before.op_times("named.h5", 0), after.op_times("out.h5", 0))
    launch = after.launches["out.h5#0"]
    for name in ("PSM2_RCVTHREAD", "PSM2_DEVICES", "FI_PROVIDER", "SLURM_NNODES"):
        assert launch.environment[name] == SETUP.environment[name]
    assert "--sizes 1000..2000" in launch.attributes["command_line"]
    assert launch.attributes["domain"] == "hfi1_0"
    assert launch.attributes["program_version"] == "1.0.0"
    assert launch.node_facts["kernel"] == ["6.1.0"] * 4
    assert launch.labels["cluster"] == "north"
    assert a2a("check", output).status == 0


def test_pseudonyms_are_stable_and_need_the_key(a2a: Run, named: Path, tmp_path: Path) -> None:
    again = synthetic.write_launch(tmp_path / "again.h5", replace(SETUP, seed=5, nodes=2))
    for path in (named, again):
        export(a2a, path, tmp_path / f"out-{path.name}")
    both = loading.load([tmp_path / "out-named.h5", tmp_path / "out-again.h5"])
    first, second = (launch.nodes for launch in both.launches.values())
    assert len(set(first)) == 4
    assert second == first[:2]
    assert all(name.startswith("host-") for name in first)
    a2a("export", named, "--anonymize", "--key", tmp_path / "key2", "-o", tmp_path / "other.h5")
    other = loading.load([tmp_path / "other.h5"]).launches["other.h5#0"].nodes
    assert not set(other) & set(first)


def test_a_host_has_one_pseudonym_everywhere(a2a: Run, named: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    outcome = export(a2a, named, output)
    launch = loading.load([output]).launches["out.h5#0"]
    assert launch.nodes[1] in launch.labels["run"]  # "by user-… on host-…"
    assert launch.labels["run"].startswith("by user-")
    assert f"  label run: {launch.labels['run']}\n" in outcome.out


def test_the_key_is_made_once_and_private(a2a: Run, named: Path, tmp_path: Path) -> None:
    outcome = export(a2a, named, tmp_path / "out.h5")
    key = tmp_path / "key"
    assert "new key" in outcome.err
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    content = key.read_text()
    assert "new key" not in export(a2a, named, tmp_path / "out2.h5").err
    assert key.read_text() == content


def test_bad_keys_are_refused(a2a: Run, named: Path, tmp_path: Path) -> None:
    for content in ("", "word", "abcd"):
        (tmp_path / "key").write_text(content)
        export(a2a, named, tmp_path / "out.h5").refused("not a key")
    assert not (tmp_path / "out.h5").exists()


def test_without_anonymize_there_is_nothing_to_do(a2a: Run, named: Path, tmp_path: Path) -> None:
    a2a("export", named, "-o", tmp_path / "x.h5").refused("--anonymize")


def test_credentials_are_dropped(a2a: Run, tmp_path: Path) -> None:
    """a2aperf stores none; a file made otherwise loses them."""
    setup = replace(SETUP, environment={"SLURM_JWT": "eyJhbGciOi", "FI_LOG_LEVEL": "warn"})
    path = synthetic.write_launch(tmp_path / "jwt.h5", setup)
    export(a2a, path, tmp_path / "out.h5")
    assert b"eyJhbGciOi" not in (tmp_path / "out.h5").read_bytes()
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["segments/0/environment_name"].asstr()[()].tolist() == ["FI_LOG_LEVEL"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("FI_ADDR_PSMX2 mtu 8192 at 3.1.4 of 12:30:00", True),
        ("2001:db8::17 is up", False),
        ("gid fe80:0000:0000:0000:0002:c903:0043:1b2a", False),
        ("mac 00:1b:44:11:3a:b7", False),
        ("uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301", False),
        ("see /scratch/project/x.log", False),
        ("--sizes 1000..15000+1000,20000..60000+5000", True),
        ("1:2 and 12:30:00", True),
        ("ib0 and eth1 up", False),
        ("enp65s0f1np1", False),
        ("bond0.100", False),
        ("hfi1_0 and mlx5_0, lo, ibverbs, endpoint, bridge", True),
        ("mlx5_0, mlx5_core, mlx4_en, mlx5_ib and mlx5_bond_0", True),
        ("UCX_NET_DEVICES=mlx5_acme0:1", False),
        ("port guid 0x00117501017a1b2c", False),
        ("mem_tag_format: 0xaaaaaaaaaaaaaaaa", True),
        ("guid 0011:7501:017a:1b2c", False),
        ("base lid 0x1f", False),
        ("commit 4f2e1a9 at 16 ranks", True),
        ("mapped ::ffff:10.77.0.13 port 4", False),
        ("at 10.77.0.13.", False),
        ("mac 00-1b-44-11-3a-b7", False),
        ("mac 001b.4411.3ab7", False),
        ("gid 80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:43:1b:2a", False),
        ("enP2p1s0 and p1p1", False),
        ("ipoib0", False),
        ("2026-11-26 and 1-2-3-4-5-6", True),
        ("libpsm2.so.2 of 12.04.2019, 4.1.4 and cxi0", True),
    ],
)
def test_addresses_and_paths(text: str, kept: bool) -> None:
    assert (anonymize.Pseudonyms(KEY).scrub(text) == text) == kept


def test_guids_and_lids_of_adapters_are_replaced_and_their_limits_are_not(tmp_path: Path) -> None:
    kept = {
        "nic_max_mr_size": "0xffffffffffffffff",
        "nic_page_size_cap": "0xfffffffffffff000",
        "nic_port_cap_flags": "port 1 0x00010000",
        "nic_vendor_id": "0x02c9",
        "nic_max_qp": "131072",
        "nic_active_mtu": "port 1 1024",
        "nic_subnet_manager": "port 1 0x0, port 2 0x0000",
    }
    names = {
        "nic_node_guid": "506b:4b03:00cb:0a12",
        "nic_lid": "port 1 0x1f, port 2 0x0",
    }
    path = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, node_facts=kept | names))
    (segment,) = anonymize.anonymize(loading.load([path]), KEY).segments
    facts = {name: next(iter(set(values))) for name, values in segment.node_facts.items()}
    assert {name: facts[name] for name in kept} == kept
    assert re.fullmatch(r"address-[0-9a-f]{8}", facts["nic_node_guid"])
    assert re.fullmatch(r"port 1 address-[0-9a-f]{8}, port 2 0x0", facts["nic_lid"])


def test_the_subnet_manager_has_one_name_with_the_port_that_it_is_at(tmp_path: Path) -> None:
    said = {"nic_subnet_manager": "port 1 0x2", "nic_lid": "port 1 0x2"}
    path = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, node_facts=said))
    (segment,) = anonymize.anonymize(loading.load([path]), KEY).segments
    (manager,) = set(segment.node_facts["nic_subnet_manager"])
    assert "0x" not in manager and {manager} == set(segment.node_facts["nic_lid"])


def test_a_limit_that_is_no_number_is_looked_at_as_any_text(tmp_path: Path) -> None:
    setup = replace(SETUP, node_facts={"nic_max_mr_size": "guid 0x506b4b0300cb0a12"})
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    (segment,) = anonymize.anonymize(loading.load([path]), KEY).segments
    (said,) = set(segment.node_facts["nic_max_mr_size"])
    assert "506b" not in said


def test_what_a_site_says_of_its_nodes_is_replaced(tmp_path: Path) -> None:
    """A cable's serial number looks like no name of anything."""
    setup = replace(SETUP, node_facts={"site_cable": "MT1749VS01234", "site_none": ""})
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    (segment,) = anonymize.anonymize(loading.load([path]), KEY).segments
    (cable,) = set(segment.node_facts["site_cable"])
    assert cable.startswith("value-") and set(segment.node_facts["site_none"]) == {""}


def test_a_name_that_would_slip_through_stops_the_export(tmp_path: Path) -> None:
    """The last look is independent of the replacing: a word for a fact is not replaced."""
    setup = replace(SETUP, node_facts={"alice": "x"})
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    with pytest.raises(InputError, match="'alice' would still be in"):
        anonymize.anonymize(loading.load([path]), KEY)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("vm_test", "_test"),
        ("test-vm-ib0", "test--"),
        ("vm01 and 3vm_x", "01 and 3_x"),
        ("dora_run", "_run"),
        ("run2dora", "run2"),
        ("nid001-eth0", "-"),
        ("nid001_ib0", "_"),
        ("vmstat, ramvm, doraemon, nid0012", None),
        ("a2aperf --vm-size 3 --dora=4", None),
        ("10us of 64us, 0x5us1 in 9a0us12", "10us of 64us, 0x51 in 9a012"),
        ("0x12ab34 and commit 9ab31c07", None),
    ],
)
def test_a_name_in_a_compound_is_replaced(text: str, left: str | None) -> None:
    pseudonyms = anonymize.Pseudonyms(KEY)
    pseudonyms.learn("host", ["vm", "nid001", "us"])
    pseudonyms.learn("user", ["dora", "ab"])
    pseudonyms.learn("interface", ["ib0"])
    scrubbed = pseudonyms.scrub(text)
    assert re.sub("(host|user|interface)-[0-9a-f]{8}", "", scrubbed) == (left or text)
    assert pseudonyms.leaks(scrubbed) is None
    assert left is None or pseudonyms.leaks(text)


def test_compounds_in_a_file(a2a: Run, tmp_path: Path) -> None:
    labels = {"where": "node002_test", "h2": "node002-ib0", "p": "alice_run", "tool": "malice"}
    path = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, labels=labels))
    outcome = export(a2a, path, tmp_path / "out.h5")
    assert outcome.status == 0, outcome
    found = loading.load([tmp_path / "out.h5"]).launches["out.h5#0"]
    host = found.nodes[1]
    assert found.labels["where"] == f"{host}_test"
    assert re.fullmatch("host-[0-9a-f]{8}", found.labels["h2"])  # looks like a host of its own
    assert re.fullmatch("user-[0-9a-f]{8}_run", found.labels["p"])
    assert found.labels["tool"] == "malice"
    assert f"  label where: {host}_test\n" in outcome.out


NAMES = (
    " nid00017.acme.com ib0 dora@gate3.acme.com /home/dora/x 10.9.8.7 fe80::21b:44ff:fe11:3ab7 "
    "00:1b:44:11:3a:b7 0x00117501017a1b2c /scratch/erin/run"
)
PLANTED = "nid00017 acme ib0 dora gate3 /home 10.9.8.7 fe80 00:1b:44 00117501 erin /scratch".split()


@pytest.fixture
def planted_everywhere(tmp_path: Path) -> Path:
    setup = replace(SETUP, attachments={"hosts.txt": "x"}, baseline=True)
    path = synthetic.write_launch(tmp_path / "planted.h5", setup)
    where = planted.plant(path, NAMES, ("long_name", "thread_affinity"))
    assert len(where) > 40
    with h5py.File(path, "r+") as file:
        affinity = file["counters/thread_affinity"]  # 96 bytes
        affinity[...] = np.full(affinity.shape, b"0-1;nid00017.acme.com ib0 dora", affinity.dtype)
        note = file.create_dataset("remark", data=[f"seen{NAMES}"] * len(file["state"]))
        note.attrs["long_name"] = f"what was seen{NAMES}"
        note.dims[0].attach_scale(file["point"])
        sums = [name for name in ("checksum", "digest") if name in file]
        for name in sums:
            del file[name]
        file.attrs["schema_version"] = np.int32(1)
    return path


def test_a_name_in_every_field_is_gone(a2a: Run, planted_everywhere: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    outcome = export(a2a, planted_everywhere, output)
    assert outcome.status == 0, outcome
    content = output.read_bytes()
    for name in PLANTED:
        assert name.encode() not in content, name
        assert name not in outcome.out.replace(str(tmp_path), ""), name
    with h5py.File(output) as file:
        assert "host-" in file["remark"].asstr()[0]
        assert any("interface-" in name for name in file["counters/port_names"].asstr())
        host = next(word for word in file["mode"].asstr()[0].split() if word.startswith("host-"))
        assert host in file["segments/0"].attrs["command_line"]
        assert host in file["segments/0/label_value"].asstr()[1]
        mode = file["mode"].asstr()[0]
    assert f"mode: {mode}\n" in outcome.out  # no word that a2aperf has: it is listed


@pytest.mark.parametrize(
    "write",
    [
        native_paths.write,
        native_echo.write,
        native_open_loop.write,
        native_interference.write,
        native_streams.write,
    ],
)
def test_and_in_every_field_of_a_workload_of_its_own(
    a2a: Run, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path / "planted.h5")
    with h5py.File(path) as file:
        groups = [name for name in file if isinstance(file[name], h5py.Group)]
    planted.plant(path, NAMES, ("long_name", "thread_affinity", "count"))
    output = tmp_path / "out.h5"
    outcome = export(a2a, path, output)
    assert outcome.status == 0, outcome
    content = output.read_bytes()
    for name in PLANTED:
        assert name.encode() not in content, name
    with h5py.File(output) as file:
        assert set(groups) <= set(file)


def test_groups_of_the_file_are_no_paths(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", SETUP)
    with h5py.File(path, "r+") as file:
        note = file.create_dataset("remark", data=["-"] * len(file["state"]))
        note.attrs["long_name"] = "buckets in /raw, not in /raw/erin"
        note.dims[0].attach_scale(file["point"])
        for name in [name for name in ("checksum", "digest") if name in file]:
            del file[name]
        file.attrs["schema_version"] = np.int32(1)
    output = tmp_path / "out.h5"
    assert export(a2a, path, output).status == 0
    with h5py.File(output) as file:
        told = str(file["remark"].attrs["long_name"])
    assert told.startswith("buckets in /raw, not in path-")


HIDDEN = {
    "url": "see https://wiki.acme.com/net",
    "end": "it was moved behind gate.acme.com. Slow since",
    "root": "nid001.acme.com. is its name",
    "list": "nid[001-004,7] and NID00017",
}


def test_names_between_other_signs_are_gone(a2a: Run, tmp_path: Path) -> None:
    environment = {"OMPI_MCA_orte_hnp_uri": "1234.0;tcp://gate.acme.com:40001"}
    setup = replace(SETUP, labels=HIDDEN, environment=environment)
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    assert export(a2a, path, tmp_path / "out.h5").status == 0
    content = (tmp_path / "out.h5").read_bytes()
    for name in (b"acme", b"gate.", b"nid0", b"nid[", b"NID0"):
        assert name not in content, name


OTHER_HOSTS = (
    "x3000c0s17b1n0 x1000c2r3b0 r1i2n3 ip-10-0-1-23 login-node-7 gpu-node-12 rack-7-node-12 "
    "compute-0-1 frontend01 mds01 cnode12 leaf17 taurusi6099 taurusi[6001-6010,7]"
)


def test_hosts_that_are_no_nodes_of_the_launch_are_known_by_their_looks(
    a2a: Run, tmp_path: Path
) -> None:
    """As clusters name theirs, and as the launch's own nodes with other numbers."""
    path = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, labels={"like": OTHER_HOSTS}))
    with edited(path) as file:
        nodes = file["segments/0/nodes"]
        nodes[...] = [f"taurusi{6000 + i}.cluster" for i in range(len(nodes))]
    assert export(a2a, path, tmp_path / "out.h5").status == 0
    (segment,) = loading.load([tmp_path / "out.h5"]).launches.values()
    words = segment.labels["like"].split()
    assert len(words) == len(OTHER_HOSTS.split())
    assert all(re.fullmatch("host-[0-9a-f]{8}", word) for word in words), words


@pytest.mark.parametrize(
    "text", ["node-shift node-aware", "x86 x3000", "tau12 taurusi taurusi6x", "ip-1-2-3", "r1i2"]
)
def test_what_looks_a_little_like_a_host_stays(text: str) -> None:
    kin = looks.kin(["taurusi6045.cluster", "ab12", "vm"])
    assert kin and kin.findall(text) == [] and looks.NUMBERED.findall(text) == []


def test_names_of_counters_and_columns_are_listed(a2a: Run, named: Path, tmp_path: Path) -> None:
    with edited(named) as file:
        names = file["counters/port_names"]
        names[...] = [b"cxi-acmefabric/statistics/tx_bytes", *names[1:]]
        file.attrs["Site.Notes"] = "north"
    listed = a2a("export", named, "--anonymize", "--review", "--key", tmp_path / "key")
    assert "  counter of a port: cxi-acmefabric/statistics/tx_bytes\n" in listed.out
    (names,) = [line for line in listed.out.splitlines() if "names of attributes: " in line]
    assert "Site.Notes" in names.split(": ")[1].split(", ")


def test_a_key_is_never_written_through_a_link(a2a: Run, named: Path, tmp_path: Path) -> None:
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")
    export(a2a, named, tmp_path / "out.h5").refused("cannot be used as key")
    assert not (tmp_path / "elsewhere").exists()


def test_what_remains_is_seen_before_anything_is_written(
    a2a: Run, named: Path, tmp_path: Path
) -> None:
    key = ("--key", tmp_path / "key")
    listed = a2a("export", named, "--anonymize", "--review", *key)
    assert listed.status == 0
    assert "  label cluster: north\n" in listed.out
    assert "  command_line: a2aperf alltoall -o path-" in listed.out
    assert list(tmp_path.glob("*.h5")) == [named]
    written = a2a("export", named, "--anonymize", "-o", tmp_path / "out.h5", *key)
    assert written.out.startswith(listed.out)
    a2a("export", named, "--anonymize", *key).refused("-o FILE", "--review")


def test_who_stops_reading_the_list_has_the_file(named: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    done = unread.a2a("export", named, "--anonymize", "-o", output, "--key", tmp_path / "key")
    assert (done.returncode, output.exists()) == (0, True), done.stderr


def test_what_people_wrote_is_listed_first_and_equal_kinds_are_folded(
    a2a: Run, named: Path, tmp_path: Path
) -> None:
    with edited(named) as file:
        del file["segments/0/fi_info"]
        file["segments/0"]["fi_info"] = (
            "fi_info:\n    caps: [ FI_MSG, FI_RMA ]\n    inject_size: 64\n    handle: (nil)\n"
            "    fabric: northern lights\n    name: cafe\n"
        )
    listed = a2a("export", named, "--anonymize", "--review", "--key", tmp_path / "key")
    lines = [line.strip() for line in listed.out.splitlines()]
    assert lines[-1] == "fi_info: 4 more lines, of libfabric's own words and numbers"
    at = [
        lines.index(line)
        for line in (
            "label cluster: north",
            "layout: compact",
            "fi_info: fabric: northern lights",
            "fi_info: name: cafe",
        )
    ]
    assert at == sorted(at)
    assert sum(line.startswith("names of variables: ") for line in lines) == 1
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_on_a_terminal_it_is_asked(
    a2a: Run, named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, status: int
) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    output = tmp_path / "out.h5"
    assert export(a2a, named, output).status == status
    assert output.exists() == (status == 0)
