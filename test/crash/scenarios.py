# SPDX-License-Identifier: BSD-3-Clause
"""What may happen to a results file until the power fails: launches that are killed or refused by the disk, and commands
of the analysis."""

from collections.abc import Callable

import h5py
import numpy as np
from disk import Disk, random_image, replay
from promise import bytes_of
from scene import NAME, Scene

POINT = 3  # the point that is damaged before a repair
ALWAYS = 1 << 30


def cut_three_times(scene: Scene) -> None:
    scene.launch("alltoall", kill="D:220")
    scene.launch("alltoall", "--resume", kill="C:100")  # in the copy
    scene.launch("alltoall", "--resume", kill="C2:150")  # in the compact copy
    scene.launch("alltoall", "--resume")


def pairs(scene: Scene) -> None:
    scene.launch("pairs", kill="D:230")
    scene.launch("pairs", "--resume")


def open_loop(scene: Scene) -> None:
    """Columns of round trips and of their histogram, as long as there is something in them."""
    scene.launch("open-loop", kill="D:150")
    scene.launch("open-loop", "--resume")


def class_of_a_load(scene: Scene) -> None:
    """Texts that are known when a point has been measured."""
    scene.launch("interference", kill="D:150")
    scene.launch("interference", "--resume")


def baseline(scene: Scene) -> None:
    """The provider lacks one of the modes, whose points are skipped."""
    words = ["--baseline", "mpi", "--provider", "udp", "--mode", "msg,read"]
    scene.launch("alltoall", *words, kill="D:300")
    scene.launch("alltoall", *words, "--resume")


def failed_points(scene: Scene) -> None:
    """No op of any point is valid; the next launch measures all of them again, in their places."""
    words = ["points=3", "ranks=2", "ops=10"]
    scene.write(*words, "failed=1")
    scene.write(*words, "failed=1", "resume=1", kill="D:90")
    scene.write(*words, "resume=1")


def failing_disk(scene: Scene) -> None:
    scene.launch("alltoall", fault=of_disk("fdatasync", "EIO", NAME, 1), ends=1)
    scene.launch("alltoall", "--resume", fault=of_disk("write", "ENOSPC", "partial", 100, ALWAYS), ends=1)
    scene.launch("alltoall", "--resume", fault=of_disk("write", "EIO", NAME, 40), ends=1)
    scene.launch("alltoall", "--resume", fault=of_disk("fsync", "EIO", "", 4))  # stays larger than it need be


def failing_end(scene: Scene) -> None:
    scene.launch("pairs", fault=of_disk("fsync", "EIO", "", 3), ends=1)
    # Of some 1270 writes the first 650 are of the copy that it goes on in, the others of the compact copy.
    scene.launch("pairs", "--resume", fault=of_disk("write", "ENOSPC", "partial", 900, ALWAYS))
    scene.launch("pairs", "--resume", fault=of_disk("fsync", "EIO", "", 5))  # of the folder, when it is renamed


def of_disk(call: str, error: str, path: str, nth: int, count: int = 1) -> str:
    return f"call={call} do={error} nth={nth} count={count} rank=0" + (f" path={path}" if path else "")


def torn(scene: Scene, before: Scene) -> None:
    """A power cut leaves a file of which not all is on the disk; it is resumed, cut again, and resumed."""
    scene.given(torn_image(before))
    scene.launch("alltoall", "--resume", kill="D:60")
    scene.launch("alltoall", "--resume")


def torn_image(scene: Scene) -> bytes:
    """Of the moment of its first launch at which most had not reached the disk."""
    chance = np.random.default_rng(7)
    disk, best, most, launches = Disk(), b"", 0, 0
    for note in replay(disk, scene.notes):
        launches += note.kind == "N"
        file = disk.names.get(NAME)
        if launches == 1 and file and len(disk.past_names) == 1 and len(file.changed) > most:
            most, best = len(file.changed), bytes_of(disk, random_image(file, chance))
    assert most > 0
    return best


def replaced(scene: Scene, before: Scene) -> None:
    scene.given(before.file.read_bytes())
    scene.launch("alltoall", "--force", kill="C:100")
    scene.launch("alltoall", "--force")


def merged(scene: Scene, one: Scene, other: Scene) -> None:
    scene.given(one.file.read_bytes())
    scene.command("merge", one.file, other.file, "-o", scene.file, "--force")


def exported(scene: Scene, before: Scene) -> None:
    scene.given(before.file.read_bytes())
    key = scene.folder.parent / "key"
    scene.command("export", before.file, "--anonymize", "--key", key, "-o", scene.file, "--force")


def repaired(scene: Scene, before: Scene) -> None:
    scene.given(before.file.read_bytes())
    damaged = scene.folder.parent / "damaged.h5"
    damaged.write_bytes(before.file.read_bytes())
    with h5py.File(damaged, "r+") as file:
        file["time_p50"][POINT] += 1
    scene.command("check", "--repair", damaged, "-o", scene.file, "--force")


# Each with those whose files it takes, which stand before it.
SCENARIOS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "cut three times": (cut_three_times, ()),
    "pairs": (pairs, ()),
    "open loop": (open_loop, ()),
    "class of a load": (class_of_a_load, ()),
    "baseline": (baseline, ()),
    "failed points": (failed_points, ()),
    "failing disk": (failing_disk, ()),
    "failing end": (failing_end, ()),
    "torn": (torn, ("cut three times",)),
    "replaced": (replaced, ("torn",)),
    "merged": (merged, ("cut three times", "replaced")),
    "exported": (exported, ("torn",)),
    "repaired": (repaired, ("torn",)),
}
OF_THE_ANALYSIS = ("merged", "exported", "repaired")
