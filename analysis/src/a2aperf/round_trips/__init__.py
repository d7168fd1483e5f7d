# SPDX-License-Identifier: BSD-3-Clause
"""What workloads of round trips have in common: a message and what comes back."""
