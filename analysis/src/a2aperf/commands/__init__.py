# SPDX-License-Identifier: BSD-3-Clause
"""One module per command: arguments and printing only."""
