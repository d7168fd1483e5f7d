# SPDX-License-Identifier: BSD-3-Clause
"""Interconnects side by side: which is ahead at which size, at what cost, and how sure that is."""
