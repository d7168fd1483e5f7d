# SPDX-License-Identifier: BSD-3-Clause
"""The samples of one point, and the times that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from a2aperf import metrics, schema


@dataclass(frozen=True)
class RawOps:
    """Every attempt of one point, with the times that follow from it.

    begin, send_done, recv_done: int64 [attempts, R], ns; start: int64 [attempts]; valid [attempts].
    send_done is schema.NO_MOMENT where the receivers fetch the messages.
    """

    begin: NDArray[np.int64]
    send_done: NDArray[np.int64]
    recv_done: NDArray[np.int64]
    start: NDArray[np.int64]
    valid: NDArray[np.bool_]
    complete_at: str = "receiver"
    exit: NDArray[np.int64] | None = None

    @property
    def samples(self) -> schema.Raw:
        """The same as they are stored."""
        return schema.Raw(
            self.begin, self.send_done, self.recv_done, self.start, self.valid, self.exit
        )

    @property
    def has_send_done(self) -> bool:
        """Whether anything told the ranks that their sends were done."""
        return not (self.send_done == schema.NO_MOMENT).any()

    @property
    def end(self) -> NDArray[np.int64]:
        """End of every rank's op [attempts, R], ns."""
        return metrics.rank_end(self.send_done, self.recv_done, self.complete_at)

    def op_times(self) -> NDArray[np.float64]:
        """T of every attempt [attempts], ns, valid or not."""
        return metrics.op_time(self.end)
