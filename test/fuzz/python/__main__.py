# SPDX-License-Identifier: BSD-3-Clause
"""`python test/fuzz/python TARGET [OPTION…] [CORPUS…]`: a target under atheris; options are libFuzzer's."""

import importlib
import sys
from pathlib import Path

import atheris

# numpy, pandas and h5py are taken as they are: it is a2a's own branches that count.
with atheris.instrument_imports(include=["a2aperf"]):
    import a2aperf.cli
    from a2aperf import isolated
    from a2aperf.commands import check, explain, export, history, import_text, live, merge, report, status, table  # noqa

# Made-up launches are the analysis tests'.
sys.path.append(str(Path(__file__).resolve().parents[3] / "analysis" / "tests"))
isolated.stay_here()  # what reads files is to be seen
target = importlib.import_module(sys.argv.pop(1)).target
atheris.Setup(sys.argv, target)
atheris.Fuzz()
