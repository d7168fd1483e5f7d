# SPDX-License-Identifier: BSD-3-Clause
"""What a screening comes to, for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from a2aperf.screening import confirmation, outcome, values
from a2aperf.screening.outcome import Outcome
from a2aperf.visible import json_visible

SCHEMA: Final = "a2aperf screening 1"


def as_json(made: Outcome, failed: Sequence[str] = ()) -> str:
    """Everything, changes as shares of speed; `failed` as of `outcome.lines`."""
    plan, result = made.plan, made.estimate
    names, bands = plan.names, made.measured.bands
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "plan": plan.id,
        "provider": plan.provider,
        "fixed": dict(plan.fixed),
        "rounds": [
            {
                "plan": one.plan.id,
                "launches": int(np.isfinite(one.measured.y).all(axis=1).sum()),
                "dominant": {x.name: x.value if is_set else None for x, is_set in one.dominating},
            }
            for one in made.earlier
        ],
        "launches": int(np.isfinite(made.measured.y).all(axis=1).sum()),
        "launch_pairs": result.pairs,
        "bands": [
            {
                "sizes": band,
                "message_sizes": list(ends),
                "launch_spread": math.expm1(spread),
                "degrees_of_freedom": freedom,
                "smallest_together": least if math.isfinite(least) else None,
            }
            for band, ends, spread, freedom, least in zip(
                bands,
                made.measured.ends,
                result.spread,
                result.freedom,
                map(result.together, range(len(bands))),
                strict=True,
            )
        ],
        "effects": [
            {
                "setting": names[x.setting],
                "value": plan.factors[x.setting].value,
                "sizes": bands[x.band],
                "change": math.expm1(x.change),
                "low": math.expm1(x.low),
                "high": math.expm1(x.high),
                "p": x.p,
                "beyond_chance": x.is_called,
                "excluded_beyond": None if x.is_called else made.excluded(x),
            }
            for setting in made.ranked
            for x in result.effects
            if x.setting == setting
        ],
        "interactions": [
            {
                "settings": [names[i] for i in x.settings],
                "sizes": bands[x.band],
                "change": math.expm1(x.change),
                "or": [[names[i] for i in pair] for pair in x.others],
            }
            for x in result.interactions
        ],
        "unresolved": [bands[band] for band in result.unresolved],
        "dominant": [names[setting] for setting in result.dominant()],
        "further_values": values.document(made.values) if made.values else None,
        "candidates": {one.name: one.value for one in made.candidates},
        "confirmed": made.confirmation is not None,
        "confirmation": confirmation.document(made.confirmation) if made.confirmation else None,
        "pending": list(made.pending),
        "failed": list(failed),
        "notes": list(made.measured.notes),
        "not_screened": [one.removeprefix("not screened: ") for one in outcome.not_screened(made)],
        "values_not_tried": made.untried,
    }
    return json_visible(json.dumps(document, indent=1, ensure_ascii=False))
