# SPDX-License-Identifier: BSD-3-Clause
"""Every pair of ranks by itself: who sends to whom at what rate (`a2aperf pairs`)."""
