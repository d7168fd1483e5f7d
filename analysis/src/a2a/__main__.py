# SPDX-License-Identifier: BSD-3-Clause
"""`python -m a2a` is the command `a2a`."""

from a2a.cli import entry

entry()
