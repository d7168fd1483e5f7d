# SPDX-License-Identifier: BSD-3-Clause
"""A cluster on this machine: hosts with addresses, links of known rate, and MPI across them.

Hosts are network namespaces on a bridge. All of it, the bridge included, lies in namespaces of the cluster's own, and
so do its processes: they end with the process that keeps it, however that ends.

    with Cluster(4, mbit=100) as cluster:
        cluster.launch(2, [program, "alltoall", "-o", "a.h5"], folder)

`python3 test/cluster/cluster.py --hosts 4 --mbit 100 a2aperf alltoall -o a.h5` does the same. Root only.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

HERE = Path(__file__).resolve().parent
MTU = 9000
IP_AND_TCP = 20 + 20 + 12  # with TCP's time stamps
ETHERNET = 14  # what the shaper counts: no checksum, no preamble
QUEUES = "net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_limit_output_bytes=65536"
ROOM = "4096 33554432 33554432"  # bytes that a connection may have under way, from its start
BURST_S = 0.005  # of its rate, that a shaper lets pass at once; timers may be this late

Outcome = subprocess.CompletedProcess[str]


def payload_share() -> tuple[float, float]:
    """Least and largest share of a shaped link that TCP's payload gets while as much flows the other way.

    A full frame carries MTU - 52 bytes. The other way's acknowledgements take a frame without payload for every
    second of its frames at the most, none at the least (RFC 9293, 3.8.6.3).
    """
    payload = MTU - IP_AND_TCP
    frame, acknowledgement = MTU + ETHERNET, IP_AND_TCP + ETHERNET
    return payload / (frame + acknowledgement / 2), payload / frame


class NoCluster(Exception):
    """This machine does not allow one; the text says why."""


@dataclass(frozen=True)
class Shaper:
    """A link of known rate, in Mbit/s, that its flows share evenly, as the ports of a switch do.

    flows: what the packets of each match (tc-u32). With one queue for all, the first to come would hold up the rest,
    other links would idle meanwhile, and no answer would be known beforehand.
    """

    mbit: float
    flows: Sequence[str]

    def script(self, tc: str, dev: str, slow: dict[int, float] | None = None) -> str:
        """Commands that put it on a device; slow: flows with a rate of their own."""
        burst = max(2 * (MTU + ETHERNET), int(self.mbit * 1e6 / 8 * BURST_S))
        fair = self.mbit / (len(self.flows) + 1)
        whole = f"burst {burst} cburst {burst}"
        # A class has its share and borrows what others leave. The first is for what matches none, and it goes first:
        # an acknowledgement that queues behind the data of its own direction holds up the other one.
        lines = [
            f"{tc} qdisc delete dev {dev} root 2>/dev/null || true",
            f"{tc} qdisc add dev {dev} root handle 1: htb default 1",
            f"{tc} class add dev {dev} parent 1: classid 1:fff htb rate {self.mbit}mbit {whole}",
            f"{tc} class add dev {dev} parent 1:fff classid 1:1 htb prio 0 rate {fair}mbit ceil {self.mbit}mbit {whole}",
            f"{tc} filter add dev {dev} parent 1: prio 1 protocol ip u32 match u16 0 0xff00 at 2 flowid 1:1",
        ]
        for i, match in enumerate(self.flows):
            most = (slow or {}).get(i, self.mbit)
            lines += [
                f"{tc} class add dev {dev} parent 1:fff classid 1:{i + 2:x} htb prio 1"
                + f" rate {min(fair, most)}mbit ceil {most}mbit {whole} quantum {MTU + ETHERNET}",
                # It holds what any sender has under way: nothing is dropped, so nothing is sent twice.
                f"{tc} qdisc add dev {dev} parent 1:{i + 2:x} bfifo limit 64mb",
                f"{tc} filter add dev {dev} parent 1: prio 2 protocol ip u32 {match} flowid 1:{i + 2:x}",
            ]
        return "\n".join(lines)


class Cluster:
    """Hosts h1, h2, …, each with two links to bridges.

    e0, in 10.77.0.0/16, is the fabric, shaped alike in both directions. control, in 10.78.0.0/16, is what launches and
    agreements go over; it stays whole when the fabric does not.
    """

    def __init__(self, hosts: int, mbit: float | None = None, core_mbit: float | None = None, rails: int = 1) -> None:
        """core_mbit: every second host is on a bridge of its own, and a link of that rate joins the two.

        rails: with 2 each host has a second link like its first, e1, in 10.79.0.0/16, to a bridge of its own.
        """
        self.hosts = [f"h{i + 1}" for i in range(hosts)]
        self._mbit, self._core_mbit, self._rails = mbit, core_mbit, rails
        self._launches: list[subprocess.Popen[str]] = []

    def __enter__(self) -> "Cluster":
        # Its standard input ends with this process; then it ends, and with it all that runs in its namespaces.
        self._keeper = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc",
             "bash", "-c", "mount -t tmpfs run /run && mount -t tmpfs shm /dev/shm && echo ready && read -r"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._keeper.stdout and self._keeper.stderr
        if self._keeper.stdout.readline() != "ready\n":
            raise NoCluster(f"no namespaces can be made here: {self._keeper.stderr.read().strip()}")
        children = Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text().split()
        self._inside = ["nsenter", "--target", children[0], "--net", "--mount", "--pid", "--ipc"]
        try:
            self._build()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for launch in self._launches:
            launch.kill()
            launch.communicate()
        self._keeper.communicate("\n", timeout=900)

    def _frames_at_once(self) -> int:
        """How many frames a sender may hand down as one, which the shaper does not cut.

        Flows take turns by what is handed down. Where that is 64 kB, seven flows at 50 Mbit/s need 70 ms for a turn
        each, and so much apart they end; so it is a quarter of the burst. Where links are fast each costs too much.
        """
        quarter = (self._mbit or 1e3) * 1e6 / 8 * BURST_S / 4
        return max(2, int(quarter / MTU))

    def _build(self) -> None:
        bridges = ["core0"] if self._core_mbit is None else ["core0", "core1"]
        others = ["control", *(["rail1"] if self._rails > 1 else [])]
        lines = ["set -e", "ip link set lo up"]
        lines += [f"ip link add {name} type bridge; ip link set {name} mtu {MTU} up" for name in [*bridges, *others]]
        if self._core_mbit is not None:
            lines.append("ip link add trunk0 type veth peer name trunk1")
            lines += [f"ip link set trunk{i} mtu {MTU} master core{i} up" for i in (0, 1)]
            lines += [Shaper(self._core_mbit, self._pairs(i)).script("tc", f"trunk{i}") for i in (0, 1)]
        for i, host in enumerate(self.hosts):
            lines += [
                f"ip netns add {host}",
                f"ip link add to_{host} type veth peer name e0 netns {host}",
                f"ip link set to_{host} mtu {MTU} master {bridges[i % len(bridges)]} up",
                f"ip -n {host} link set lo up",
                # Ops are bursts with pauses between them; and a queue in the host is no part of the link. Where it
                # is longer than 200 ms, TCP takes what waits in it for lost and sends it twice.
                f"ip netns exec {host} sysctl -qw {QUEUES}",
                f"ip -n {host} link set e0 mtu {MTU} gso_max_segs {self._frames_at_once()} up",
                f"ip -n {host} address add {self.address(host)}/16 dev e0",
                f"ip link add by_{host} type veth peer name control netns {host}",
                f"ip link set by_{host} mtu {MTU} master control up",
                f"ip -n {host} link set control mtu {MTU} up",
                f"ip -n {host} address add 10.78.0.{i + 1}/16 dev control",
            ]
            if self._rails > 1:
                lines += [
                    f"ip link add on1_{host} type veth peer name e1 netns {host}",
                    f"ip link set on1_{host} mtu {MTU} master rail1 up",
                    f"ip -n {host} link set e1 mtu {MTU} gso_max_segs {self._frames_at_once()} up",
                    f"ip -n {host} address add {self.address(host, 1)}/16 dev e1",
                ]
        self.shell("\n".join(lines))
        if self._mbit is not None:
            for host in self.hosts:
                for rail in range(self._rails):
                    self.limit(host, "send", self._mbit, rail=rail)
                    self.limit(host, "receive", self._mbit, rail=rail)

    def address(self, host: str, rail: int = 0) -> str:
        return f"10.{79 if rail else 77}.0.{self.hosts.index(host) + 1}"

    def shell(self, script: str) -> str:
        """What the script says, run where the bridge is."""
        ended = subprocess.run([*self._inside, "bash", "-c", script], capture_output=True, text=True, timeout=900)
        if ended.returncode != 0:
            raise NoCluster(ended.stderr.strip())
        return ended.stdout

    def on(self, host: str, script: str) -> str:
        """What the script says, run on the host."""
        return self.shell(f"{HERE}/agent.sh {host} {script!r}")

    def limit(self, host: str, direction: str, mbit: float, slow: dict[int, float] | None = None, rail: int = 0) -> None:
        """What the host sends, or what it receives, over one of its links."""
        peers = [self.address(peer, rail) for peer in self.hosts if peer != host]
        far = f"on1_{host}" if rail else f"to_{host}"
        end, tc, dev = ("dst", f"tc -n {host}", f"e{rail}") if direction == "send" else ("src", "tc", far)
        shaper = Shaper(mbit, [f"match ip {end} {peer}" for peer in peers])
        self.shell("set -e\n" + shaper.script(tc, dev, slow))

    def limit_pair(self, source: str, target: str, mbit: float) -> None:
        """Only what goes from source to target; the rest of the source's link stays at its rate."""
        assert self._mbit is not None
        peers = [peer for peer in self.hosts if peer != source]
        self.limit(source, "send", self._mbit, {peers.index(target): mbit})

    def _pairs(self, trunk: int) -> list[str]:
        """What passes this end of the link between the halves: from its own half to the other."""
        return [
            f"match ip src {self.address(source)} match ip dst {self.address(target)}"
            for source in self.hosts[trunk::2]
            for target in self.hosts[1 - trunk :: 2]
        ]

    def link(self, host: str, state: str, rail: int = 0) -> None:
        """The host's link "up" or "down"."""
        self.shell(f"ip link set {'on1' if rail else 'to'}_{host} {state}")

    def lengthen(self, host: str, delay_s: float, mbit: float, code_point: int | None = None, to_s: float | None = None) -> None:
        """The host's link gets a cable of that rate, which takes so long each way, or that long to the host: relay.py.

        Frames are handed down one at a time, and TCP sends from the start as much as it likes: what a window holds is
        under way at once, and round trips are those of the cable. With a code point all packets get it on their way.
        """
        lines = [
            "set -e",
            f"ip link set to_{host} nomaster promisc on",
            f"ip link add on_{host} type veth peer name off_{host}",
            f"ip link set on_{host} mtu {MTU} promisc on up; ip link set off_{host} mtu {MTU} master core0 up",
        ]
        for one in self.hosts:
            lines += [
                f"ip -n {one} link set e0 gso_max_segs 1",
                f"ip netns exec {one} sysctl -qw 'net.ipv4.tcp_rmem={ROOM}' 'net.ipv4.tcp_wmem={ROOM}'",
                f"ip -n {one} route replace 10.77.0.0/16 dev e0 src {self.address(one)} initcwnd 1000 initrwnd 1000",
            ]
        self.shell("\n".join(lines))
        delays = ",".join(str(delay * 1e3) for delay in (delay_s, to_s) if delay is not None)
        asked = [delays, str(mbit), *([] if code_point is None else [str(code_point)])]
        relay = subprocess.Popen(
            [*self._inside, sys.executable, HERE / "relay.py", f"to_{host}", f"on_{host}", *asked],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._launches.append(relay)
        assert relay.stdout and relay.stderr
        if relay.stdout.readline() != "ready\n":
            raise NoCluster(f"no cable can be made here: {relay.stderr.read().strip()}")

    def processes(self, host: str, name: str) -> list[int]:
        """Ids, as the cluster sees them, of the programs of that name on the host."""
        ids = self.shell(f"ip netns pids {host}").split()
        names = self.shell("grep -H . /proc/[0-9]*/comm || true").splitlines()
        named = {line.split("/")[2] for line in names if line.endswith(f":{name}")}
        return [int(one) for one in ids if one in named]

    def start(
        self, ranks_per_host: int, command: Sequence[str | Path], folder: Path, seconds: int = 900, **environment: str
    ) -> subprocess.Popen[str]:
        """Launches the command across all hosts, and is back at once; whatever happens it ends in time."""
        slots = ",".join(f"{host}:{ranks_per_host}" for host in self.hosts)
        network = "10.78.0.0/16"
        settings = {
            "plm": "rsh", "plm_rsh_agent": str(HERE / "agent.sh"), "orte_tmpdir_base": "/run", "pml": "ob1",
            "btl": "tcp,self", "btl_tcp_if_include": network, "oob_tcp_if_include": network,
            "orte_leave_session_attached": "1", "mpi_yield_when_idle": "1",
            "hwloc_base_binding_policy": "none", "rmaps_base_oversubscribe": "1",
        }  # fmt: skip
        words = [word for name, value in settings.items() for word in ("--mca", name, value)]
        forwarded = [word for name in environment for word in ("-x", name)]
        ranks = str(ranks_per_host * len(self.hosts))
        # Hosts share this machine's cores: a rank that gets its core too late leaves a link idle. The launcher's daemons are
        # to go as far ahead, or ranks that wait for them would leave them nothing.
        mpirun = [str(HERE / "ahead.sh"), "mpirun", "--allow-run-as-root", "-n", ranks, "-H", slots, *words, *forwarded]
        on_first = ["ip", "netns", "exec", self.hosts[0], "unshare", "--uts", "bash", "-c", 'hostname "$0"; exec "$@"']
        launch = subprocess.Popen(
            ["timeout", "-k", "5", str(seconds), *self._inside, f"--wd={folder}", *on_first, self.hosts[0], *mpirun,
             *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | environment,
        )  # fmt: skip
        self._launches.append(launch)
        return launch

    def launch(
        self, ranks_per_host: int, command: Sequence[str | Path], folder: Path, seconds: int = 900, **environment: str
    ) -> Outcome:
        """As start, and waits for the end."""
        running = self.start(ranks_per_host, command, folder, seconds, **environment)
        out, err = running.communicate(timeout=seconds + 60)
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Runs COMMAND, launched with MPI, on a cluster of network namespaces. Root only.",
        epilog="example: cluster.py --hosts 4 --mbit 100 build/release/src/app/a2aperf alltoall --provider net",
    )
    parser.add_argument("--hosts", type=int, default=2, metavar="N", help="how many (default: 2)")
    parser.add_argument("--ranks-per-host", type=int, default=1, metavar="K", help="(default: 1)")
    parser.add_argument("--mbit", type=float, metavar="RATE", help="of every link, each way, in Mbit/s")
    parser.add_argument("--core-mbit", type=float, metavar="RATE", help="of the link between two halves of the hosts")
    parser.add_argument("--seconds", type=int, default=900, metavar="S", help="deadline (default: 900)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    wanted = parser.parse_args()
    began = time.monotonic()
    with Cluster(wanted.hosts, wanted.mbit, wanted.core_mbit) as cluster:
        print(f"{wanted.hosts} hosts in {time.monotonic() - began:.1f} s", file=sys.stderr)
        running = cluster.start(wanted.ranks_per_host, wanted.command, Path.cwd(), wanted.seconds)
        out, err = running.communicate(timeout=wanted.seconds + 30)
    print(out, end="")
    print(err, end="", file=sys.stderr)
    return running.returncode


if __name__ == "__main__":
    sys.exit(main())
