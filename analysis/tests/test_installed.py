# SPDX-License-Identifier: BSD-3-Clause
"""The package as others install it: built, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from a2aperf import __version__

ANALYSIS = Path(__file__).parents[1]
THEIRS = "of another project"


def run(*words: str | Path) -> str:
    """What a command that must succeed prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(*words: str | Path) -> str:
    return run(sys.executable, "-m", "pip", "--disable-pip-version-check", *words)


def built(source: Path, into: Path) -> Path:
    """The wheel of a distribution, made without a network."""
    pip(
        *("wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", into, source),
    )
    (wheel,) = into.glob("*.whl")
    return wheel


def test_the_oldest_versions_are_those_that_the_package_allows() -> None:
    """What `test/run.sh --oldest` installs."""
    project = tomllib.loads((ANALYSIS / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["xarray"]]
    lines = (ANALYSIS / "constraints-oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    for text in wanted:
        one = Requirement(text)
        lowest = [s.version for s in one.specifier if s.operator in (">=", "~=")]
        assert [Version(pinned[one.name])] == [Version(version) for version in lowest], text


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ANALYSIS, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package `a2a` with a module `cli`, as the SDK of the Agent2Agent protocol has."""
    source = tmp_path_factory.mktemp("source")
    (source / "a2a").mkdir()
    for name in ("__init__", "cli"):
        (source / "a2a" / f"{name}.py").write_text(f"WHOSE = {THEIRS!r}\n")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "a2a"\nversion = "1.0"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["a2a"]\n'
    )
    return built(source, tmp_path_factory.mktemp("theirs"))


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The folder of its commands."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    return tmp_path / "venv" / "bin"


def see_outer(environment: Path) -> None:
    """What the package depends on is found in the environment of the tests, after its own."""
    (own,) = environment.parent.glob("lib/python3*/site-packages")
    outer = [path for path in sys.path if path.endswith("site-packages")]
    (own / "outer.pth").write_text("\n".join(outer) + "\n")


def into(environment: Path, *words: str | Path) -> None:
    pip("--python", environment / "python", *words)


def works(environment: Path) -> None:
    """Both ways to call the command, and whose package answers."""
    told = f"a2a {__version__}\n"
    assert run(environment / "a2a", "--version") == told
    assert run(environment / "python", "-m", "a2aperf", "--version") == told
    where = run(environment / "python", "-c", "import a2aperf; print(a2aperf.__file__)")
    assert Path(where.strip()).is_relative_to(environment.parent)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_beside_a_package_that_is_called_a2a(
    environment: Path, ours: Path, theirs: Path, first: str
) -> None:
    wheels = (ours, theirs) if first == "ours" else (theirs, ours)
    for wheel in wheels:
        into(environment, "install", "--quiet", "--no-index", "--no-deps", wheel)
    see_outer(environment)
    works(environment)
    whose = run(environment / "python", "-c", "import a2a.cli; print(a2a.cli.WHOSE)")
    assert whose == f"{THEIRS}\n"
    into(environment, "uninstall", "--quiet", "--yes", "a2a")
    works(environment)


def test_the_wheel_has_the_package_and_no_part_of_its_tests(ours: Path) -> None:
    with zipfile.ZipFile(ours) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = ANALYSIS / "src" / "a2aperf"
    kept = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert packed == {f"a2aperf/{path.relative_to(package)}" for path in kept}
    assert "a2aperf/templates/report.html" in packed
    assert not [name for name in packed if "synthetic" in name]
