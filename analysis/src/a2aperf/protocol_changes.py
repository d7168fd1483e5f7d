# SPDX-License-Identifier: BSD-3-Clause
"""At which message sizes providers are known to change their protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PROTOCOL_CHANGES: Final[Mapping[str, tuple[tuple[str, str, int], ...]]] = {
    "psm2": (
        ("inject size", "", 64),
        ("eager from PIO to SDMA", "PSM2_MQ_EAGER_SDMA_SZ", 16384),
        ("eager to rendezvous", "PSM2_MQ_RNDV_HFI_THRESH", 64000),
        ("rendezvous window", "PSM2_MQ_RNDV_HFI_WINDOW", 131072),
    ),
    "rxm": (
        ("inject size", "", 64),
        ("eager to rendezvous", "FI_OFI_RXM_BUFFER_SIZE", 16384),
    ),
    "net": (("inject size", "", 128),),
    "shm": (("inject size", "", 4096),),
    "rxd": (("inject size", "", 1256),),
}
"""By a part of the provider's name: what changes, the variable that moves it, default in B."""
