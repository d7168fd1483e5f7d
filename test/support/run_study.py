# SPDX-License-Identifier: BSD-3-Clause
"""What tests of `a2a run` launch: a folder of it, and options that keep its launches short."""

from pathlib import Path

from launched_study import LaunchedStudy

CALM = ["--sync", "barrier", "--poll", "yield", "--no-sentinel"]
SHM = ["--provider", "shm", *CALM]
FEW = ["--ops", "5", "--warmup", "1"]
HARMLESS = "FI_SHM_TX_SIZE=512,1024"
LATE = "call=received do=late:{} count=1000000"  # test/faults: ms, of every message


class RunStudy(LaunchedStudy):
    """A program in it whose second launch is in trouble while the file `trouble` is there."""

    def __init__(self, folder: Path, program: Path, a2a: Path) -> None:
        super().__init__("run", folder, folder / "a2aperf", a2a)
        self.trouble = folder / "trouble"
        library = program.parents[2] / "test/faults/libfault-fabric.so"
        assert library.is_file(), f"{library} is not built"
        self.program.write_text(
            "#!/usr/bin/env bash\n"
            f"if [[ $* == *-002.h5* && -e {self.trouble} ]]; then export A2APERF_TEST_FAULT=$(<{self.trouble}); fi\n"
            f"[[ ! ${{A2APERF_TEST_FAULT-}} ]] || export LD_PRELOAD={library}\n"
            f'exec {program} "$@"\n'
        )
        self.program.chmod(0o755)
