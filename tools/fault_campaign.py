#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets jobs under `weir supervise` fail at random, many times, and says how they ended.

  fault_campaign.py kills --weir build/release/weir --mpi openmpi --number 200 --seed 1
  fault_campaign.py hangs --weir build/release/weir --mpi mpich --number 20 --clean 100 --seed 1

kills: SIGKILL of random ranks at random moments, and at the points that --inject names; of the
launcher; of the supervisor, which is then started again. Jobs take snapshots. Every job has to end
with the digest of an undisturbed one and to leave no process, file or shared memory.
hangs: a rank that computes for ever, one that is stopped, one whose batches are lost; the verdict has
to name it. Clean runs must have no verdict.

The same seed draws the same faults; when outside kills strike depends on the machine. Exit code 1 when
anything went wrong. Needs the command of the MPI (`weir` or `weir-mpich`) beside the one named."""

import argparse
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

JOB = ["run", "pagerank", "rmat:scale=8,seed=5", "--digest", "--quiet"]
LONGEST_JOB = 600
PAGE_MAGIC = 0x74616562
SEGMENTS = {"openmpi": ("vader_segment.", "osc_sm."), "mpich": ("mpich_shar_tmp", "ucx_shm_posix_")}
POINTS = ["superstep", "send", "barrier", "snapshot", "before-manifest", "after-manifest", "resume"]


def launcher(mpi, ranks, weir):
    command = weir if mpi == "openmpi" else weir + "-mpich"
    if not os.path.exists(command) and mpi == "openmpi":
        command = weir + "-openmpi"
    words = [f"mpirun.{mpi}", "-n", str(ranks)]
    if mpi == "openmpi":
        words += ["--oversubscribe", "--bind-to", "none"]
    return words + [command]


def undisturbed(weir, options):
    return subprocess.run([weir] + JOB + options, capture_output=True, text=True, check=True).stdout


def unused_segments(mpi):
    """Shared memory of an MPI that no process maps."""
    used = set()
    for maps in glob.glob("/proc/[0-9]*/maps"):
        try:
            with open(maps, encoding="utf-8", errors="replace") as file:
                used.update(re.findall(r"/dev/shm/([^\s]+)", file.read()))
        except OSError:
            pass
    return {name for name in os.listdir("/dev/shm") if name.startswith(SEGMENTS[mpi])} - used


class Supervised:
    """One job under `weir supervise`, which may be started again when the supervisor is killed."""

    def __init__(self, arguments, options, command):
        self.mpi = arguments.mpi
        self.folder = tempfile.mkdtemp(prefix="campaign-")
        os.mkdir(self.folder + "/tmp")
        self.words = [arguments.weir, "supervise"] + options + ["--"] + command
        self.env = dict(os.environ, TMPDIR=self.folder + "/tmp", OMPI_ALLOW_RUN_AS_ROOT="1",
                        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.segments_before = unused_segments(self.mpi)
        self.out = None
        self.started = time.time()
        self.start()

    def start(self):
        with open(self.folder + "/err", "a", encoding="utf-8") as err:
            self.process = subprocess.Popen(self.words, cwd=self.folder, env=self.env,
                                            stdout=subprocess.PIPE, stderr=err, text=True)

    def is_running(self):
        return self.process.poll() is None

    def page(self, rank):
        """(process, superstep) of a rank, or nothing."""
        for name in glob.glob(f"{self.folder}/tmp/weir-supervise-*/rank-{rank}"):
            try:
                with open(name, "rb") as file:
                    page = file.read()
            except OSError:
                return None
            if len(page) < 320:
                return None
            magic, _, _, process = struct.unpack_from("<Iiii", page, 0)
            return (process, struct.unpack_from("<q", page, 280)[0]) if magic == PAGE_MAGIC else None
        return None

    def launcher(self):
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children",
                      encoding="utf-8") as file:
                return int(file.read().split()[0])
        except (OSError, IndexError):
            return None

    def wait_for_restart(self):
        while self.is_running() and not self.is_over_time():
            with open(self.folder + "/err", encoding="utf-8", errors="replace") as file:
                if "; starting again (" in file.read():
                    return
            time.sleep(0.01)

    def is_over_time(self):
        return time.time() - self.started > LONGEST_JOB

    def finish(self):
        """Waits for the end; returns (exit code, stdout, stderr), code None after too long."""
        try:
            out, _ = self.process.communicate(timeout=LONGEST_JOB)
            code = self.process.returncode
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, code = "", None
        with open(self.folder + "/err", encoding="utf-8", errors="replace") as file:
            return code, out, file.read()

    def left(self):
        """What should not be there any more, nor after some seconds: other jobs may be about to clear
        up after themselves."""
        end = time.time() + 3
        while True:
            left = self.found_left()
            if not left or time.time() > end:
                return left
            time.sleep(0.1)

    def found_left(self):
        left = os.listdir(self.folder + "/tmp")
        variable = f"TMPDIR={self.folder}/tmp\0".encode()
        for name in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(name, "rb") as file:
                    if variable in file.read():
                        left.append(name)
            except OSError:
                pass
        return left + sorted(unused_segments(self.mpi) - self.segments_before)

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def strike(job, draw, ranks, last, shares):
    """Kills once, at a random moment of a start that was not struck before. Returns what, or nothing,
    and the process by which that start is known."""
    is_early = draw.random() < 0.15
    victim = draw.randrange(ranks)
    kind = draw.random()
    pause = draw.random() * (0.05 if is_early else 0.3)
    while job.is_running() and not job.is_over_time():
        page = job.page(victim)
        if page and page[0] != last and (is_early or page[1] >= 0):
            break
        time.sleep(0.002)
    else:
        return None, last
    time.sleep(pause)
    target, what = page[0], "rank"
    if kind < shares["launcher"]:
        target, what = job.launcher(), "launcher"
    elif kind < shares["launcher"] + shares["supervisor"]:
        target, what = job.process.pid, "supervisor"
    try:
        if target is None or not job.is_running():
            return None, last
        os.kill(target, signal.SIGKILL)
    except OSError:
        return None, last
    if what == "supervisor":
        job.process.wait()
        time.sleep(draw.random() * 0.3)
        job.start()
    start = time.time()
    while job.is_running() and time.time() - start < 60:
        page_now = job.page(victim)
        if not page_now or page_now[0] != page[0]:
            break
        time.sleep(0.002)
    return what, page[0]


def kills(arguments):
    draw = random.Random(arguments.seed)
    shares = {"launcher": arguments.launcher_share, "supervisor": arguments.supervisor_share}
    options = ["--iterations", "400"]
    want = undisturbed(arguments.weir, options)
    counts = {"rank": 0, "launcher": 0, "supervisor": 0, "point": 0}
    seconds, num_jobs, num_wrong = [], 0, 0
    while sum(counts.values()) < arguments.number:
        ranks = draw.randint(2, 5)
        point = draw.choice(POINTS)
        victim = 0 if point.endswith("manifest") else draw.randrange(ranks)
        at = 1 if point == "resume" else draw.randrange(5, 300)
        faults = f"link.delay=1ms,rank{victim}.kill@{point}={at}"
        num_outside = draw.randrange(4, 9)
        command = launcher(arguments.mpi, ranks, arguments.weir) + JOB + options + [
            "--snapshots", "snapshots", "--snapshot-every", str(draw.randrange(3, 30)), "--resume",
            "--inject", faults]
        job = Supervised(arguments, ["--max-restarts", "1000", "--backoff", "0"], command)
        last, struck = None, []
        if point != "resume":  # which comes after the first outside kill by itself
            job.wait_for_restart()
        for _ in range(num_outside):
            what, last = strike(job, draw, ranks, last, shares)
            if what:
                struck.append(what)
        code, out, err = job.finish()
        left = job.left()
        for what in struck:
            counts[what] += 1
        # What struck at a point is no kill of this script's.
        num_restarts = err.count("; starting again (")
        num_points = max(0, num_restarts - sum(what != "supervisor" for what in struck))
        counts["point"] += num_points
        seconds += [float(text) for text in re.findall(r"computing again ([0-9.]+) s", err)]
        num_jobs += 1
        is_right = code == 0 and out == want and not left
        num_wrong += not is_right
        print(f"{arguments.mpi} {ranks} ranks, {faults.split(',')[1]}, {len(struck)} outside "
              f"({', '.join(struck)}), {num_restarts} restarts: "
              f"{'right' if is_right else f'WRONG: code {code}, {out!r}, left {left}'}", flush=True)
        if not is_right:
            print(f"  kept: {job.folder}\n{err[-3000:]}", flush=True)
        else:
            job.clear()
    seconds.sort()
    print(f"{arguments.mpi} seed {arguments.seed}: {sum(counts.values())} kills {counts} in {num_jobs} "
          f"jobs, {num_jobs - num_wrong} right; from death to computing: median "
          f"{seconds[len(seconds) // 2]:.2f} s, greatest {seconds[-1]:.2f} s of {len(seconds)}")
    return num_wrong


def hangs(arguments):
    draw = random.Random(arguments.seed)
    limits = ["--heartbeat", str(arguments.heartbeat), "--hang", str(arguments.hang)]
    want = undisturbed(arguments.weir, [])
    num_wrong = 0
    for i in range(arguments.number):
        ranks = draw.randint(2, 5)
        victim = draw.randrange(ranks)
        step = draw.randrange(1, 18)
        kind = ("hang", "stop", "lost")[i % 3]
        point = draw.choice(["superstep", "send", "barrier"])
        others = "+".join(str(r) for r in range(ranks) if r != victim)
        fault, verdict = {
            "hang": (f"rank{victim}.hang@{point}={step}", f"weir: rank {victim} is stuck: "),
            "stop": (f"rank{victim}.stop@{point}={step}", f"weir: rank {victim} has been silent for "),
            # All others wait for the one that is cut off; with two ranks each for the other.
            "lost": (f"partition{victim}/{others}@superstep={step}", f" for rank {victim}"),
        }[kind]
        if kind == "lost" and ranks == 2:
            verdict = " for rank "
        command = launcher(arguments.mpi, ranks, arguments.weir) + JOB + ["--inject", fault]
        if kind == "lost":  # all beat and move: they wait
            command += ["--deadline", "3"]
        job = Supervised(arguments, limits, command)
        code, out, err = job.finish()
        left = job.left()
        said = [line for line in err.splitlines() if "starting again" in line]
        is_right = (code == 0 and out == want and not left and len(said) == 1 and verdict in err and
                    f" in superstep {step}" in said[0])
        num_wrong += not is_right
        print(f"{arguments.mpi} {ranks} ranks, {fault}: "
              f"{'right' if is_right else f'WRONG: code {code}, {out!r}, left {left}'}", flush=True)
        if not is_right:
            print("\n".join(said), flush=True)
        job.clear()
    num_false = 0
    for i in range(arguments.clean):
        ranks = draw.randint(2, 5)
        job = Supervised(arguments, limits, launcher(arguments.mpi, ranks, arguments.weir) + JOB)
        code, out, err = job.finish()
        is_right = code == 0 and out == want and "starting again" not in err and not job.left()
        num_false += not is_right
        if not is_right:
            print(f"{arguments.mpi} {ranks} ranks, clean: WRONG: code {code}, {out!r}\n{err[-3000:]}")
        job.clear()
    print(f"{arguments.mpi} seed {arguments.seed}: {arguments.number - num_wrong} of "
          f"{arguments.number} verdicts right; {num_false} of {arguments.clean} clean runs wrong")
    return num_wrong + num_false


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["kills", "hangs"])
    parser.add_argument("--weir", required=True)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--number", type=int, default=20, help="kills, or hangs")
    parser.add_argument("--clean", type=int, default=0, help="clean runs after the hangs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launcher-share", type=float, default=0.1, help="of outside kills")
    parser.add_argument("--supervisor-share", type=float, default=0.05, help="of outside kills")
    parser.add_argument("--heartbeat", type=float, default=2)
    parser.add_argument("--hang", type=float, default=2)
    arguments = parser.parse_args()
    arguments.weir = os.path.abspath(arguments.weir)
    return 1 if {"kills": kills, "hangs": hangs}[arguments.kind](arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
