# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of the HDF5 files that a2aperf writes."""

from importlib.metadata import version

__version__ = version("a2aperf")
