#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what each rank does and sends as ranks are added, and fits a bulk-synchronous cost model to it.

    bench/scaling.py [--kernel pagerank] [--scale 16] [--weir build/release/weir]

A machine of few cores cannot show the time of many ranks, but it can run them, as threads of one process, and count.
Strong scaling keeps the graph (rmat of --scale), weak scaling keeps the vertices per rank (scale - 4 at one rank, scale
at sixteen). Of each superstep are counted, exactly, over the ranks: w, the most arcs that one reads; h, the most bytes
that one sends or receives; f, the most frames that one sends.

Laws, for vertices that lie on ranks as if at random (the ids of rmat are scrambled):

    w = c P^e A / P                                  A arcs
    h = c P^e 8 (P - 1) / P sum over v of 1 - (1 - 1/P)^d(v)    d(v) distinct neighbours: a value travels once a rank
    f = 2 (P - 1) + log2 P                           values and a closing frame to each rank; the fold of the barrier

The factor c P^e, how uneven ranks are, is fitted through P = 2 and P = 4. What the law says of 8 and 16 ranks is
compared to what was counted there; of 1,024 it is an extrapolation and called one. There the degrees of weak scaling
are those of the largest graph counted, and the graph of strong scaling has work for as many ranks as it has shards.

A superstep then costs w a + h g + f o ([Valiant90], L being f o): a seconds per arc as measured on one rank, g seconds
per byte and o seconds per frame as given.
"""

import argparse
import collections
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANKS = (1, 2, 4, 8, 16)
FITTED = (2, 4)
FAR = 1024


def run(weir: str, kernel: str, scale: int, ranks: int) -> dict:
    """Counts of one run, per superstep and rank."""
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.json"
        command = [weir, "run", kernel, f"rmat:scale={scale},seed=1", "--undirected", "--ranks", str(ranks)]
        command += ["--repeats", "merge", "--loops", "drop"]
        command += ["--threads", "1", "--quiet", "--report", report] + (["--source", "1"] if kernel == "bfs" else [])
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"failed: {' '.join(command)}")
        whole = json.loads(pathlib.Path(report).read_text())
    job = whole["algorithms"][0]
    steps = job["supersteps"]
    return {
        "w": max(share["arcs"] for share in whole["graph"]["ranks"]),
        "mean w": whole["graph"]["arcs"] / ranks,
        "h": max(max(rank["bytes_sent"], rank["bytes_received"]) for rank in job["ranks"]) / steps,
        "mean h": job["bytes_sent"] / ranks / steps,
        "f": max(rank["frames_sent"] for rank in job["ranks"]) / steps,
        "messages": job["messages"] / ranks / steps,
        "seconds": job["seconds"]["run"] / steps,
        "digest": job["digest"],
        "shards": whole["graph"]["shards"],
    }


def degrees(weir: str, scale: int) -> collections.Counter:
    """How many vertices have how many distinct neighbours."""
    command = [weir, "generate", f"rmat:scale={scale},seed=1", "-", "--quiet"]
    pairs = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            u, v = map(int, line.split())
            if u != v:
                pairs.add((min(u, v), max(u, v)))
    of_vertex = collections.Counter(v for pair in pairs for v in pair)
    return collections.Counter(of_vertex.values())


def even_bytes(histogram: collections.Counter, ranks: int) -> float:
    """Bytes that each rank sends if vertices lie evenly and at random."""
    readers = sum(count * (1 - (1 - 1 / ranks) ** degree) for degree, count in histogram.items())
    return 8 * (ranks - 1) / ranks * readers


def frames(ranks: int) -> float:
    return 2 * (ranks - 1) + math.log2(ranks)


class Law:
    """c P^e times what an even spread gives, through two numbers of ranks."""

    def __init__(self, counted: dict[int, float], even):
        (p, x), (q, y) = ((ranks, value / even(ranks)) for ranks, value in counted.items())
        self.even = even
        self.exponent = math.log(y / x) / math.log(q / p)
        self.factor = x / p**self.exponent

    def __call__(self, ranks: int) -> float:
        return self.factor * ranks**self.exponent * self.even(ranks) if ranks > 1 else self.even(1)


def table(counts: dict[int, dict], laws: dict) -> str:
    lines = [
        "| ranks | w: arcs read, most | law | h: bytes, most | law | most / mean | f: frames | law | messages |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for ranks in (*RANKS, FAR):
        found = counts.get(ranks)
        cells = [f"{ranks:,}" if found else f"{ranks:,}, extrapolated"]
        for key in ("w", "h", "f"):
            guess = laws[key](ranks)
            cells.append(f"{found[key]:,.0f}" if found else "")
            if not found:
                cells.append(f"{guess:,.0f}")
            elif ranks > max(FITTED):
                cells.append(f"{guess:,.0f} ({100 * (guess / found[key] - 1):+.1f} %)")
            else:
                cells.append("fitted" if ranks in FITTED and key != "f" else f"{guess:,.0f}")
            if key == "h":
                cells.append(f"{found['h'] / found['mean h']:.2f}" if found and found["h"] else "")
        cells.append(f"{found['messages']:,.0f}" if found else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def costs(counts: dict[int, dict], laws: dict, a: float, g: float, o: float) -> str:
    lines = ["| ranks | w a | h g | f o | superstep |", "|---|---|---|---|---|"]
    for ranks in (*RANKS, FAR):
        found = counts.get(ranks) or {key: law(ranks) for key, law in laws.items()}
        parts = (found["w"] * a, found["h"] * g, found["f"] * o)
        cells = [f"{1e6 * part:,.1f} us" for part in (*parts, sum(parts))]
        lines.append(f"| {ranks:,}{'' if ranks in counts else ', extrapolated'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="pagerank", help="every superstep alike: pagerank, cdlp (default pagerank)")
    parser.add_argument("--scale", type=int, default=16, help="of the rmat graph (default 16)")
    parser.add_argument("--weir", default=str(ROOT / "build/release/weir"))
    parser.add_argument("--byte-seconds", type=float, default=1e-10, help="g (default: 10 GB/s a rank)")
    parser.add_argument("--frame-seconds", type=float, default=5e-7, help="o (default: 0.5 us)")
    options = parser.parse_args()
    weir, kernel, largest = options.weir, options.kernel, options.scale

    alone = [run(weir, kernel, largest, 1) for _ in range(5)]
    a = statistics.median(count["seconds"] / count["w"] for count in alone)
    print(f"{kernel}; a = {1e9 * a:.2f} ns per arc (one rank of one thread, median of 5), "
          f"g = {1e9 * options.byte_seconds:.2f} ns per byte, o = {1e6 * options.frame_seconds:.2f} us per frame\n")
    strong = {ranks: largest for ranks in RANKS}
    weak = {ranks: largest - 4 + int(math.log2(ranks)) for ranks in RANKS}
    histograms = {scale: degrees(weir, scale) for scale in set(weak.values())}
    for title, scales in (
        (f"Strong scaling, rmat:scale={largest}", strong),
        (f"Weak scaling, rmat:scale={weak[1]} on one rank to {weak[16]} on sixteen", weak),
    ):
        counts = {ranks: run(weir, kernel, scale, ranks) for ranks, scale in scales.items()}
        if scales is strong and len({count["digest"] for count in counts.values()}) > 1:
            sys.exit("results differ between numbers of ranks")

        def share(ranks: int, of) -> float:
            """Of a rank, from the graph it was counted on, or from as many of the largest."""
            if ranks in scales:
                return of(histograms[scales[ranks]], ranks)
            if scales is weak:
                return of(histograms[largest], ranks) * ranks / max(RANKS)
            return of(histograms[largest], min(ranks, counts[max(RANKS)]["shards"]))

        def even_arcs(ranks: int) -> float:
            return share(ranks, lambda histogram, p: sum(d * count for d, count in histogram.items()) / p)

        laws = {
            "w": Law({p: counts[p]["w"] for p in FITTED}, even_arcs),
            "h": Law({p: counts[p]["h"] for p in FITTED}, lambda ranks: share(ranks, even_bytes)),
            "f": frames,
        }
        print(f"**{title}; counts of one superstep**\n\n{table(counts, laws)}\n")
        print("; ".join(f"{key}: c = {laws[key].factor:.3f}, e = {laws[key].exponent:+.3f}" for key in ("w", "h")))
        print(f"\n**{title}; cost model**\n")
        print(costs(counts, laws, a, options.byte_seconds, options.frame_seconds) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
