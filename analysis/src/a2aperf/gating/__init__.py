# SPDX-License-Identifier: BSD-3-Clause
"""Is this cluster as good as it should be: limits, a baseline, and one status for a monitor."""
