# SPDX-License-Identifier: BSD-3-Clause
"""Results as flat rows for a site's own tools: CSV, JSON lines, Parquet, SQLite, DuckDB."""
