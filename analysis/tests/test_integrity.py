# SPDX-License-Identifier: BSD-3-Clause
"""Damage is never taken for data: trailer, digest and checksums, and what is done without them."""

import fcntl
import os
import re
import shutil
import signal
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import (
    checksums,
    datasets,
    file_lock,
    isolated,
    loading,
    mending,
    repair,
    schema,
    trailer,
)
from a2aperf.errors import InputError, what_is_damaged
from conftest import Outcome
from support import native_paths, synthetic, synthetic_pairs
from support.edited import edited

Run = Callable[..., Outcome]
SMALL = synthetic.Setup(nodes=2, ppn=1, sizes=(8, 1000), ops=3)


def cut(path: Path) -> Path:
    """Without its trailer, and as a launch leaves it that was killed."""
    with edited(path) as file:
        file.attrs["layout"] = "preallocated"
        for name, value in (("end_state", 0), ("end_reason", 0), ("ended", -1)):
            file["segments/0"][name][()] = value
    return path


def overwrite(path: Path, dataset: str, point: int) -> None:
    """Other bytes on the disk where the samples or counters of a point are."""
    with h5py.File(path) as file:
        if file[dataset].chunks:
            place = file[dataset].id.get_chunk_info(point).byte_offset
        else:
            place = file[dataset].id.get_offset() + file[dataset][:point].nbytes
    with path.open("r+b") as stream:
        stream.seek(place + 2)
        was = stream.read(2)
        stream.seek(place + 2)
        stream.write(bytes([was[0] ^ 9, was[1] ^ 4]))  # one bit would be set right


def test_the_checksum_of_a_point_is_of_what_the_format_says(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", SMALL)
    with h5py.File(path) as file:
        rows = sorted(set(file) - {"point", "state", "checksum", "digest"})
        stream = b""
        for name in (name for name in rows if isinstance(file[name], h5py.Dataset)):
            value = file[name][1]
            stream += name.encode() + b"\0"
            stream += value + b"\0" if isinstance(value, bytes) else value.tobytes()
        for group, names in (
            ("raw", ("begin", "exit", "recv_done", "send_done", "start", "valid")),
            ("counters", sorted({*datasets.COUNTERS} - {"port_names"})),
        ):
            for name in names:
                stream += f"{group}/{name}".encode() + b"\0" + file[group][name][1].tobytes()
        assert file["attempts"][1] == file["raw/begin"].shape[1]
        assert file["checksum"][1] == zlib.crc32(stream)


def test_the_digest_begins_as_the_format_says(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["a"] = np.int32(5)
        file.attrs["b"] = "text"
        file.attrs.create("c", np.bytes_(b"CLASS"), dtype="S8")
        file.create_dataset("asked", data=["one", "two"], dtype=h5py.string_dtype())
        file.create_dataset("last", data="", dtype=h5py.string_dtype())
        file.create_dataset("later", data=np.zeros((2, 3)))
        one, two = struct.pack("<QQ", 1, 2), struct.pack("<QQQ", 2, 2, 3)
        none = struct.pack("<Q", 0)
        stream = b"/\0G" + b"a\0i4\0" + none + struct.pack("<i", 5)
        stream += b"b\0t\0" + none + b"text\0" + b"c\0s8\0" + none + b"CLASS\0"
        stream += (
            b"/asked\0Dt\0"
            + one
            + b"one\0two\0"
            + b"/last\0Dt\0"
            + none
            + b"\0"
            + b"/later\0Df8\0"
            + two
        )
        assert checksums.digest(file) == zlib.crc32(stream)


def test_the_trailer_is_of_all_bytes_before(launch: Path) -> None:
    content = launch.read_bytes()
    crc = zlib.crc32(content[:-64])
    assert content[-64:] == b"a2aperf digest v1 crc32=%08x bytes=%024d\n" % (
        crc,
        len(content) - 64,
    )
    assert trailer.of(launch) is trailer.Trailer.RIGHT


@pytest.mark.parametrize("place", [100, -200, -64, -20, -1])
def test_a_flipped_bit_of_a_finished_file_is_refused(a2a: Run, launch: Path, place: int) -> None:
    content = bytearray(launch.read_bytes())
    content[place] ^= 1
    launch.write_bytes(content)
    other = synthetic.write_launch(launch.parent / "other.h5", SMALL)
    said = (f"{launch}: damaged: not every byte is as it was written", "a2a check --repair")
    for command in (["table"], ["explain"], ["merge", other, "-o", "x.h5"], ["live", "--once"]):
        a2a(command[0], launch, *command[1:]).refused(*said)
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "error: not every byte is as it was written" in outcome.out


def test_what_stands_behind_the_trailer_is_refused(a2a: Run, launch: Path) -> None:
    with launch.open("ab") as stream:
        stream.write(b"more")
    a2a("table", launch).refused("not every byte is as it was written")


def test_a_change_by_another_program_is_told(a2a: Run, launch: Path) -> None:
    with h5py.File(launch, "r+") as file:
        file["time_p50"][0] *= 1.0
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "has no trailer: changed by another program, or cut off" in outcome.out


@pytest.mark.parametrize("dataset", ["raw/recv_done", "counters/user_time", "counters/port"])
def test_damage_of_a_point_is_told_and_its_samples_are_refused(
    a2a: Run, launch: Path, dataset: str
) -> None:
    overwrite(cut(launch), dataset, 2)
    for command in ("table", "explain"):
        a2a(command, launch).refused("launch.h5: damaged: point 2 ")
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "error: point 2: " in outcome.out
    assert "error: point 1: " not in outcome.out
    with pytest.raises(InputError, match="damaged"):
        loading.load([launch])


def test_a_row_that_the_disk_had_not_confirmed_counts(a2a: Run, launch: Path) -> None:
    with h5py.File(cut(launch), "r+") as file:
        file["state"][1:] = 0
        file["time_p50"][2] *= 2
        file["checksum"][3] = -1
    found = loading.load([launch]).points["state"]
    assert list(found) == ["complete", "complete", "pending", "pending"]
    outcome = a2a("check", launch)
    assert outcome.status == 0
    assert "warning: point 2: not all of it reached the disk: not measured" in outcome.out


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Of a launch that was killed when it had written all but how it ended."""
    setup = synthetic.Setup(nodes=3, ppn=1, sizes=(8, 60000), ops=12)
    truth = synthetic_pairs.Truth(pairs={(0, 1): 2.0})
    return cut(synthetic_pairs.write_pairs(tmp_path / "pairs.h5", setup, truth))


WRONG_MATRIX = "/pairs is not as it was written"


@pytest.mark.parametrize(
    "command",
    ["table", "table --role pair", "explain", "plot matrix -o x.svg", "report -o x.html"],
)
def test_a_damaged_matrix_is_told_by_whoever_shows_it(
    a2a: Run, matrix: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(matrix.parent)
    words = [*command.split(), matrix]
    assert WRONG_MATRIX not in a2a(*words).err
    overwrite(matrix, "pairs/gbps", 0)
    for written in matrix.parent.glob("x.*"):
        written.unlink()
    outcome = a2a(*words)
    assert outcome.status == 0
    (line,) = [one for one in outcome.err.splitlines() if WRONG_MATRIX in one]
    assert line.startswith(f"a2a: {matrix}: ")


def test_a_matrix_of_a_launch_that_ended_is_told(a2a: Run, matrix: Path) -> None:
    with h5py.File(matrix, "r+") as file:
        for name in ("end_state", "end_reason"):
            file["segments/0"][name][()] = 1
    assert WRONG_MATRIX not in a2a("table", matrix).err
    overwrite(matrix, "pairs/gbps", 0)
    assert f"a2a: {matrix}: {WRONG_MATRIX}: its checksum is wrong" in a2a("table", matrix).err
    assert f"error: {WRONG_MATRIX}: its checksum is wrong" in a2a("check", matrix).out


def test_a_matrix_that_is_not_sealed_yet_is_not_called_damaged(a2a: Run, matrix: Path) -> None:
    """The checksum comes at the end of a launch: one that was killed before has none."""
    with h5py.File(matrix, "r+") as file:
        file["pairs/checksum"][()] = -1
        file["pairs/gbps"][0, 0, 2] = np.nan
    assert WRONG_MATRIX not in a2a("table", matrix).err
    assert f"warning: {WRONG_MATRIX}" not in a2a("check", matrix).out


def test_a_matrix_that_a_launch_still_writes_is_not_called_damaged(a2a: Run, matrix: Path) -> None:
    overwrite(matrix, "pairs/gbps", 0)
    with matrix.open("rb") as file:
        mark = struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, file_lock.MARK, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, mark)
        assert WRONG_MATRIX not in a2a("table", matrix).err
    assert WRONG_MATRIX in a2a("table", matrix).err


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("checksum", "/checksum is missing"),
        ("digest", "/digest is missing"),
        ("segments/0/end_reason", "launch 0: end_reason missing"),
    ],
)
def test_what_a_file_lacks(a2a: Run, launch: Path, part: str, words: str) -> None:
    with h5py.File(launch, "r+") as file:
        del file[part]
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert words in outcome.out


def test_a_file_of_version_1_lacks_nothing(a2a: Run, launch: Path) -> None:
    with h5py.File(launch, "r+") as file:
        file.attrs["schema_version"] = np.int32(1)
        for part in ("checksum", "digest", "segments/0/end_reason"):
            del file[part]
    assert a2a("check", launch).out == f"{launch}: sound\n"
    assert a2a("explain", launch).status == 0


def test_what_was_asked_is_covered(a2a: Run, launch: Path) -> None:
    with h5py.File(launch, "r+") as file:
        file["segments/0"].attrs["provider"] = "tcp"
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "not as it was written (/digest)" in outcome.out


@pytest.fixture
def crashing(launch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file without a trailer of which HDF5 crashes in the process that reads it."""
    module = launch.parent / "sitecustomize.py"
    module.write_text(
        "import h5py, os\n"
        "class File(h5py.File):\n"
        "    def __init__(self, path, *a, **k):\n"
        f"        os.abort() if str(path) == {str(launch)!r} else super().__init__(path, *a, **k)\n"
        "h5py.File = File\n"
    )
    isolated.end()
    monkeypatch.setenv("PYTHONPATH", str(launch.parent))
    return cut(launch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("table",),
        ("explain",),
        ("live", "--once"),
        ("check",),
        ("export", "--anonymize", "-o", "x.h5"),
        ("check", "--repair", "-o", "x.h5"),
    ],
)
def test_a_crash_of_who_reads_a_file_is_one_line(
    a2a: Run, crashing: Path, command: tuple[str, ...]
) -> None:
    outcome = a2a(command[0], crashing, *command[1:])
    outcome.refused(f"{crashing}: damaged: whoever reads it dies of SIGABRT")
    assert not Path("x.h5").exists()
    isolated.end()


def test_after_a_crash_others_are_read(a2a: Run, crashing: Path) -> None:
    other = cut(synthetic.write_launch(crashing.with_name("other.h5"), SMALL))
    outcome = a2a("check", crashing, other)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert f"{other}: warning" in outcome.out
    assert a2a("table", other).status == 0
    isolated.end()


def test_one_process_reads_all_files_that_no_trailer_vouches_for(tmp_path: Path) -> None:
    setups = [synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3, seed=seed) for seed in (1, 2)]
    files = [cut(synthetic.write_launch(tmp_path / f"{one.seed}.h5", one)) for one in setups]
    first = isolated.call(files[0], os.getpid)
    found = loading.load(files)
    assert found.raw("1.h5", 0).recv_done.shape == (3, 2)
    assert isolated.call(files[1], os.getpid) == first
    assert first != os.getpid()
    isolated.end()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_who_was_ended_while_nobody_asked_is_replaced(launch: Path) -> None:
    """By a machine short of memory; no file is to blame."""
    reader = isolated.call(launch, os.getpid)
    os.kill(reader, signal.SIGKILL)
    os.waitid(os.P_PID, reader, os.WEXITED | os.WNOWAIT)
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (signal.SIGKILL, "was ended by SIGKILL, as where memory runs out"),
        (signal.SIGTERM, "was ended by SIGTERM"),
    ],
)
def test_no_file_is_blamed_for_what_ends_its_reader_from_outside(
    launch: Path, sent: signal.Signals, said: str
) -> None:
    words = f"{launch}: not read: the process that reads it {said}"
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        isolated.call(launch, signal.raise_signal, sent)
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_what_the_process_that_reads_raises_is_said(launch: Path) -> None:
    with pytest.raises(InputError, match=r"damaged: whoever reads it ends with 'ZeroDivisionError"):
        isolated.call(launch, divmod, 1, 0)
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_who_reads_a_file_is_where_its_caller_is(
    launch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolated.call(launch, os.getpid)
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.chdir(there)
    assert isolated.call(launch, os.getcwd) == str(there)
    there.rmdir()
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_who_reads_a_file_and_never_answers_is_ended(
    launch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = isolated.call(launch, os.getpid)
    monkeypatch.setattr(isolated, "PATIENCE_S", 0)
    said = f"{launch}: damaged, or its disk does not answer: whoever reads it says nothing for 0 s"
    with pytest.raises(InputError, match=re.escape(said)):
        isolated.call(launch, signal.pause)  # for ever
    with pytest.raises(ProcessLookupError):
        os.kill(reader, 0)
    monkeypatch.undo()
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_who_goes_around_in_a_file_for_ever_is_ended(
    launch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As HDF5 does in some damaged files; how long that may take is CPU time, of each part."""
    monkeypatch.setattr(isolated, "PATIENCE_CPU_S", 1)
    said = f"{launch}: damaged: whoever reads it computes without coming to an end and is ended"
    with pytest.raises(InputError, match=re.escape(said)):
        isolated.call(launch, sum, range(1 << 62))
    monkeypatch.undo()
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_who_reads_a_file_gets_no_more_memory_than_it_may_need(launch: Path) -> None:
    with pytest.raises(InputError, match=r"damaged: whoever reads it ends with 'MemoryError"):
        isolated.call(launch, bytes, 6 << 30)
    assert isolated.call(launch, divmod, 7, 2) == (3, 1)


def test_a_written_file_is_on_the_disk_before_it_has_its_name_and_its_folder_after(
    a2a: Run, launch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        told.append(("sync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        sync(descriptor)

    def replaced(temporary: Path, path: Path) -> Path:
        told.append(("rename", str(temporary)))
        return replace(temporary, path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    other = synthetic.write_launch(launch.with_name("other.h5"), SMALL)
    told.clear()
    assert a2a("merge", launch, other, "-o", launch.with_name("both.h5")).status == 0
    temporary = told[0][1]
    folder = str(launch.parent)
    assert told == [("sync", temporary), ("rename", temporary), ("sync", folder)]
    assert Path(temporary).parent == launch.parent


def test_a_copy_hides_no_damage(a2a: Run, launch: Path) -> None:
    other = synthetic.write_launch(launch.with_name("other.h5"), SMALL)
    with h5py.File(cut(launch), "r+") as file:
        file["segments/0"].attrs["program_version"] = "9.9"
    said = (f"{launch}: damaged: ", "not as it was written (/digest)", "a2a check --repair")
    output = ("-o", launch.with_name("x.h5"))
    key = launch.with_name("key")
    for command in (("merge", launch, other), ("export", "--anonymize", "--key", key, launch)):
        outcome = a2a(*command, *output)
        told, refused = outcome.err.splitlines()  # as every command tells it, and why it ends
        assert outcome.status == 2 and told.endswith("(/digest)")
        assert all(word in refused for word in said), refused
    assert not launch.with_name("x.h5").exists()


@pytest.mark.parametrize("state", ["finished", "interrupted", "failed"])
def test_how_a_launch_ended_follows_from_its_checksum(a2a: Run, launch: Path, state: str) -> None:
    """Its state is written last, and a flipped bit may say that it still runs."""
    with edited(launch) as file:
        file.attrs["layout"] = "preallocated"
        end = file["segments/0"]
        end["end_state"][()] = schema.END_STATES.index(state)
        reason = {"finished": "finished", "interrupted": "signal", "failed": "other"}[state]
        end["end_reason"][()] = schema.END_REASONS.index(reason)
        end["message"][()] = b"somebody ended it"
    with h5py.File(launch, "r+") as file:
        file["segments/0/end_state"][()] = schema.END_STATES.index("running")
    (found,) = loading.load([launch]).launches.values()
    assert found.end_state == state
    assert "still running" not in a2a("check", launch).out
    with h5py.File(launch, "r+") as file:
        file["segments/0/ended"][()] += 1
    (found,) = loading.load([launch]).launches.values()
    assert found.end_state == "running"


ASKED = ("window", "message_size", "ranks", "nodes", "ranks_per_node", "partner", "distance")


@pytest.mark.parametrize("name", ["window", "ranks_per_node"])
def test_what_was_asked_of_a_point_that_is_not_measured_is_covered(
    a2a: Run, launch: Path, tmp_path: Path, name: str
) -> None:
    with edited(launch) as file:
        file["state"][3] = schema.STATES.index("pending")
        assert file[name].attrs["checksum"] == zlib.crc32(file[name][()].tobytes())
    cut(launch)
    assert "error" not in a2a("check", launch).out
    with h5py.File(launch, "r+") as file:
        file[name][3] += 1
    said = f"column {name}, of what was asked, is not as it was written: its checksum is wrong"
    outcome = a2a("check", launch)
    assert (outcome.status, f"{launch}: error: {said}\n" in outcome.out) == (2, True), outcome
    assert f"a2a: {launch}: {said}\n" in a2a("table", launch).err
    other = synthetic.write_launch(tmp_path / "other.h5", SMALL)
    outcome = a2a("merge", launch, other, "-o", tmp_path / "x.h5")
    assert (outcome.status, "'a2a check --repair " in outcome.err) == (2, True), outcome
    new = tmp_path / "new.h5"
    assert f"{launch}: lost: {said}; kept as it reads\n" in (
        a2a("check", "--repair", launch, "-o", new).out
    )
    with h5py.File(launch) as was, h5py.File(new) as file:
        assert file[name][3] == was[name][3]
        assert file[name].attrs["checksum"] == zlib.crc32(file[name][()].tobytes())


def test_a_file_without_checksums_of_what_was_asked_is_sound(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        for name in ASKED:
            del file[name].attrs["checksum"]
    assert a2a("check", launch).out == f"{launch}: sound\n"


# Repair ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["raw/recv_done", "counters/port", "time_p50"])
def test_repair_keeps_what_is_sound(a2a: Run, launch: Path, tmp_path: Path, dataset: str) -> None:
    whole = loading.load([shutil.copy(launch, tmp_path / "whole.h5")])
    overwrite(launch, dataset, 2)
    before = launch.read_bytes()
    outcome = a2a("check", "--repair", launch, "-o", tmp_path / "new.h5")
    assert outcome.status == 0, outcome
    assert f"{launch}: lost: point 2: " in outcome.out
    assert launch.read_bytes() == before
    found = loading.load([tmp_path / "new.h5"])
    assert list(found.points["state"]) == ["complete", "complete", "pending", "complete"]
    assert "point 2" in found.attributes["new.h5"]["repaired"]
    for point in (0, 1, 3):
        kept, was = found.raw("new.h5", point), whole.raw("whole.h5", point)
        assert (kept.recv_done == was.recv_done).all()
        assert found.points["time_p50"][point] == whole.points["time_p50"][point]


@pytest.mark.parametrize("place", [0, 9, 40, 97, 700, 5000, -65, -64, -30, -20, -2, -1])
def test_one_flipped_bit_of_a_finished_file_is_set_right(
    a2a: Run, launch: Path, tmp_path: Path, place: int
) -> None:
    whole = launch.read_bytes()
    content = bytearray(whole)
    content[place] ^= 16
    launch.write_bytes(content)
    outcome = a2a("check", "--repair", launch, "-o", tmp_path / "new.h5")
    byte = place % len(whole)
    assert outcome.out == (
        f"{launch}: mended: byte {byte} was not as it was written, and is again\n"
        f"{launch}: nothing is lost\n{tmp_path / 'new.h5'}: sound\n"
    )
    assert (tmp_path / "new.h5").read_bytes() == whole
    assert launch.read_bytes() == content


def test_what_looks_like_one_flipped_bit_is_none(launch: Path, tmp_path: Path) -> None:
    whole = launch.read_bytes()
    content = bytearray(whole)
    content[-10 - 64] ^= 1
    content[300] ^= 128
    launch.write_bytes(content)
    assert mending.flipped_bit(launch) is None
    launch.write_bytes(whole)
    with h5py.File(launch, "r+") as file:  # its checksum stays as it was
        file["time_p50"][1] *= 2
        place = file["time_p90"].id.get_offset() + 8
    trailer.append(launch)
    content = bytearray(launch.read_bytes())
    content[place] ^= 1
    launch.write_bytes(content)
    assert mending.flipped_bit(launch) == 8 * place
    outcome = repair.repair(launch, tmp_path / "new.h5", False, lambda done, of: None)
    assert [what[:8] for what in outcome.lost] == ["point 1:"]


@pytest.mark.slow
@pytest.mark.parametrize("place", [3, 8, 13, 16, 35, 43, 50, 64, 72, 80, 88])
def test_an_unfinished_file_has_the_beginning_of_all(
    a2a: Run, launch: Path, tmp_path: Path, place: int
) -> None:
    content = bytearray(cut(launch).read_bytes())
    content[place] ^= 129
    launch.write_bytes(content)
    assert a2a("check", "--repair", launch, "-o", tmp_path / "new.h5").status == 0
    assert set(loading.load([tmp_path / "new.h5"]).points["state"]) == {"complete"}


def test_damage_is_told_in_plain_words(a2a: Run, launch: Path, tmp_path: Path) -> None:
    whole = cut(launch).read_bytes()
    with h5py.File(launch) as file:
        text = file["mode"].id.get_offset()
    for place, said in (
        (96, "its beginning, or the list of what it holds, cannot be read"),
        (text + 4, "/mode cannot be read"),
    ):
        launch.write_bytes(whole[:place] + b"\xff" * 8 + whole[place + 8 :])
        for command in (["table"], ["check"], ["check", "--repair", "-o", tmp_path / "new.h5"]):
            outcome = a2a(*command, launch)
            outcome.refused(f"{launch}: damaged: {said}\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("Unable to open object (bad B-tree)"), "a part cannot be found"),
        (
            RuntimeError("Link iteration failed (unable to offset into heap)"),
            "a name cannot be read",
        ),
        (
            ValueError("Insufficient precision in available types to represent (63, 52, 11)"),
            "a type cannot be read",
        ),
        (UnicodeDecodeError("utf-8", b"\xb0", 0, 1, "invalid start"), "a name cannot be read"),
        (OSError("Can't synchronously read data (inflate() failed)"), "samples cannot be unpacked"),
    ],
)
def test_words_of_hdf5_are_not_shown(error: Exception, said: str) -> None:
    assert what_is_damaged(error) == f"its structure: {said}"


@pytest.mark.parametrize(("state", "reason"), [(1, 4), (2, 1), (3, 0), (3, 1), (2, 3), (3, 2)])
def test_an_end_of_another_reason(a2a: Run, launch: Path, state: int, reason: int) -> None:
    with edited(launch) as file:
        file["segments/0/end_state"][()], file["segments/0/end_reason"][()] = state, reason
    outcome = a2a("check", launch)
    said = "launch 0: end_state and end_reason do not fit together" in outcome.out
    # a signal can come of a lost peer, and a peer be lost by a signal
    assert said == ((state, reason) not in ((2, 3), (3, 2)))


@pytest.mark.parametrize(
    ("name", "value"),
    [("end_state", 3), ("end_reason", 3), ("ended", 2**60), ("message", b"rank 1 was lost")],
)
def test_how_a_launch_ended_has_a_checksum(
    a2a: Run, launch: Path, name: str, value: int | bytes
) -> None:
    with edited(launch) as file:
        file.attrs["layout"] = "preallocated"
        ended = file["segments/0"]
        ended["end_state"][()], ended["end_reason"][()] = 2, 2
        ended["message"][()] = "signal 15"
    assert "checksum" not in a2a("check", launch).out
    with h5py.File(launch, "r+") as file:
        file["segments/0"][name][()] = value
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "launch 0: how it ended is not as it was written: its checksum is wrong" in outcome.out


def test_every_command_tells_who_measured_was_changed(a2a: Run, launch: Path) -> None:
    with h5py.File(cut(launch), "r+") as file:
        file["segments/0/start_counters/user_time"][0] += 1
    for command in (("table",), ("explain",), ("export", "--flat", "-o", launch.parent / "x.csv")):
        outcome = a2a(*command, launch)
        assert "is not as it was written (/digest)" in outcome.err, (command, outcome)


@pytest.mark.parametrize("place", ["segments/0/start_counters", "paths", "counters"])
def test_no_copy_lacks_what_a_newer_program_wrote(a2a: Run, tmp_path: Path, place: str) -> None:
    path = tmp_path / "x.h5"
    native_paths.write(path) if place == "paths" else synthetic.write_launch(path, SMALL)
    with edited(path) as file:
        file[place].create_dataset("newer", data=np.arange(3))
    words = f"/{place}/newer: a copy would lack it"
    key = ("--key", tmp_path / "key")
    a2a("export", path, "--anonymize", *key, "-o", tmp_path / "out.h5").refused(words)
    if place != "paths":  # which are never merged
        other = synthetic.write_launch(tmp_path / "y.h5", replace(SMALL, seed=9))
        a2a("merge", path, other, "-o", tmp_path / "out.h5").refused(words)
    assert not (tmp_path / "out.h5").exists()


def test_a_file_with_its_trailer_is_not_mended_by_the_copy(a2a: Run, tmp_path: Path) -> None:
    path = native_paths.write(tmp_path / "x.h5")
    with edited(path) as file:  # the copy of its structure is that of before
        file["paths"].create_dataset("newer", data=np.arange(3))
    assert repair._by_skeleton(path, tmp_path / "out.h5", lambda done, of: None) is None


def renamed(path: Path, name: str, as_: str) -> None:
    """Other bytes where the name of a member stands: a heap of names, which end in a NUL."""
    content = path.read_bytes()
    assert content.count(b"\0" + name.encode() + b"\0") == 1
    path.write_bytes(content.replace(b"\0" + name.encode() + b"\0", b"\0" + as_.encode() + b"\0"))


@pytest.mark.parametrize(
    ("name", "as_"),
    [("fi_info", "fi_infg"), ("clock_drift", "clock_dript"), ("message", "messagd")],
)
def test_a_flipped_bit_in_a_name_of_a_launch_costs_no_point(
    a2a: Run, launch: Path, tmp_path: Path, name: str, as_: str
) -> None:
    renamed(cut(launch), name, as_)
    new = tmp_path / "new.h5"
    outcome = a2a("check", "--repair", launch, "-o", new)
    assert f"{launch}: lost: /segments/0/{as_}: this a2a knows nothing of it\n" in outcome.out
    assert f"{launch}: lost: launch 0: {name} cannot be read: " in outcome.out
    assert "lost: point" not in outcome.out
    assert outcome.status == 0, outcome
    assert set(loading.load([new]).points["state"]) == {"complete"}


def test_names_of_ports_that_cannot_be_read_cost_no_point(
    a2a: Run, launch: Path, tmp_path: Path
) -> None:
    with h5py.File(cut(launch)) as file:
        place = file["counters/port_names"].id.get_offset()
        before = file["counters/port"][()]
    with launch.open("r+b") as stream:
        stream.seek(
            place + 4
        )  # where its heap begins: of an object that is not there HDF5 1.14.2 makes one up
        stream.write(b"\xff\xff")
    new = tmp_path / "new.h5"
    outcome = a2a("check", "--repair", launch, "-o", new)
    assert f"{launch}: lost: /counters/port_names: " in outcome.out
    assert "lost: point" not in outcome.out
    with h5py.File(new) as file:
        assert file["counters/port_names"].asstr()[0] == "unknown/0"
        np.testing.assert_array_equal(file["counters/port"][()], before)
    assert a2a("check", new).status == 0


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A matrix of 3 ranks and 2 sizes, and a second look at one pair."""
    setup = synthetic.Setup(nodes=3, ppn=1, sizes=(8, 60000), ops=12)
    return synthetic_pairs.write_pairs(
        tmp_path / "pairs.h5", setup, synthetic_pairs.Truth(pairs={(0, 1): 2.0})
    )


@pytest.mark.parametrize("dataset", ["time_p50", "time_min", "gbps", "ops"])
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_damaged_matrix_is_made_anew_of_the_samples(
    a2a: Run, pairs: Path, dataset: str, is_finished: bool
) -> None:
    with h5py.File(pairs) as file:
        whole = {name: values[()] for name, values in file["pairs"].items()}
    overwrite(pairs if is_finished else cut(pairs), f"pairs/{dataset}", 1)
    new = pairs.with_name("new.h5")
    outcome = a2a("check", "--repair", pairs, "-o", new)
    assert f"{pairs}: mended: /pairs is made anew of the samples" in outcome.out
    assert f"{pairs}: nothing is lost" in outcome.out
    assert "error" not in outcome.out
    with h5py.File(new) as file:
        for name, values in whole.items():
            np.testing.assert_array_equal(file["pairs"][name][()], values)
        assert set(file["state"][()]) == {1}


def test_a_second_look_that_is_damaged_is_lost_and_nothing_else(a2a: Run, pairs: Path) -> None:
    overwrite(pairs, "pairs/isolated_time", 0)
    overwrite(pairs, "raw/recv_done", 2)
    new = pairs.with_name("new.h5")
    outcome = a2a("check", "--repair", pairs, "-o", new)
    assert outcome.status == 0, outcome
    assert "lost: /pairs is not as it was written: made anew of the samples, without the" in (
        outcome.out
    )
    assert list(loading.load([new]).points["state"]) == ["complete"] * 2 + ["pending", "complete"]
    with h5py.File(new) as file:
        assert (file["pairs/isolated_time"][()] == -1).all()
        assert np.isfinite(file["pairs/time_p50"][()]).sum() == 3 * 3
        assert file["pairs/ops"][()].sum() == 3 * 3 * 12


def test_a_matrix_that_is_gone_is_made_anew(a2a: Run, pairs: Path) -> None:
    with h5py.File(pairs, "r+") as file:
        del file["pairs/time_p50"], file["pairs/suspect_source"], file["pairs/message_size"]
    new = pairs.with_name("new.h5")
    assert "lost: /pairs" in a2a("check", "--repair", pairs, "-o", new).out
    with h5py.File(new) as file:
        assert list(file["pairs/message_size"]) == [8, 60000]
        assert np.isfinite(file["pairs/time_p50"][()]).sum() == 4 * 3
        assert set(file["state"][()]) == {1}


SKIPPED_ROW = {"ops": -1, "attempts": 0, "skip_reason": "no"}


@pytest.mark.parametrize(
    ("state", "row", "becomes"),
    [
        (65, {}, "complete"),
        (3, {}, "complete"),
        (65, {"ops": 0, "invalid": 100}, "failed"),
        (65, SKIPPED_ROW, "skipped"),
        (3, SKIPPED_ROW, "skipped"),
        (65, {"ops": -1, "attempts": -1}, ""),
        (65, {"time_p50": np.nan}, ""),
    ],
)
def test_a_damaged_state_costs_no_other_point_and_follows_from_a_whole_row(
    a2a: Run, launch: Path, tmp_path: Path, state: int, row: dict[str, object], becomes: str
) -> None:
    with edited(launch) as file:
        for name, value in row.items():
            if name != "time_p50":
                file[name][1] = value
    with h5py.File(cut(launch), "r+") as file:
        file["state"][1] = state
        if "time_p50" in row:
            file["time_p50"][1] = np.nan
    so = becomes or "not measured: its row cannot tell"
    said = f"{launch}: error: point 1: its state is not as it was written ({state}): {so}\n"
    outcome = a2a("check", launch)
    assert (outcome.status, said in outcome.out) == (2, True), outcome
    outcome = a2a("table", "--json", launch)
    assert outcome.err.splitlines()[0] == f"a2a: {said.rstrip().replace(' error:', '')}"
    assert outcome.status == 0
    new = tmp_path / "new.h5"
    outcome = a2a("check", "--repair", launch, "-o", new)
    assert said.replace("error", "lost") in outcome.out
    assert "its state" not in a2a("check", new).out
    for file_ in (launch, new):
        states = list(loading.load([file_]).points["state"])
        assert states == ["complete", becomes or "pending", "complete", "complete"]


def test_a_state_that_older_programs_wrote_is_not_damaged(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["ops"][1] = 0  # of a point that an older one calls complete
        file["state"][2] = 2  # skipped, and nobody says why
        for name in ("ops", "attempts"):
            file[name][2] = -1
    assert "its state" not in a2a("check", cut(launch)).out


def test_repair_wants_another_name(a2a: Run, launch: Path) -> None:
    overwrite(launch, "raw/begin", 0)
    before = launch.read_bytes()
    a2a("check", "--repair", launch).refused("-o NEW")
    a2a("check", launch, "-o", "new.h5").refused("-o goes with --repair")
    a2a("check", "--repair", launch, "-o", launch).refused("exists already")
    a2a("check", "--repair", launch, "-o", launch, "--force").refused("the damaged file itself")
    assert launch.read_bytes() == before


def test_what_cannot_be_repaired(a2a: Run, launch: Path, tmp_path: Path) -> None:
    content = bytearray(launch.read_bytes())
    content[:1000] = bytes(1000)
    launch.write_bytes(content)
    a2a("check", "--repair", launch, "-o", tmp_path / "new.h5").refused("not an HDF5 file")
    assert not list(tmp_path.glob("*new.h5*"))


def test_what_cannot_be_repaired_replaces_nothing(a2a: Run, launch: Path, tmp_path: Path) -> None:
    good = Path(shutil.copy(launch, tmp_path / "good.h5"))
    before = good.read_bytes()
    with edited(launch) as file:
        file["stop_rule"][1] = 65
    command = ("check", "--repair", launch, "-o", good, "--force")
    a2a(*command).refused(f"{launch}: cannot be repaired: ")
    assert good.read_bytes() == before
    assert not list(tmp_path.glob(".good.h5.*"))


def test_copies_of_a_killed_launch_are_sound(a2a: Run, launch: Path, tmp_path: Path) -> None:
    other = synthetic.write_launch(tmp_path / "a.h5", replace(SMALL, seed=9))
    cut(launch)
    copies = tmp_path / "repaired.h5", tmp_path / "merged.h5", tmp_path / "exported.h5"
    assert a2a("check", "--repair", launch, "-o", copies[0]).status == 0
    assert a2a("merge", other, launch, "-o", copies[1]).status == 0
    export = ("export", "--anonymize", "--key", tmp_path / "key", launch, "-o", copies[2])
    assert a2a(*export).status == 0
    for copy in copies:
        outcome = a2a("check", copy)
        assert "error" not in outcome.out
        assert outcome.status != 2, outcome


def test_repair_makes_a_file_where_every_point_is_damaged(
    a2a: Run, launch: Path, tmp_path: Path
) -> None:
    for point in range(4):
        overwrite(launch, "raw/recv_done", point)
    assert a2a("check", "--repair", launch, "-o", tmp_path / "new.h5").status == 0
    found = loading.load([tmp_path / "new.h5"])
    assert set(found.points["state"]) == {"pending"}


@pytest.mark.parametrize(
    "fact", ["fi_info", "environment_value", "label_name", "node_facts/kernel"]
)
def test_a_fact_that_cannot_be_read_costs_no_point(
    a2a: Run, launch: Path, tmp_path: Path, fact: str
) -> None:
    launch.unlink()
    synthetic.write_launch(launch, replace(SMALL, environment={"FI_A": "1"}, labels={"a": "b"}))
    with h5py.File(launch) as file:
        place = file["segments/0"][fact].id.get_offset()
    with launch.open("r+b") as stream:
        stream.seek(
            place + 4
        )  # where its heap begins: of an object that is not there HDF5 1.14.2 makes one up
        stream.write(b"\xff\xff")
    outcome = a2a("check", "--repair", launch, "-o", tmp_path / "new.h5")
    assert outcome.status == 0, outcome
    assert "lost: launch 0: " in outcome.out
    assert "lost: point" not in outcome.out
    found = loading.load([tmp_path / "new.h5"])
    assert set(found.points["state"]) == {"complete"}
    assert a2a("table", tmp_path / "new.h5").status == 0
