# SPDX-License-Identifier: BSD-3-Clause
"""Every node over months of nights: which moved to another level, since when, and with what."""
