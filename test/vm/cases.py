# SPDX-License-Identifier: BSD-3-Clause
"""The launches of one boot: what is asked for, in the form that adapter_cases.sh reads."""

from dataclasses import dataclass


@dataclass
class Case:
    """One launch in the guest."""

    ranks: int
    on_first: int  # ranks on the first of two hosts
    words: list[str]
    traffic_class: int = 0

    @property
    def on_node(self) -> list[int]:
        return [self.on_first, self.ranks - self.on_first]

    def line(self, name: str) -> str:
        return " ".join([name, str(self.ranks), str(self.on_first), str(self.traffic_class), *self.words])


QUICK = ["alltoall", "--ops", "5", "--warmup", "1", "--sync", "barrier", "--poll", "yield", "--no-sentinel"]
CASES = {
    "two": Case(
        2, 1, [*QUICK, "--provider", "verbs", "--mode", "tagged,msg,write-imm,read,write", "--sizes", "1,1000,60000,9MiB"]
    ),
    # By --provider auto.
    "three": Case(3, 2, [*QUICK, "--sizes", "1000,60000", "--window", "1,all"], traffic_class=104),
    "four": Case(4, 2, [*QUICK, "--provider", "verbs", "--mode", "tagged,write-imm,read,write", "--sizes", "1000,60000"]),
}
# Streams and round trips between the hosts, in every mode that they have.
FLOWS = {
    "streams": Case(
        2, 1, ["stream", "--provider", "verbs", "--from", "rxe0/1", "--to", "rxe1/1", "--mode", "tagged,msg,write-imm,read,write", "--sizes", "0,8,4096,64KiB",
               "--messages", "100", "--poll", "yield"],
    ),
    "trips": Case(
        3, 2, ["echo", "--provider", "verbs", "--mode", "tagged,msg,write-imm,read,write", "--sizes", "0,100,64KiB", "--outstanding", "1,4",
               "--servers", "1", "--ops", "50", "--poll", "yield"],
    ),
}  # fmt: skip
# Paths whose connections are opened with a class each, which the program asks of the kernel itself.
SHARED = {
    "classes": Case(
        2, 1, ["qos", "--provider", "verbs", "--path", "0:1,class=low-latency", "--path", "0:1,class=bulk", "--path", "0:1,class=dscp26", "--path", "1:0",
               "--sizes", "4096", "--window", "4", "--duration", "1s", "--interval", "250ms", "--poll", "yield"],
        traffic_class=72,
    ),
}  # fmt: skip
ALL = CASES | FLOWS | SHARED
