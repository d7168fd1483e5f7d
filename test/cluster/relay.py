#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cable of known delay and rate between two devices: `relay.py DEVICE DEVICE DELAY_MS[,DELAY_MS] MBIT [CODE_POINT]`.

What comes from the one goes to the other, in its order; a second delay is that from the second device to the first. A frame takes its length at the rate, once the frame before it has
gone, and then the delay; nothing is lost, and nothing goes earlier. It says "ready" once it does so, and ends with its
standard input. It goes before all that has no real-time priority, or frames would be held for longer.

Each way it takes frames whole: their sender hands down one at a time (gso_max_segs 1), but computes no checksums of what
would never be on a wire. The kernel tells of each what is left to be done (PACKET_VNET_HDR), and is told so again.

With a code point each packet of IPv4 gets that one (DSCP), as in a network that takes no class from its hosts.
"""

import os
import select
import socket
import struct
import sys
import time
from collections import deque

SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 15, 23
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_SNDBUFFORCE = 35, 33, 32
ALL_PROTOCOLS = 3
VNET_HEADER = 10  # before each frame
MOST = 1 << 17  # bytes of a frame
IPV4 = VNET_HEADER + 14  # where its header begins


def reclassed(frame: bytes, code_point: int) -> bytes:
    """With that code point, and the checksum that goes with it; anything but IPv4 as it is."""
    if frame[IPV4 - 2 : IPV4] != b"\x08\x00":
        return frame
    made = bytearray(frame)
    made[IPV4 + 1] = code_point << 2 | made[IPV4 + 1] & 3
    made[IPV4 + 10 : IPV4 + 12] = b"\0\0"
    total = sum(struct.unpack_from(f"!{2 * (made[IPV4] & 15)}H", made, IPV4))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", made, IPV4 + 10, ~total & 0xFFFF)
    return bytes(made)


class Way:
    """From one device to the other."""

    def __init__(
        self, source: socket.socket, target: socket.socket, delay_ns: int, mbit: float, code_point: int | None
    ) -> None:
        self.source, self._target, self._code_point = source, target, code_point
        self._delay_ns, self._ns_per_byte = delay_ns, 8e3 / mbit
        self._held: deque[tuple[int, bytes]] = deque()
        self._free_at = 0.0  # when the last frame has left the near end

    def take(self) -> None:
        """All that has come; its time counts from when the kernel had it."""
        while True:
            try:
                frame, told, _, _ = self.source.recvmsg(MOST, 64)
            except BlockingIOError:
                return
            ((_, _, stamp),) = told
            seconds, ns = struct.unpack("qq", stamp)
            self._free_at = max(self._free_at, seconds * 1e9 + ns) + (len(frame) - VNET_HEADER) * self._ns_per_byte
            if self._code_point is not None:
                frame = reclassed(frame, self._code_point)
            self._held.append((int(self._free_at) + self._delay_ns, frame))

    def pass_on(self, now: int) -> int | None:
        """All that is due; gives when the next one is."""
        while self._held and self._held[0][0] <= now:
            self._target.send(self._held.popleft()[1])
        return self._held[0][0] if self._held else None


def opened(device: str) -> socket.socket:
    """It takes all frames that come to the device from outside."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    end.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    for buffer in (SO_RCVBUFFORCE, SO_SNDBUFFORCE):
        end.setsockopt(socket.SOL_SOCKET, buffer, 1 << 26)
    end.bind((device, ALL_PROTOCOLS))
    end.setblocking(False)
    return end


def main() -> None:
    near, far = (opened(device) for device in sys.argv[1:3])
    delays_ns, mbit = [int(float(delay) * 1e6) for delay in sys.argv[3].split(",")], float(sys.argv[4])
    code_point = int(sys.argv[5]) if len(sys.argv) > 5 else None
    ends = {(near, far): delays_ns[0], (far, near): delays_ns[-1]}
    ways = [Way(*pair, delay_ns, mbit, code_point) for pair, delay_ns in ends.items()]
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    print("ready", flush=True)
    while True:
        now = time.clock_gettime_ns(time.CLOCK_REALTIME)
        due = [moment for way in ways if (moment := way.pass_on(now)) is not None]
        wait_s = max(0, min(due) - time.clock_gettime_ns(time.CLOCK_REALTIME)) / 1e9 if due else None
        came = select.select([near, far, sys.stdin], [], [], wait_s)[0]
        if sys.stdin in came:
            return
        for way in ways:
            if way.source in came:
                way.take()


if __name__ == "__main__":
    main()
