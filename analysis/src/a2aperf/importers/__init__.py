# SPDX-License-Identifier: BSD-3-Clause
"""Readers of other programs' text, one module per format."""
