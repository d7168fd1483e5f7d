# SPDX-License-Identifier: BSD-3-Clause
"""Which options of a2aperf a user passes on."""

from __future__ import annotations

from pathlib import Path

from a2aperf.studies import passed, screened


def test_by_their_long_names_also_those_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('# seed = 1\nprovider = "tcp"\n "domain"=lo\nquiet\n8 = 9\n', encoding="utf-8")
    given = ["-i50", "-m", "1:8", "--sync=none", "7", "--config", str(file)]
    names = {"--ops", "--sizes", "--sync", "--config", "--provider", "--nic", "--quiet"}
    assert passed.names(given) == names
    assert passed.names([f"--config={file}"]) >= {"--provider", "--nic"}
    assert passed.names(["--config", str(tmp_path)]) == {"--config"}


def test_a_screening_takes_the_provider_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('provider = "tcp"\n', encoding="utf-8")
    words = ["--config", str(file)]
    ready = screened.prepare("psm2", tmp_path / "results", 1)
    assert ready.passed(words) == words
    assert ready.passed([]) == ["--provider", "psm2"]
