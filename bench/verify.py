#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""verify.py VERDICTS_KERNEL VERDICTS_SKEP SHARED [--rounds N] [--only TEXT] [--table DOC]: CPU time of PROG_LOAD
(verification, rewrites and code generation) in skep and in the running kernel, for the programs of
SHARED/corpus and of xdp-tools that both accept. Rounds alternate between the two; printed are the
ratio of each round, median and spread, time per visited instruction (a newer kernel visits more than
Linux 6.12 does), and the most memory that one load took in skep.

The kernel takes minutes a round, most of them in making and dropping maps. VERDICTS_* are tests/oracle/verdicts.c. --table puts visited instructions, skep's beside those of
SHARED/reference/kernel_x86.tsv, between the marks of DOC (docs/verifier.md). Needs root.
"""
import argparse, glob, os, statistics, subprocess, sys

BEGIN, END = '<!-- figures begin -->', '<!-- figures end -->'


def judge(program, objects):
    done = subprocess.run([program, *objects], capture_output=True, text=True, errors='replace')
    rows = {}
    for line in done.stdout.splitlines():
        c = line.split('\t')
        if len(c) == 11:
            rows[c[0], c[1]] = {'err': int(c[3]), 'insns': int(c[4]), 'states': int(c[5]),
                                'peak': int(c[6]), 'msg': c[8], 'cpu': int(c[9]),
                                'kib': int(c[10])}
    return rows


def reference(shared):
    with open(os.path.join(shared, 'reference', 'kernel_x86.tsv')) as f:
        head = f.readline().rstrip('\n').split('\t')
        rows = [dict(zip(head, line.rstrip('\n').split('\t'))) for line in f]
    return {(r['object'], r['program']): r for r in rows}


def table(skep, ref):
    lines = ['| object | program | visited | kernel | ratio | states | peak states | message |',
             '|---|---|---|---|---|---|---|---|']
    sums = [0, 0]
    for key, r in sorted(ref.items()):
        s = skep.get(key)
        if not s:
            lines.append(f'| {key[0]} | {key[1]} | not tried | {r["verified_insns"]} | | | | |')
            continue
        k = int(r['verified_insns'])
        if not s['err']:
            sums[0] += s['insns']
            sums[1] += k
        lines.append(f'| {key[0]} | {key[1]} | {s["insns"]} | {k} | {s["insns"] / k:.3f} | '
                     f'{s["states"]} | {s["peak"]} | {s["msg"]} |')
    lines.append(f'| all that are accepted | | {sums[0]} | {sums[1]} | {sums[0] / sums[1]:.3f} | '
                 '| | |')
    return '\n'.join(lines)


def put(doc, text):
    with open(doc) as f:
        old = f.read()
    with open(doc, 'w') as f:
        f.write(f'{old.split(BEGIN)[0]}{BEGIN}\n{text}\n{END}{old.split(END)[1]}')


def measure(args, objects):
    ratios, per = [], {'kernel': [], 'skep': []}
    for n in range(args.rounds):
        order = [('kernel', args.kernel), ('skep', args.skep)]
        rows = {name: judge(program, objects) for name, program in (order if n % 2 else order[::-1])}
        both = [k for k, r in rows['skep'].items()
                if not r['err'] and k in rows['kernel'] and not rows['kernel'][k]['err']]
        if not both:
            sys.exit('verify: no program is accepted by both')
        cpu = {name: sum(r[k]['cpu'] for k in both) for name, r in rows.items()}
        for name, r in rows.items():
            per[name].append(cpu[name] / sum(r[k]['insns'] for k in both))
        ratios.append(cpu['skep'] / cpu['kernel'])
        print(f'round {n + 1} of {args.rounds}: {len(both)} programs, skep {cpu["skep"] / 1e3:.0f} '
              f'ms, kernel {cpu["kernel"] / 1e3:.0f} ms, ratio {ratios[-1]:.3f}', flush=True)
    print(f'ratio skep/kernel: median {statistics.median(ratios):.3f}, '
          f'{min(ratios):.3f} to {max(ratios):.3f}')
    for name, r in rows.items():
        print(f'{name}: {statistics.median(per[name]):.3f} us per visited instruction '
              f'({min(per[name]):.3f} to {max(per[name]):.3f}), '
              f'{sum(r[k]["insns"] for k in both)} visited')
    most = max(both, key=lambda k: rows['skep'][k]['kib'])
    print(f'peak memory of a load in skep: {rows["skep"][most]["kib"]} KiB ({most[0]} {most[1]})')


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--only', default='', help='objects whose path has this')
    p.add_argument('--table')
    for name in ('kernel', 'skep', 'shared'):
        p.add_argument(name)
    args = p.parse_args()
    objects = sorted(glob.glob(os.path.join(args.shared, 'corpus', 'objects', '*', '*.o')))
    every = objects + sorted(glob.glob('/usr/lib/*/bpf/*.o'))
    if not objects:
        print(f'verify: SKIPPED: {args.shared}/corpus is not there')
    elif args.table:
        put(args.table, table(judge(args.skep, objects), reference(args.shared)))
    elif os.geteuid() != 0:
        print("verify: SKIPPED: the kernel's bpf(2) needs root")
    else:
        measure(args, [o for o in every if args.only in o])


main()
