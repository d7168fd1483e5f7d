# SPDX-License-Identifier: BSD-3-Clause
"""What a2aperf can be asked to measure: one package each."""
