#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py [--rows FILE] [--table] KERNEL SKEP SHARED OBJECT...: verdicts of the kernel and of skep
for each program of the objects and of SHARED/corpus (all of it with COMPARE=all), as TAP, a point an
object: skep takes what the kernel takes, refuses what it refuses, and ends a refusal with a message
of the same kind. A helper that skep's verifier takes and that has nothing behind it is a point of its
own, marked TODO; what the kernel refuses because this host does not do it is skipped, a point each.

KERNEL and SKEP are verdicts_kernel and verdicts_skep. --rows takes the kernel's rows from a file
(tests/oracle/vm: Linux 6.12) and holds the visited instructions against them as well: each program
within 20 %, all together within 5 %. The running kernel's figures are only printed, since releases
differ in them, with those of SHARED/reference/kernel_x86.tsv beside. --table: the differences as rows
for docs/compat.md.
"""
import argparse, glob, os, re, subprocess, sys

# What skep says when a helper, not the verifier, is what is missing.
MISSING = re.compile(r'skep does not have helper (\S+?)(?:#\d+)? yet')
# EPERM, ESRCH, EOPNOTSUPP, ENOTSUPP: the host does not do it, whatever the program is.
NOT_HERE = (1, 3, 95, 524)


def rows_of(text):
    rows = {}
    for line in text.splitlines():
        c = line.split('\t')
        if len(c) >= 9:
            rows[c[0], c[1]] = {'type': c[2], 'err': int(c[3]), 'insns': int(c[4]),
                                'states': int(c[5]), 'msg': c[8].strip()}
    return rows


def judge(program, path):
    done = subprocess.run([program, path], capture_output=True, text=True, errors='replace')
    return rows_of(done.stdout)


def reference(shared):
    table = {}
    path = os.path.join(shared, 'reference', 'kernel_x86.tsv')
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                c = line.rstrip('\n').split('\t')
                table[c[0], c[1]] = c[7]
    return table


def objects_of(args):
    some = ('/linux/', '/suricata/', '/prototype-kernel/', 'bpf_sock.o')
    found = [o for o in args.objects] + sorted(glob.glob('/usr/lib/*/bpf/*.o'))
    corpus = sorted(glob.glob(os.path.join(args.shared, 'corpus', 'objects', '*', '*.o')))
    if not corpus:
        print(f'# {args.shared}/corpus is not there: its objects are skipped')
    every = os.environ.get('COMPARE') == 'all' or args.rows
    return found + [o for o in corpus if every or any(s in o for s in some)]


def differs(k, s):
    """None, or what is different."""
    if bool(k['err']) != bool(s['err']):
        return f"kernel {k['err']}, skep {s['err']}: {s['msg'] or k['msg']}"
    if k['err'] and kind(k['msg']) != kind(s['msg']):
        return f"kernel says \"{k['msg']}\", skep \"{s['msg']}\""
    return None


def kind(message):
    """A message without its numbers."""
    return re.sub(r'-?\b(0x[0-9a-f]+|\d+)\b|(?<=\bR)\d+', 'N', message)


def host_refuses(k):
    return k['err'] in NOT_HERE or (k['err'] and not k['insns'] and not k['msg'])


class Points:
    def __init__(self):
        self.n = self.bad = self.todo = self.skipped = 0

    def add(self, good, text, directive=''):
        self.n += 1
        self.bad += not good and not directive
        self.todo += directive == 'TODO'
        self.skipped += directive.startswith('SKIP')
        end = f' # {directive}' if directive else ''
        print(f"{'' if good else 'not '}ok {self.n} - {text}{end}")


class Sum:
    def __init__(self):
        self.kernel = self.skep = self.both = 0
        self.far = []

    def add(self, key, k, s):
        if k['err'] or s['err']:
            return
        self.both += 1
        self.kernel += k['insns']
        self.skep += s['insns']
        if abs(k['insns'] - s['insns']) > 0.2 * k['insns']:
            self.far.append((key, k['insns'], s['insns']))


def figures(key, k, s, ref):
    return (f"# {key[0]} {key[1]}: visited {s['insns']}, kernel {k['insns']}, "
            f"reference {ref.get(key, '-')}; states {s['states']}, kernel {k['states']}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--rows')
    p.add_argument('--table', action='store_true')
    for name in ('kernel', 'skep', 'shared'):
        p.add_argument(name)
    p.add_argument('objects', nargs='*')
    args = p.parse_args()
    exact = rows_of(open(args.rows).read()) if args.rows else None
    ref, total, table, points = reference(args.shared), Sum(), [], Points()
    if exact is None and os.geteuid() != 0:
        print('1..0 # SKIP bpf(2) needs root')
        return 0
    for path in objects_of(args):
        skep = judge(args.skep, path)
        kernel = {k: exact[k] for k in skep if k in exact} if exact is not None \
            else judge(args.kernel, path)
        same, wrong = 0, []
        name = '/'.join(path.split('/')[-2:])
        for key, s in skep.items():
            if key not in kernel:
                continue
            k = kernel[key]
            total.add(key, k, s)
            print(figures(key, k, s, ref))
            if host_refuses(k):
                points.add(True, f'{name} {key[1]}', f"SKIP the kernel refuses it here: {k['err']}")
                continue
            what, missing = differs(k, s), MISSING.search(s['msg'])
            if what and missing and not k['err']:
                points.add(False, f'{name} {key[1]}: {missing[1]} is missing', 'TODO')
            elif what:
                wrong.append(f'# {key[1]}: {what}')
            if what:
                table.append(f"| `{key[0]}` | `{key[1]}` | {k['err']} | {s['err']} | {s['msg']} |")
            same += not what and not k['err']
        for line in wrong:
            print(line)
        points.add(not wrong, f'{name}: {same} programs, same verdicts',
                   '' if kernel else 'SKIP the kernel says nothing of it')
    ratio = total.skep / total.kernel if total.kernel else 1
    for key, k, s in total.far:
        print(f'# far: {key[0]} {key[1]}: visited {s}, kernel {k}')
    print(f'# {total.both} programs taken by both: visited {total.skep}, kernel {total.kernel}, '
          f'ratio {ratio:.4f}; {len(total.far)} differ by more than 20 %')
    if exact is not None:
        close = not total.far and abs(ratio - 1) <= 0.05
        points.add(close, "visited instructions are near Linux 6.12's")
    if args.table:
        print('| object | program | 6.12 | skep | message |\n|---|---|---|---|---|')
        print('\n'.join(table))
    print(f'# {points.todo} programs wait for helpers, {points.skipped} points are skipped')
    print(f'1..{points.n}')
    return 1 if points.bad else 0


sys.exit(main())
