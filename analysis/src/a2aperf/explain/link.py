# SPDX-License-Identifier: BSD-3-Clause
"""Figures above the link rate: something was counted twice, or did not pass the link."""

from __future__ import annotations

from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, percent
from a2aperf.labels import count_text
from a2aperf.results import Results


def find(found: Results) -> list[Finding]:
    """Points whose rate per node exceeds rails × link rate, by series."""
    points = found.points.assign(series=series.named(found))
    points["limit"] = points["link_rate_gbps"] * points["rails"].astype("Float64").fillna(1)
    # By more than the median op time is sure: its 95 % interval, where there is one.
    surest = (points["time_p50_high"] / points["time_p50"]).fillna(1.0).clip(lower=1.0)
    above = points[points["gbps_node_net"] > surest * points["limit"]]
    findings = []
    for name, rows in above.groupby("series"):
        ratio = rows["gbps_node_net"] / rows["limit"]
        stated = [found.launches[str(one)].has_stated_link for one in rows["launch"].unique()]
        worst = series.most(rows, ratio)
        findings.append(
            Finding(
                "link",
                f"{count_text(len(rows), 'point')} {'leaves' if len(rows) == 1 else 'leave'} a "
                "node faster than its link: at most "
                f"{worst['gbps_node_net']:.4g} Gbit/s one way against {worst['limit']:.4g} "
                f"({percent(float(ratio.max()))} of it"
                f"{', which was stated' if all(stated) else ''}); a direction counted twice, a "
                "wrong link rate, a buffer on the way, or traffic that stayed inside the node",
                f"{listed(sorted({f'{size} B' for size in rows['message_size']}))}; most at "
                f"{series.place(worst)}",
                int(rows["ops"].sum()),
                weight=float(ratio.max()),
                numbers={
                    "points": len(rows),
                    "largest_share": float(ratio.max()),
                    "series": str(name),
                },
            )
        )
    return findings
