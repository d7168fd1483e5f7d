# SPDX-License-Identifier: BSD-3-Clause
"""Studies on a cluster: the scheduler, its nodes, the job scripts, and the folder that they leave.

Knows nothing of results files; reports take `study` alone from here.
"""
