# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from a2aperf import asking, cli, loading
from a2aperf.results import Results
from support import made, summed, synthetic
from support.synthetic import Setup

DATA = Path(__file__).parent / "data"
TABLE_2019 = DATA / "alltoall-omnipath-2019.txt"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "nulls: many seeded studies of a known truth (-m 'not nulls')"
    )


@pytest.fixture(scope="session", autouse=True)
def _written_once(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Made-up files are shared by all workers of a run, whose folders stand side by side."""
    own = tmp_path_factory.getbasetemp()
    made.kept = (own.parent if hasattr(request.config, "workerinput") else own) / "made-up"
    made.kept.mkdir(exist_ok=True)
    yield
    made.kept = None


@pytest.fixture(scope="module")
def summed_once() -> Iterator[None]:
    """For tests of many files, of which each command reads the same: not of how they are read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "_answer", summed.once(asking._answer))
        yield


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def refused(self, *words: str) -> None:
        """Bad input: status 2, nothing on stdout, one line on stderr that has all the words."""
        assert self.status == 2, self
        assert self.out == ""
        assert self.err.startswith("a2a: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.removesuffix("\n").isprintable(), self.err
        for word in words:
            assert word in self.err, (word, self.err)


@pytest.fixture
def a2a(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command in this process: `a2a("table", path)`."""

    def run(*arguments: object) -> Outcome:
        status = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def launch(tmp_path: Path) -> Path:
    """A small made-up launch with raw samples: 4 nodes of 2 ranks, 4 sizes, 100 ops."""
    return synthetic.write_launch(tmp_path / "launch.h5", synthetic.Setup())


@pytest.fixture(scope="session")
def table_2019(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 2019 table, imported."""
    path = tmp_path_factory.mktemp("imported") / "2019.h5"
    assert cli.main(["import", str(TABLE_2019), "-o", str(path)]) == 0
    return path


def launches(folder: Path, *setups: Setup) -> Results:
    """Made-up launches, a file each."""
    return loading.load(
        [synthetic.write_launch(folder / f"{i}.h5", setup) for i, setup in enumerate(setups)]
    )
