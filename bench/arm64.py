#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""arm64 code of real programs against Linux 6.12's, for docs/performance.md.

usage: arm64.py BENCH_ARM64 SHARED [--pairs]

BENCH_ARM64 is the built bench/arm64.c; SHARED has corpus/xlated-arm64 and
reference/kernel_arm64.tsv. llvm-mca is called as corpus/README.md says. Equal programs count once.
"""
import csv
import datetime
import os
import platform
import re
import subprocess
import sys

CPUS = ("n1", "n2", "v1", "v2")
MCA = ("llvm-mca-19 -mtriple=aarch64 -mattr=+v8.5a,+pauth -mcpu=neoverse-{} -iterations=1 "
       "-call-latency=1 -skip-unsupported-instructions=any -instruction-info=0 "
       "-resource-pressure=0")


def mca(cpu, text):
    """{region: (cycles, uops)}"""
    out = subprocess.run(MCA.format(cpu).split(), input=text, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr[:2000])
    name, found, cycles = None, {}, 0
    for line in out.stdout.splitlines():
        if m := re.match(r"\[\d+\] Code Region - (.*)", line):
            name = m[1]
        elif m := re.match(r"Total Cycles:\s+(\d+)", line):
            cycles = int(m[1])
        elif m := re.match(r"Total uOps:\s+(\d+)", line):
            found[name] = (cycles, int(m[1]))
    return found


def measure(bench, shared, options, rows):
    """Rows with ours: bytes, insns, cycles and uops of each CPU."""
    folder = os.path.join(shared, "corpus", "xlated-arm64")
    paths = [os.path.join(folder, r["file"]) for r in rows]
    text = subprocess.run([bench, *options, *paths], capture_output=True, text=True).stdout
    sizes = dict(re.findall(r"LLVM-MCA-BEGIN (\S+)\n# bytes (\d+)", text))
    costs = {cpu: mca(cpu, text) for cpu in CPUS}
    for r in rows:
        name = r["file"]
        r["ours"] = {"bytes": int(sizes[name])}
        for cpu in CPUS:
            r["ours"][cpu + "_cycles"], r["ours"][cpu + "_uops"] = costs[cpu][name]


def kernels(row, what):
    return int(row["kernel_bytes" if what == "bytes" else what])


def change(rows, what):
    theirs = sum(kernels(r, what) for r in rows)
    return 100 * (sum(r["ours"][what] for r in rows) / theirs - 1)


def print_table(rows):
    columns = ["bytes"] + [c + "_cycles" for c in CPUS] + [c + "_uops" for c in CPUS]
    print("| project | programs |", " | ".join(c.replace("_", " ") for c in columns), "|")
    print("| --- |" + " ---: |" * (1 + len(columns)))
    projects = sorted({r["project"] for r in rows})
    for name in projects + ["all"]:
        of = [r for r in rows if name in ("all", r["project"])]
        cells = " | ".join(f"{change(of, c):+.2f} %" for c in columns)
        print(f"| {name} | {len(of)} | {cells} |")


def main():
    bench, shared, *options = sys.argv[1:]
    with open(os.path.join(shared, "reference", "kernel_arm64.tsv")) as f:
        rows = list({r["tag"]: r for r in csv.DictReader(f, delimiter="\t")}.values())
    measure(bench, shared, options, rows)
    longer = [r for r in rows if r["ours"]["bytes"] > kernels(r, "bytes")]
    total = sum(r["ours"]["bytes"] for r in rows)
    print(f"{len(rows)} distinct programs, {total} bytes against the kernel's "
          f"{sum(kernels(r, 'bytes') for r in rows)} (without KASLR); longer than the kernel's: "
          f"{len(longer)}; {platform.machine()}, llvm-mca 19, {datetime.date.today()}\n")
    for r in longer:
        print("longer:", r["file"], r["ours"]["bytes"], kernels(r, "bytes"))
    print_table(rows)
    if os.environ.get("SKEP_BENCH_ROWS"):
        for r in rows:
            print(r["file"], r["ours"], {k: r[k] for k in r if "cycles" in k})


if __name__ == "__main__":
    main()
