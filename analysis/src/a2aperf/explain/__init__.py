# SPDX-License-Identifier: BSD-3-Clause
"""What the results point out by themselves: a file per finder, its row in its workload."""
