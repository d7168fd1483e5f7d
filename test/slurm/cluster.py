# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm on this machine: munge, slurmctld and a slurmd per node, in namespaces of their own.

All of its processes live in one PID namespace whose first process ends when the pipe to it closes, so nothing of it
outlives the tests, however they end, and nothing outside is ever signalled. It has a network namespace with nothing
but a loopback interface: no port of the machine is used, and no message leaves.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from processes import PATIENCE, wait_until

HERE = Path(__file__).resolve().parent
NAMESPACES = ["--pid", "--net", "--mount", "--uts", "--ipc"]
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "mpirun", "unshare", "nsenter", "ip"]
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE"}
NO_ANSWER = "does not respond"  # a2a's word for such a node
Outcome = subprocess.CompletedProcess[str]

CONFIGURATION = """\
ClusterName=emulated
SlurmctldHost=login(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/%n/spool
TmpFS={folder}/%n
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmdLogFile={folder}/%n/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={prolog}
SwitchType=switch/none
TopologyPlugin=topology/tree
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,sched_interval=5,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=30
SlurmdTimeout=300
MessageTimeout=30
MinJobAge=3600
TreeWidth=50
NodeName={nodes} NodeAddr=127.0.0.1 Port=[17001-{last_port}] {shape}
NodeName=opa1 NodeAddr=127.0.0.1 Port=16999 {shape}
PartitionName=main Nodes={nodes} Default=YES MaxTime=INFINITE State=UP
PartitionName=opa Nodes=opa1 MaxTime=INFINITE State=UP
"""
SHAPE = "CPUs=16 Sockets=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=65536 State=UNKNOWN"


def why_not() -> str:
    """Why no cluster can be had here; empty when it can."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    tried = subprocess.run(["unshare", *NAMESPACES, "--fork", "--mount-proc", "true"], capture_output=True, text=True)
    return f"no namespaces can be made here ({tried.stderr.strip()})" if tried.returncode else ""


@dataclass(frozen=True)
class Job:
    """What scontrol says about a job."""

    id: str
    facts: Mapping[str, str]

    @property
    def state(self) -> str:
        return self.facts["JobState"]

    @property
    def status(self) -> int:
        """Exit status of the batch script."""
        return int(self.facts["ExitCode"].split(":")[0])


class Cluster:
    """`nodes` nodes, node001 …, half of them under each of two switches, and opa1 with a psm2 adapter."""

    def __init__(self, nodes: int, start_seconds: float = PATIENCE) -> None:
        self.names = [f"node{i:03}" for i in range(1, nodes + 1)]
        self.folder = Path(tempfile.mkdtemp(prefix="a2aperf-slurm-"))
        try:
            self._configure(nodes)
            with (self.folder / "start.log").open("w") as log:
                self.launcher = subprocess.Popen(
                    ["unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc",
                     HERE / "start.sh", self.folder, *self.names, "opa1"],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, env=self.environment(),
                )  # fmt: skip
            self._wait_for_nodes(start_seconds)
        except BaseException:
            self.end()
            raise

    def _configure(self, nodes: int) -> None:
        half = nodes // 2
        text = CONFIGURATION.format(
            folder=self.folder, nodes=f"node[001-{nodes:03}]", last_port=17000 + nodes, shape=SHAPE,
            prolog=Path(__file__).resolve().parent / "aside.sh",
        )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "topology.conf").write_text(
            f"SwitchName=leaf1 Nodes=node[001-{half:03}]\nSwitchName=leaf2 Nodes=node[{half + 1:03}-{nodes:03}]\n"
            "SwitchName=leaf3 Nodes=opa1\nSwitchName=spine Switches=leaf[1-3]\n"
        )
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        (self.folder / "state").mkdir()

    def environment(self) -> dict[str, str]:
        """Ours without what another Slurm or a site left in it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "A2APERF", "OMPI_", "PMIX"))}
        return kept | {"SLURM_CONF": str(self.folder / "slurm.conf"), "LC_ALL": "C.UTF-8"}

    def _first_process(self) -> str:
        """Id of the first process of the namespaces; empty while there is none."""
        children = Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children")
        return children.read_text().strip() if children.exists() else ""

    def _wait_for_nodes(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        said = ""
        while time.monotonic() < deadline and self.launcher.poll() is None:
            time.sleep(0.2)
            if (self.folder / "slurmctld.pid").exists():
                said = self.run("sinfo", "-h", "-N", "-o", "%N %T").stdout
                # A node is listed once per partition; each is in one.
                if said.count(" idle") == len(self.names) + 1:
                    return
        logs = "".join(f.read_text()[-2000:] for f in [self.folder / "start.log", self.folder / "slurmctld.log"] if f.exists())
        raise RuntimeError(f"no cluster of {len(self.names)} idle nodes after {seconds:.0f} s:\n{said}\n{logs}")

    def end(self) -> None:
        """Everything that was started is gone on return."""
        launcher = getattr(self, "launcher", None)
        if launcher is not None:
            launcher.stdin.close()
            try:
                launcher.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                launcher.kill()  # and, by --kill-child, all of them
                launcher.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(
        self, *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, seconds: float = PATIENCE
    ) -> Outcome:
        """A command on the login node."""
        return subprocess.run(
            [*self._enter(cwd), *words], env=self.environment() | dict(env or {}), capture_output=True, text=True,
            timeout=seconds, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def _enter(self, cwd: Path | None) -> list[str]:
        return ["nsenter", "--target", self._first_process(), *NAMESPACES, f"--wd={cwd or self.folder}"]

    def begin(self, *words: str | Path, cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
        """A command on the login node in a session of its own, as at a terminal: ^C is for its process group."""
        return subprocess.Popen(
            [*self._enter(cwd), *words], env=self.environment() | dict(env), text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def when_all_respond(self, look: Callable[[], Outcome], seconds: float = PATIENCE) -> Outcome:
        """What a look at the nodes says once slurmctld had an answer of each: under load a ping may be missed."""
        deadline = time.monotonic() + seconds
        while NO_ANSWER in (outcome := look()).stdout and time.monotonic() < deadline:
            wait_until(lambda: "*" not in self.run("sinfo", "-h", "-N", "-o", "%T").stdout, deadline - time.monotonic())
        return outcome

    def sbatch(self, *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
        """Submits; the job's id."""
        outcome = self.run("sbatch", "--parsable", *words, cwd=cwd, env=env)
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout.strip()

    def job(self, id: str) -> Job:
        """Under load slurmctld may answer one of many questions too late."""
        deadline = time.monotonic() + PATIENCE
        while (answer := self.run("scontrol", "show", "job", "-o", id)).returncode != 0:
            assert time.monotonic() < deadline, answer.stderr
            time.sleep(1)
        # Asked for an array's first task Slurm shows all of them.
        (line,) = [line for line in answer.stdout.splitlines() if line.startswith(f"JobId={id} ")]
        return Job(id, dict(re.findall(r"(\w+)=(\S*)", line)))

    def wait_for(self, id: str, condition: Callable[[Job], bool], seconds: float) -> Job:
        """The job, once the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition(job := self.job(id)):
            assert time.monotonic() < deadline, f"job {id} is {job.facts} after {seconds:.0f} s"
            time.sleep(0.3)
        return job

    def wait(self, id: str, seconds: float = PATIENCE) -> Job:
        """The job, once it has ended for good."""
        return self.wait_for(id, lambda job: job.state in ENDED, seconds)

    def run_on(self, name: str, *words: str | Path) -> None:
        """A command in the namespaces of a node, which must succeed."""
        slurmd = (self.folder / name / "slurmd.pid").read_text().strip()
        outcome = self.run("nsenter", "--target", slurmd, "--uts", "--ipc", "--mount", *words)
        assert outcome.returncode == 0, outcome.stderr

    def signal_node(self, name: str, signal: str) -> None:
        """To every process in the UTS namespace of a node: with KILL it dies, with STOP it hangs, until CONT."""
        slurmd = (self.folder / name / "slurmd.pid").read_text().strip()
        # One process for all of them: a shell would start another for each, while the launch that is to be met goes on.
        # A node dies at once: no daemon of it lives to tell that a rank was killed.
        script = """
import os, signal, sys
node = os.readlink(f"/proc/{sys.argv[1]}/ns/uts")
for name in sys.argv[2:]:
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/ns/uts") == node:
                os.kill(int(process), signal.Signals["SIG" + name])
        except OSError:
            pass  # it is gone
"""
        signals = ["STOP", "KILL"] if signal == "KILL" else [signal]
        outcome = self.run(sys.executable, "-c", script, slurmd, *signals)
        assert outcome.returncode == 0, outcome.stderr

    def start(self, *names: str) -> None:
        """Starts nodes again that were killed."""
        assert self.launcher.stdin is not None
        for name in names:
            self.launcher.stdin.write(f"{name}\n")
            self.launcher.stdin.flush()

    def has_slurmd(self, name: str) -> bool:
        slurmd = (self.folder / name / "slurmd.pid").read_text().strip()
        return self.run("kill", "-0", slurmd).returncode == 0

    def revive(self, *names: str, seconds: float = PATIENCE) -> None:
        """Starts nodes again that were killed, and waits until all nodes are idle."""
        self.start(*names)
        for name in names:  # Slurm takes a dead node for idle until it has tried it
            assert self.run("srun", "-w", name, "true").returncode == 0
        started = set(names)
        deadline = time.monotonic() + seconds
        while (said := self.run("sinfo", "-h", "-N", "-o", "%N %T").stdout).count(" idle\n") != len(self.names) + 1:
            assert time.monotonic() < deadline, said
            for name, state in (line.split() for line in said.splitlines()):
                if state.startswith("down") and name not in started and not self.has_slurmd(name):
                    started.add(name)
                    self.start(name)  # a slurmd that was stopped in a call may end when it goes on
                if state.startswith(("down", "drain")):
                    self.run("scontrol", "update", f"nodename={name}", "state=resume")
            time.sleep(0.5)
