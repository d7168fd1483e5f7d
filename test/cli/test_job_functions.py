# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the job scripts, where Slurm, a disk or a program does what it seldom does."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE

JOBS = Path(__file__).resolve().parents[2] / "jobs"

# A job of 20 nodes, which Slurm knows nothing of.
JOB = """\
set -euo pipefail
jobs=$1 scratch=$PWD/scratch results=$PWD/results kind=alltoall job_id=79 program=a2aperf a2a=a2a
mkdir -p "$scratch" "$results"
export SLURM_JOB_ID=79
. "$jobs/lib/load.sh"
nodes_file=$results/nodes-79.txt log_file=$results/log-79.tsv plan_file=$results/plan-79.tsv job_file=$results/job-79.txt
site_launcher=mpirun site_binding=core
mapfile -t nodes < <(printf 'n%03d\\n' {1..20})
taken=()
host_list() { local IFS=,; echo "$*"; }
follow_allocation() { taken=(); }
is_cancelled() { false; }
"""


@pytest.fixture
def job(tmp_path):
    """Runs a script that has the functions of jobs/lib."""

    def run(script: str, **settings) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", JOB + script, "job", JOBS], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL, **settings,
        )  # fmt: skip

    return run


REFUSED = 'other_jobs() { :; }; run_step() { echo "srun: error: Unable to contact slurm controller" >"$scratch/step_on.err"; }\n'


@pytest.mark.parametrize("kind", ["alltoall", "check"])
def test_no_node_is_to_blame_where_srun_itself_fails(job, tmp_path, kind):
    outcome = job(f'kind={kind} plan_nodes=(20 20) asked[ppn]=1\n{REFUSED}preflight "$nodes_file"; echo "$stopping"')
    said = "no node answered the preflight: srun: error: Unable to contact slurm controller"
    assert f"{said}, nobody is to blame: try again later\n" in outcome.stderr
    assert "not fit" not in outcome.stderr
    assert not (tmp_path / "results/nodes-79.txt").exists()
    if kind == "check":  # its verdict says why
        assert (outcome.returncode, outcome.stdout) == (0, f"{said}\n")
    else:
        assert outcome.returncode == 1
        log = (tmp_path / "results/log-79.tsv").read_text().splitlines()
        assert [line.split("\t")[3:] for line in log] == [["-", f"not begun: {said}"]] * 2


def test_one_node_that_answers_shows_who_does_not(job):
    answer = "other_jobs() { :; }; run_step() { printf 'n001\\tcpu\\tok\\tx\\n'; }\n"
    outcome = job(f'asked[ppn]=1\n{answer}preflight "$nodes_file"; echo "${{#unfit[@]}} ${{unfit[0]}}"')
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "19 n002\n"


def test_a_squeue_that_fails_ends_no_job(job):
    outcome = job("squeue() { echo 'Unable to contact slurm controller' >&2; return 1; }\nother_jobs; echo on")
    assert (outcome.returncode, outcome.stdout) == (0, "on\n"), outcome.stderr
    # The words of a command that failed are there, those of a script that stopped are not.
    assert outcome.stderr == "Unable to contact slurm controller\n"


def test_an_output_on_a_full_disk_ends_nothing(job, tmp_path):
    outcome = job(
        """exec 3>&1 >/dev/full 2>/dev/full
        echo table >"$scratch/launch.out"; echo words >"$scratch/launch.err"
        say "launch 1 of 2"; keep_output 0
        echo on >&3; die -3 "said to nobody\""""
    )
    assert (outcome.returncode, outcome.stdout) == (3, "on\n")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize(
    ("reason", "logged"),
    [
        (b"Node 3:\tpermission denied\r", "Node 3: permission denied "),
        (b"one\nand \x1b[1mtwo\x0c\x1e", "one and  [1mtwo  "),
        ("Zugriff verweigert: gr\u00fcn".encode("latin-1"), "Zugriff verweigert: gr?n"),
        ("Zugriff verweigert: gr\u00fcn".encode(), "Zugriff verweigert: gr\u00fcn"),
    ],
)
def test_the_log_stays_a_table(job, tmp_path, locale, reason, logged):
    (tmp_path / "reason").write_bytes(reason)
    outcome = job('log_launch 0 - 1 "$(<reason)"; log_launch 1 - - "not begun"', env={**os.environ, "LC_ALL": locale})
    assert outcome.returncode == 0, outcome.stderr
    lines = (tmp_path / "results/log-79.tsv").read_bytes().decode().split("\n")
    assert [line.split("\t")[3:] for line in lines] == [["1", logged], ["-", "not begun"], []]


ARRAY = """\
squeue() { case "$*" in *"-j 79_3 "*) printf '79_3.0\\n79_3.batch\\n' ;; *"-j 79 "*) printf '79_%s.0\\n' 1 2 3 ;; esac; }
scancel() { echo "scancel $*"; }
scontrol() { echo "scontrol $*"; }
"""


@pytest.mark.parametrize(("task", "own"), [({"SLURM_ARRAY_JOB_ID": "79", "SLURM_ARRAY_TASK_ID": "3"}, "79_3"), ({}, "79")])
def test_a_task_of_an_array_ends_and_requeues_itself_alone(job, task, own):
    """The last task, whose id is that of the array."""
    outcome = job(f"{ARRAY}end_steps; made=1; requeue", env={**os.environ, **task})
    assert outcome.returncode == 0, outcome.stderr
    ended = ["scancel 79_3.0"] if task else []
    assert outcome.stdout.splitlines() == [*ended, f"scontrol requeue {own}"]


COMPARISON = """\
kind=compare plan_nodes=(20 20) plan_combination=(0 1) good=([0]=0 [1]=0) keys=(A_KNOB) error=''
check_results() { :; }
file_of() { echo "$1.h5"; }
touch "$results/0.h5" "$results/1.h5"
"""


@pytest.mark.parametrize(("verdict", "status"), [(0, 0), (3, 0), (4, 0), (2, 1), (137, 1)])
def test_a_comparison_without_a_verdict_fails(job, verdict, status):
    """The verdict of one that came to it is no error."""
    outcome = job(f"{COMPARISON}a2a() {{ [[ $1 != compare ]] || return {verdict}; }}\nclose_study")
    assert outcome.returncode == status, outcome.stderr
    assert ("there is no verdict: a2a compare failed" in outcome.stderr) == bool(status)
    assert "report: " in outcome.stderr


def test_files_that_cannot_become_one_have_a_report(job, tmp_path):
    outcome = job('a2a() { echo "$1"; [[ $1 != merge ]]; }\nanalyse "$results/merged/all.h5" page.html 1.h5 2.h5 || echo "status $?"')
    assert outcome.stdout == "report\nmerge\nstatus 1\n"
    merged = tmp_path / "results/merged/all.h5"
    assert outcome.stderr == f"report: page.html\nthere is no {merged} of all files: they were not merged, see above\n"


def test_the_report_on_a_folder_is_on_sound_files(job):
    check = """a2a() { printf '%s\\n' 'b c.h5: error: it is cut' 'b c.h5: error: and more' 'a.h5: note: late'; return 1; }"""
    outcome = job(f"""{check}\nfind_sound a.h5 "b c.h5" my/spare-4.h5 d.h5; printf '%s\\n' "${{sound[@]}}" """)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "a.h5\nd.h5\n"
    assert outcome.stderr == "left out: b c.h5: its file is not sound: it is cut\n"


# Questions to one node are answered from the second round on, but by n007; a pause ends a round.
SLOW = """\
kind=alltoall; echo 0 >pauses
sleep() { (($1 == 0)) || echo 1 >pauses; }
run_step() { [[ ${on[*]} == n007 || $(<pauses) == 0 ]] || echo yes; }
"""


def test_nodes_that_a_slow_controller_kept_silent_are_not_to_blame(job):
    """n001 to n009 have said something at once."""
    first = "step_on_all=$(printf 'n%03d ' 1 2 3 4 5 6 8 9)"
    said = """hear() { if [[ $1 == step_on ]]; then heard=$step_on_all; else heard=$("$@"); fi; }"""
    outcome = job(f'{SLOW}{first}\n{said}\nfind_silent "${{nodes[@]}}"; echo "${{silent[@]}}"; cat pauses')
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "n007\n1\n"


def test_nodes_that_answer_alone_are_not_waited_for(job):
    said = """hear() { if [[ $1 == step_on ]]; then heard=; else heard=$("$@"); fi; }"""
    outcome = job(f'{SLOW}{said}\nrun_step() {{ echo yes; }}\nfind_silent "${{nodes[@]}}"; echo "${{silent[@]}}"; cat pauses')
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "\n0\n"


def test_a_launch_is_expected_to_take_what_those_of_its_workload_took(job):
    """Pairs that took 150 s are no reason to begin no all-to-all."""
    outcome = job(
        """kind=check plan_nodes=(20 20 20) plan_workload=(pairs 'alltoall --window all' alltoall) asked[quick]=yes
        size_of 0; took[$size]=150 SECONDS=$((300 - 70))
        seconds_left 1; echo "$short,$(time_left 1)"
        size_of 1; took[$size]=100
        seconds_left 2; echo "$short,$(time_left 1)" """
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == ",\n--quick: the five minutes are over,; about 3 min to go\n"


# Of one launch whose file is there already. The program refuses one that is "bad" inside.
AGAIN = """\
plan_nodes=(20) plan_combination=(0) plan_workload=(alltoall) variables=() chosen=() asked[ppn]=1 asked[requeue]=no
file_of() { echo 1.h5; }
subset_of() { subset=("${nodes[@]}"); }
combination() { :; }
program_words() { words=(alltoall); }
launcher_words() { :; }
keep_answering() { :; }
keep_output() { :; }
end_steps() { :; }
stop_watching() { :; }
start_launch() {
    : >"$scratch/launch.out" >"$scratch/launch.err"
    echo "began ${*: -1}"
    { if grep -q bad "$2" 2>/dev/null; then
        echo "a2aperf: $2 is damaged: its checksums differ" >"$scratch/launch.err"; exit 2
    else
        printf '\\x89HDF\\r\\n\\x1a\\n\\x02 sound%-64s' 'a2aperf digest v1 crc32=' >"$2"
    fi; } &
    launch_pid=$!
}
"""


@pytest.mark.parametrize(
    ("before", "begun", "logged"),
    [
        ("no HDF5 file", ["begun anew"], ["0"]),
        ("", ["begun anew"], ["0"]),
        ("\\x89HDF\\r\\n\\x1a\\n\\x02 bad", ["resumed", "begun anew"], ["2", "0"]),
        ("\\x89HDF\\r\\n\\x1a\\n\\x02 good", ["resumed"], ["0"]),
    ],
)
def test_a_damaged_file_is_set_aside(job, tmp_path, before, begun, logged):
    (tmp_path / "results").mkdir()
    file = tmp_path / "results/1.h5"
    outcome = job(f"{AGAIN}printf '{before}' >\"$results/1.h5\"; make_launches; echo \"${{damaged[$results/1.h5]-}}\"")
    assert outcome.returncode == 0, outcome.stderr
    words = {"resumed": "began --resume", "begun anew": f"began {tmp_path}/results/nodes-79.txt"}
    assert outcome.stdout.splitlines() == [*[words[one] for one in begun], ""]
    lines = (tmp_path / "results/log-79.tsv").read_text().splitlines()
    assert [line.split("\t")[3] for line in lines] == logged
    assert file.read_bytes().find(b"sound") > 0
    aside = tmp_path / "results/1.h5.damaged"
    assert aside.exists() == ("begun anew" in begun)
    assert (f"set aside: {aside} " in outcome.stderr) == aside.exists()


@pytest.mark.parametrize(("launch", "status"), [("sleep 40", 143), ("true", 0)])
def test_a_launch_of_srun_that_hangs_is_ended(job, launch, status):
    """When its time is over, also where squeue names no step; one that has ended needs nobody who ends it."""
    outcome = job(
        f"""site_launcher=srun
        squeue() {{ return 1; }}
        sleep() {{ command sleep 0.3; }}
        env {launch} & launch_pid=$!
        interrupt "the time limit is near"; ending=$ending_pid
        wait_for_launch; echo "$status,$launch_pid,$ending_pid"
        ((status)) || wait "$ending" || echo "$?" """
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == f"{status},,\n" + ("" if status else "143\n")


def test_when_a_launch_began_is_told_by_the_clock_of_its_files(job, tmp_path):
    """That of a file server that is 20 minutes behind: here a touch in the folder of the results."""
    outcome = job(
        """results=$PWD/results launcher=() program=true
        touch() { command touch -d '20 minutes ago' "$@"; }
        watch_launch() { :; }
        start_launch 10 "$results/1.h5" --
        wait
        command touch -d '19 minutes ago' "$results/1.h5"
        [[ $results/1.h5 -nt $begun_file ]] && echo newer; leave; ls -A results"""
    )
    assert (outcome.returncode, outcome.stdout) == (0, "newer\n1.h5\n"), outcome.stderr


def test_a_clock_that_was_set_back_gives_no_node_hours_back(job, tmp_path):
    day = "2024-01-01T00"
    rows = ["launch\tstarted\tended\tstatus\treason", "3\t-\t-\t-\tno"]
    rows += [f"1\t{day}:10:00Z\t{day}:00:00Z\t1\tlate", f"2\t{day}:00:00Z\t{day}:01:00Z\t0\t-"]
    (tmp_path / "results").mkdir()
    (tmp_path / "results/log-79.tsv").write_text("".join(f"{row}\n" for row in rows))
    (tmp_path / "results/plan-79.tsv").write_text("# counts\t20\n")
    outcome = job('may_go_on() { :; }; allocated=20; recall; echo "$node_seconds"')
    assert (outcome.returncode, outcome.stdout) == (0, "1200\n"), outcome.stderr


@pytest.mark.parametrize(("budget", "noted"), [("9", "9400\n"), ("", "")])
def test_what_a_run_used_beside_its_launches_counts_for_the_next(job, tmp_path, budget, noted):
    """Also what comes after the last of them, and what nothing can be written of."""
    day = "2024-01-01T00"
    (tmp_path / "results").mkdir()
    (tmp_path / "results/log-79.tsv").write_text(
        f"launch\tstarted\tended\tstatus\treason\n1\t{day}:00:00Z\t{day}:01:00Z\t0\t-\n"
    )
    (tmp_path / "results/plan-79.tsv").write_text("# counts\t20\n")
    begin = f"may_go_on() {{ :; }}; allocated=20 asked[budget]='{budget}'; is_open=yes; "
    used = tmp_path / "results/used-79.txt"
    one = job(f"{begin}is_open=''; leave; is_open=yes; recall; SECONDS=380; log_launch 1 - - no; SECONDS=410; leave")
    assert one.returncode == 0, one.stderr
    assert (used.read_text() if used.exists() else "") == noted  # 20 nodes, a minute and 410 s
    two = job(f'{begin}recall; echo "$node_seconds"; rm -r results; leave')
    assert (two.returncode, two.stderr) == (0, ""), two.stderr
    assert two.stdout == (noted or "1200\n")
    used.parent.mkdir()
    used.write_text("3 apples")
    (tmp_path / "results/plan-79.tsv").write_text("# counts\t20\n")
    (tmp_path / "results/log-79.tsv").write_text("launch\n")
    assert job(f'{begin}recall; echo "$node_seconds"').stdout == "0\n"


# An hour passes in no time.
WATCHED = """\
sleep() { ((SECONDS += $1)); }
kill() { echo "$*"; }
find_silent() { silent=(); }
subset=(n001) launch_pid=77 begun_file=$scratch/begun
touch -d '1 min ago' "$begun_file"; touch a.h5
"""


@pytest.mark.parametrize(("alive_s", "ended_s"), [(0, 3600), (20000, 23600)])
def test_a_launch_that_goes_on_is_not_ended_and_one_without_a_sign_of_life_is(job, alive_s, ended_s):
    """Nothing is too long by itself: the last sign of life counts."""
    lives = f'stat() {{ echo "$((SECONDS < {alive_s} ? SECONDS : 1))"; }}\n'
    outcome = job(f'{WATCHED}{lives}SECONDS=0\nwatch_launch a.h5; cat "$scratch/not_going"; echo "$SECONDS"')
    assert outcome.returncode == 0, outcome.stderr
    term, kill, why, seconds = outcome.stdout.splitlines()
    assert (term, kill, why) == ("-TERM 77", "-KILL 77", "no sign of life for 3600 s")
    assert ended_s <= int(seconds) <= ended_s + 60


# find_silent and follow_allocation as a launch that says nothing any more finds them.
LATE = """\
find_silent() { echo "asked $*" >&2; silent=(n002); }
subset=(n001 n002) nodes=(n001 n002 n003) begun_file=$scratch/begun; touch a.h5; SECONDS=0
"""


@pytest.mark.parametrize(
    ("taken", "silent", "asked"),
    [
        ("", "n002", "asked n001 n002\n"),
        ("n003", "n002", "asked n001 n002\n"),
        ("n001", "n001", ""),  # Slurm has said so: nobody need be asked
    ],
)
def test_a_launch_whose_node_is_lost_is_ended_within_two_minutes(job, taken, silent, asked):
    """The nodes that are to blame are noted; a launch that has all of its nodes is left alone."""
    outcome = job(
        f"""{WATCHED}{LATE}follow_allocation() {{ taken=({taken}); }}
        watch_launch a.h5; cat "$scratch/silent"; echo "$((SECONDS - kKillSeconds))"; ls "$scratch" """
    )
    assert outcome.returncode == 0, outcome.stderr
    term, kill, named, seconds, *files = outcome.stdout.splitlines()
    assert (term, kill, named) == ("-TERM 77", "-KILL 77", silent)
    assert 60 <= int(seconds) <= 135
    assert outcome.stderr == asked
    assert "not_going" not in files


def test_each_node_that_says_nothing_is_asked_alone_for_ten_seconds(job):
    """After all of them together; in this order, and the last time after a pause."""
    outcome = job(
        """sleep() { (($1 == 0)) || echo pause >>asked; }
        run_step() {
            echo "$1 s: ${on[*]}" >>asked
            case ${on[*]} in 'n001 n002 n003') printf 'n001 ' ;; n003) echo yes ;; esac
        }
        find_silent n001 n002 n003; echo "${silent[*]}"; cat asked"""
    )
    assert outcome.returncode == 0, outcome.stderr
    silent, together, *alone, pause, last = outcome.stdout.splitlines()
    assert (silent, together, pause, last) == ("n002", "20 s: n001 n002 n003", "pause", "10 s: n002")
    assert sorted(alone) == ["10 s: n002", "10 s: n003"]


# site_setup of a profile, which the job runs; "module" is a command that fails inside and as a whole.
SETUP = """\
module() { false; [[ $1 != bad ]]; }
profile=mine.sh
printf '%s\\n' 'site_setup() {' "$@" '}' >mine.sh
. ./mine.sh
enter_site
echo "X=${X-} Y=${Y-} $-"
"""


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["export X=1", "[[ -d /nowhere ]] && export Y=2"], "X=1 Y="),
        (["module good", "export X=1"], "X=1 Y="),
        (["module bad || true", "export X=1"], "X=1 Y="),
        (["module bad", "export X=1"], "line 2 (exit status 1)"),
        (["export X=1", "module bad"], "line 3 (exit status 1)"),
        (["X=$(exit 3)", "[[ -d / ]]"], "line 2 (exit status 3)"),
        (["[[ -d /nowhere ]] || return 4", "export X=1"], "it returned 4"),
    ],
)
def test_a_command_of_site_setup_that_fails_ends_the_job_and_a_test_that_is_false_does_not(job, lines, says):
    words = " ".join(map(shlex.quote, lines))
    outcome = job(f"set -- {words}; flags=$-\n{SETUP}[[ $- == $flags ]]; unforeseen() {{ false; }}; unforeseen")
    assert outcome.returncode == 1
    if says.startswith("X="):  # and from then on all is as before: what fails ends the script, which says where
        assert outcome.stdout.startswith(f"{says} ")
        assert "stopped at line" in outcome.stderr and "site_setup" not in outcome.stderr
    else:
        assert outcome.stdout == ""
        assert outcome.stderr == f"job: site_setup of mine.sh failed: {says}\n"


def early(job, script: str, **settings):
    """A job that ends behind this script, before it has opened its folder."""
    begin = "rmdir results; begun_file= hooked=() owner=$BASHPID; note_use() { :; }; trap leave EXIT\n"
    return job(f"{begin}{script}", **settings)


@pytest.mark.parametrize(
    ("script", "row"),
    [
        ('die "module load\tmpi failed"', "1\tmodule load mpi failed"),
        ('unforeseen() { false; }; set -e; unforeseen', "1\tstopped at line"),
        ("die -2 'no such option'", ""),  # of bad input nothing is written
        ("touch $plan_file; die failed", ""),
        ("exit 0", ""),
    ],
)
def test_a_job_that_ends_before_its_plan_leaves_a_note(job, tmp_path, script, row):
    script = script.replace("touch", 'mkdir "$results"; touch')
    outcome = early(job, script)
    note = tmp_path / "results/ended-79.tsv"
    assert note.exists() == bool(row), outcome.stderr
    if row:
        header, line = note.read_text().splitlines()
        assert header == "kind\tended\tstatus\treason"
        assert re.fullmatch(rf"alltoall\t\S+Z\t{re.escape(row)}.*", line), line
        (tmp_path / "results").rename(tmp_path / "before")
        (tmp_path / "results").touch()
        again = early(job, f"mkdir() {{ command mkdir -p elsewhere; }}\n{script}")
        assert "ended-79" not in again.stderr  # where it cannot be written nothing is said of it


def test_a_launch_has_the_limits_of_its_job_alone(job):
    outcome = job(
        """kind=check plan_nodes=(20) plan_workload=(alltoall) allocated=20 node_seconds=0 SECONDS=0
        seconds_left 0; echo "$launch_limit,$limited_by,$short"
        asked[budget]=1
        seconds_left 0; echo "$launch_limit,$limited_by,$short"
        SECONDS=$((200 - 20)) took["20 alltoall"]=0
        seconds_left 0; echo "$launch_limit,$limited_by,$short"
        SECONDS=$((300 - 70)) asked[quick]=yes
        seconds_left 0; echo "$launch_limit,$limited_by,$short" """
    )
    assert outcome.returncode == 0, outcome.stderr
    budget = "the node-hour limit of 1 is reached"
    assert outcome.stdout.splitlines() == ["0,,", f"180,{budget},", f"0,{budget},{budget}", f"-50,{budget},{budget}"]


@pytest.mark.parametrize(("silent", "reason"), [("n007", "no answer from n007"), ("", "the launcher says so")])
def test_an_unfinished_file_is_the_fault_of_the_node_that_does_not_answer(job, tmp_path, silent, reason):
    """A launcher of which a node was killed may end with status 0."""
    outcome = job(
        f"""
        kind=alltoall asked[go-on]=yes subset=("${{nodes[@]}}") file=$results/a.h5 status=1 tries=2
        unsound='the launcher says so' stopping='' limited_by='' launch_seconds=9 launch_limit=0 lost='' missing=()
        find_silent() {{ silent=({silent}); }}
        end_steps() {{ :; }}
        write_plan() {{ :; }}
        : >"$scratch/launch.err"
        printf '\\x89HDF\\r\\n\\x1a\\n\\x02 some points' >"$file"
        failed_launch 0 1970-01-01T00:00:00
        echo "${{nodes[*]}}"
        """
    )
    assert outcome.returncode == 0, outcome.stderr
    assert f"launch 1 failed: {reason}\n" in outcome.stderr
    assert (tmp_path / "results/log-79.tsv").read_text().endswith(f"\t1\t{reason}\n")
    assert len(outcome.stdout.split()) == (19 if silent else 20)


def test_a_child_removes_nothing_of_the_script(job, tmp_path):
    """bash runs the trap of the exit in a child, too, that a signal meets before the traps are put off."""
    outcome = job('(leave); test -d "$scratch" && echo there; leave; test -d "$scratch" || echo gone')
    assert (outcome.stdout, outcome.returncode) == ("there\ngone\n", 0), outcome.stderr


@pytest.mark.parametrize("begin", ["", '. "$jobs/lib/hosts.sh"; asked[ranks]=4; '], ids=["slurm", "hosts"])
def test_a_signal_ends_the_launches_and_not_the_script(job, begin):
    """Whatever the status was of the command that it cut short."""
    outcome = job(f'{begin}require_job; stop_launch() {{ false; }}; launch_pid=1; kill -TERM $$; echo "$stopping"')
    assert outcome.returncode == 0 and outcome.stdout.startswith("the "), outcome.stderr


def test_a_child_that_gets_the_signal_of_the_script_ends(job):
    outcome = job('stop_launch() { echo stopped; }; launch_pid=1; (interrupt "why"; echo on) || true; echo "${stopping:-none}"')
    assert (outcome.stdout, outcome.returncode) == ("none\n", 0), outcome.stderr


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (r"--provider=tcp\;ofi_rxm;--nic=lo", ["--provider=tcp;ofi_rxm", "--nic=lo"]),
        (r"--label=a\\;--label=b\\\;\\\\c", ["--label=a\\", r"--label=b\;\\c"]),
        (r"--label=a\\;--nic=\x", ["--label=a\\", r"--nic=\x"]),
        ("--label=end\\", ["--label=end\\"]),
        ("-", []),
    ],
)
def test_a_setting_of_a_planned_launch_may_have_a_semicolon(job, tmp_path, settings, chosen):
    (tmp_path / "suite.tsv").write_text(f"a\t{settings}\t0\talltoall\nb\t-\t0\talltoall\n")
    outcome = job("kind=suite asked[rows]=suite.tsv; read_rows; clear_screened; combination 0; printf '%s\\n' \"${chosen[@]}\"")
    assert outcome.returncode == 0, outcome.stderr
    assert [line for line in outcome.stdout.split("\n") if line] == chosen


@pytest.mark.parametrize(
    ("kind", "settings", "of_a_draw"),
    [("alltoall", "", 2), ("compare", "A=1,2", 4), ("compare", "A=1,2,3", 6)],
)
def test_random_nodes_stay_for_a_round_and_in_a_comparison_for_two(job, kind, settings, of_a_draw):
    """As --help of the scripts says."""
    outcome = job(
        f"""kind={kind} settings=({settings}) asked[subsets]=random asked[launches]=4 asked[seed]=7 asked[nodes]={"4,8" * (not settings) or 8}
        read_settings; make_plan
        for i in "${{!plan_nodes[@]}}"; do subset_of "$i"; ((plan_nodes[i] != 8)) || echo "$((i / {of_a_draw})) ${{subset[*]}}"; done"""
    )
    assert outcome.returncode == 0, outcome.stderr
    drawn = {}
    for line in outcome.stdout.splitlines():
        turn, _, subset = line.partition(" ")
        drawn.setdefault(turn, set()).add(subset)
    assert all(len(subsets) == 1 for subsets in drawn.values()), drawn
    assert len({next(iter(subsets)) for subsets in drawn.values()}) == len(drawn) > 1


@pytest.mark.parametrize("name", ["plan-79.tsv.partial", "log-79.tsv", "used-79.txt.partial", ".begun-79", ".room-79", "check-79.txt.partial", "run.lock"])
def test_no_link_is_followed_in_a_folder_of_results(job, tmp_path, name):
    """Others may write to it, and names of a study can be told beforehand."""
    (tmp_path / "results").mkdir()
    victim = tmp_path / "victim"
    victim.write_text("kept\n")
    (tmp_path / "results" / name).symlink_to(victim)
    outcome = job("take_folder() { :; }; open_folder; write_plan")
    assert outcome.returncode == 2, outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert f"results/{name} is a symbolic link" in outcome.stderr
    assert victim.read_text() == "kept\n"
    assert [file.name for file in (tmp_path / "results").iterdir()] == [name]


def test_no_link_is_followed_by_a_job_that_ends_early(job, tmp_path):
    (tmp_path / "results").mkdir()
    victim = tmp_path / "victim"
    victim.write_text("kept\n")
    (tmp_path / "results/ended-79.tsv").symlink_to(victim)
    outcome = job("note_early_end 1")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert victim.read_text() == "kept\n"
    (tmp_path / "results/ended-79.tsv").unlink()
    assert job("note_early_end 1").returncode == 0
    assert (tmp_path / "results/ended-79.tsv").read_text().startswith("kind\tended")


def test_links_of_other_jobs_and_results_that_are_links_stay(job, tmp_path):
    (tmp_path / "results").mkdir()
    for name in ("log-78.tsv", "run-a-n2.h5"):
        (tmp_path / "results" / name).symlink_to(tmp_path / "elsewhere")
    outcome = job("take_folder() { :; }; open_folder")
    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("how", ['say "$text"', 'printf "%s\\n" "$text" >text; show text >&2'])
def test_no_control_character_of_what_others_say_reaches_the_terminal(job, how):
    outcome = job("text=$'n1: \\e]0;mine\\a\\e[2J \\x9b \\u009b31m caf\\u00e9 \\u2265 2\\tx\\ny'\n" + how, env=os.environ | {"LC_ALL": "C.UTF-8"}, errors="replace")
    assert outcome.stderr == "n1: ?]0;mine??[2J \ufffd ?31m café ≥ 2\tx\ny\n"
