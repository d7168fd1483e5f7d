#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's TaskProlog. Each step has a session of its own, and where sessions share a core by turns (autogroup) the ranks of
# twenty nodes, which never sleep, would leave next to nothing to what runs beside them.
echo 4 2>/dev/null >/proc/self/autogroup || true
