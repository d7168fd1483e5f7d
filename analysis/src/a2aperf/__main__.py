# SPDX-License-Identifier: BSD-3-Clause
"""`python -m a2aperf` is the command `a2a`."""

from a2aperf.cli import entry

entry()
