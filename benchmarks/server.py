"""This file is what the server costs a training that is watched: nobody asking, asked each second, and streamed.

One watched run goes on; blocks of its steps are timed in turns, each between two without a server (see ``blocks.py``).
Who asks is another process, so that CPU time is the training's and the server's alone. A ratio to a hundredth needs a
quieter machine than there is; the CPU time of the server's own threads is exact, and they cannot take more from the
training than that, so the bound is on them. Run it on a quiet machine:

    OMP_NUM_THREADS=1 python benchmarks/server.py --out benchmarks/results/server-cpu.txt
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import torch
from blocks import Times, block, cpu, in_turns, median, wall, with_interval
from watched import away_from_home
from workloads import WORKLOADS

import torchmagic

# The most that the server's threads may take of a core, in percent.
BOUND = 1.0
SECONDS_A_BLOCK = 3.0
PATHS = ("/runs", "/runs/last", "/runs/last/series/loss", "/metrics", "/training-logs/debug/summary")
# Asks once a second, or listens, until its input is closed; then tells how long the answers took, and of lines heard.
CLIENT = """
import http.client, itertools, json, sys, threading, time
kind, host, port, token, paths = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], json.loads(sys.argv[5])
headers, over, took, lines = {"Authorization": f"Bearer {token}"}, threading.Event(), [], []
connection = http.client.HTTPConnection(host, port, timeout=30)

def listen():
    connection.request("GET", "/events", headers=headers)
    lines.extend(iter(connection.getresponse().readline, b""))

def ask():
    turns = [paths] if kind == "asked for all" else [[path] for path in paths]
    for turn in itertools.cycle(turns):
        if over.wait(1.0):
            return
        for path in turn:
            began = time.perf_counter()
            connection.request("GET", path, headers=headers)
            reply = connection.getresponse()
            reply.read()
            took.append(time.perf_counter() - began)
            assert reply.status == 200, path

threading.Thread(target=listen if kind == "streamed" else ask, daemon=True).start()
sys.stdin.read()
over.set()
print(json.dumps([took, len(lines)]))
"""


def server_seconds():
    """Return the CPU time of the server's threads: as much as they could take from the training at most."""
    names = ("torchmagic-server", "AnyIO worker", "asyncio_")
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(names)]
    return sum(time.clock_gettime(time.pthread_getcpuclockid(thread.ident)) for thread in threads)


def timed(step, num_steps, shares):
    """Time a block, and add the share of its wall time that the server's threads took.

    What the first answers of a server load is over by then.
    """
    block(step, num_steps)
    began, cpu_before = time.perf_counter(), server_seconds()
    times = block(step, num_steps)
    shares.append((server_seconds() - cpu_before) / (time.perf_counter() - began))
    return times


@contextmanager
def client(kind, server, answers, streamed):
    """Ask, or listen, from another process."""
    command = [sys.executable, "-c", CLIENT, kind, server.host, str(server.port), server.token, json.dumps(PATHS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield
    finally:
        took, lines = json.loads(process.communicate(timeout=60)[0])
        answers += took
        streamed.append(lines)


def measure(workload, rounds):
    """Time one watched workload with and without a server."""
    answers, streamed = [], []
    shares = {"idle": [], "asked": [], "asked for all": [], "streamed": []}
    training = workload.make()
    num_steps = max(5, round(SECONDS_A_BLOCK / block(training.step, workload.num_steps).wall))

    def idle() -> Times:
        with torchmagic.serve():
            return timed(training.step, num_steps, shares["idle"])

    def with_client(kind):
        def way() -> Times:
            with torchmagic.serve() as server, client(kind, server, answers, streamed):
                return timed(training.step, num_steps, shares[kind])

        return way

    with torchmagic.watch(name=workload.name, level="basic") as run:
        ways = {"idle": idle} | {kind: with_client(kind) for kind in shares if kind != "idle"}
        measured = in_turns(training.step, num_steps, ways, rounds=rounds)
    return run, measured, shares, answers, streamed


def report(workload, run, measured, shares, answers, streamed):
    """Yield the lines about one workload."""
    yield f"{workload.name}: {1e3 * median(wall(measured.bare)):.2f} ms a watched step, {run.steps:,} steps"
    for name, ratios in measured.ratios.items():
        if name in measured.failed:
            yield f"  {name:13} {measured.failed[name]}"
            continue
        share = 100 * median(shares[name])
        yield (
            f"  {name:13} server's threads {share:.2f}% of a core, bound {BOUND} {'yes' if share <= BOUND else 'NO'}"
            f"   CPU {with_interval(cpu(ratios))}   wall {with_interval(wall(ratios))}"
        )
    ordered = sorted(answers)
    yield (
        f"  answers: p50 {1e3 * median(ordered):.1f} ms, p95 {1e3 * ordered[int(0.95 * len(ordered))]:.1f} ms, "
        f"max {1e3 * ordered[-1]:.1f} ms of {len(ordered)}; lines streamed: {sum(streamed):,}"
    )


def main():
    """Measure what was chosen, print it, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="MLP,CNN", help="workloads whose names hold one of these")
    parser.add_argument("--out", type=Path, help="write the lines to this file too")
    chosen = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    lines = [
        "Time of a watched training step with a server, as a ratio to the same without one",
        f"median of {chosen.rounds} rounds with its 90% interval; torch {torch.__version__}, "
        f"Python {platform.python_version()}, {torch.get_num_threads()} thread(s), level basic",
        "idle: nobody asks; asked: each second, in turn, for " + ", ".join(PATHS),
        "asked for all: each second for all of them; streamed: one client on /events",
        "",
    ]
    with away_from_home():
        for workload in WORKLOADS:
            if any(part in workload.name for part in chosen.only.split(",")):
                lines += report(workload, *measure(workload, chosen.rounds))
    print("\n".join(lines))
    if chosen.out:
        chosen.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
