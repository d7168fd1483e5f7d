# SPDX-License-Identifier: BSD-3-Clause
"""One folder with one results file, and what programs do to it, noted: launches, some of them killed or refused by the
disk, and commands of the analysis."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from launches import Outcome, command_of, run
from notes import Note, read_notes
from processes import PATIENCE

NAME = "a.h5"


@dataclass(frozen=True)
class Tools:
    """preload: the environment in which a process is noted (conftest.py)."""

    program: Path
    a2a: Path
    preload: Callable[..., dict[str, str]]

    def environment(self, folder: Path, log: Path, kill: str, fault: str) -> dict[str, str]:
        """fault: what the disk refuses (test/faults/plan.hpp), behind the recorder, which notes what was done."""
        found = self.preload(folder, log, kill)
        if fault:
            library = self.program.parents[2] / "test" / "faults" / "libfault-io.so"
            assert library.is_file(), f"{library} is not built"
            found["LD_PRELOAD"] += f" {library}"
            found |= {"A2APERF_TEST_FAULT": fault, "A2APERF_TEST_FAULT_LOG": f"{log}.faults"}
        return found


@dataclass
class Scene:
    """resumed: launches the last launch again, for another file."""

    tools: Tools
    folder: Path
    notes: list[Note] = field(default_factory=list)
    resumed: Callable[[Path], Outcome] | None = None
    ends: int = 0  # with that exit status

    @property
    def file(self) -> Path:
        return self.folder / NAME

    def given(self, content: bytes) -> None:
        """The file as something else left it, safe on the disk."""
        self.file.write_bytes(content)
        inode = str(self.file.stat().st_ino)
        write = Note("W", (inode, "0", str(len(content))), content)
        self.notes += [Note("C", (inode, "given")), write, Note("S", (inode,)), Note("R", ("given", NAME)), Note("D")]

    def launch(self, workload: str, *words: str, kill: str = "", fault: str = "", ends: int = 0) -> None:
        """kill: when (recorder.cpp). ends: the exit status of one that is not killed."""

        def on(file: Path, *others: str, environment: dict[str, str] | None = None) -> Outcome:
            command = command_of(self.tools.program, workload, file, *words, *others)
            return run(command, file.parent, environment)

        with _Noted(self, "--force" in words, kill, fault) as environment:
            outcome = on(self.file, environment=environment)
        assert (outcome.returncode != 0) if kill else (outcome.returncode == ends), outcome.stderr
        self.resumed, self.ends = lambda file: on(file, *["--resume"][: "--resume" not in words]), ends

    def write(self, *words: str, kill: str = "") -> None:
        """The recorder alone, with points of test/support/point_writer.cpp."""
        writer = self.tools.program.parents[2] / "test" / "unit" / "record" / "point-writer"
        assert writer.is_file(), f"{writer} is not built"

        def on(file: Path, *others: str, environment: dict[str, str] | None = None) -> Outcome:
            return subprocess.run(
                [writer, file, *words, *others], env=os.environ | (environment or {}), capture_output=True, text=True,
                timeout=PATIENCE, stdin=subprocess.DEVNULL,
            )  # fmt: skip

        with _Noted(self, is_replacing=False, kill=kill) as environment:
            outcome = on(self.file, environment=environment)
        assert (outcome.returncode != 0) if kill else (outcome.returncode == 0), outcome.stderr
        self.resumed = lambda file: on(file, "resume=1")

    def command(self, *words: str | Path) -> None:
        """Of the analysis."""
        with _Noted(self, "--force" in words) as environment:
            outcome = subprocess.run(
                [self.tools.a2a, *words], env=os.environ | environment, cwd=self.folder, capture_output=True, text=True,
                timeout=PATIENCE, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr


class _Noted:
    """Gives the environment of a process, and has its notes in the scene when it has ended."""

    def __init__(self, scene: Scene, is_replacing: bool, kill: str = "", fault: str = "") -> None:
        self._scene, self._is_replacing, self._kill, self._fault = scene, is_replacing, kill, fault
        self._log = scene.folder.parent / f"{scene.folder.name}.log"
        self._faults = Path(f"{self._log}.faults")

    def __enter__(self) -> dict[str, str]:
        self._log.unlink(missing_ok=True)
        self._faults.unlink(missing_ok=True)
        return self._scene.tools.environment(self._scene.folder, self._log, self._kill, self._fault)

    def __exit__(self, *_: object) -> None:
        self._scene.notes += [Note("N", (str(int(self._is_replacing)),)), *read_notes(self._log)]
        assert not self._fault or " struck " in self._faults.read_text(), f"was not met: {self._fault}"
