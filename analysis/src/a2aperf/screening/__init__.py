# SPDX-License-Identifier: BSD-3-Clause
"""Which of many settings matters: what is known of them, a design of launches, and its effects."""
