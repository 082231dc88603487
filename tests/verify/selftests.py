#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""selftests.py SCRATCH [--table DOC]: reads what selftests.sh left in SCRATCH and prints what
disagrees with Linux 6.12, then the sums. --table puts the disagreements, with their reasons, between
the marks of DOC (docs/compat.md).

Reasons are rows of reasons.txt beside this file: a pattern and a reason, separated by a tab. A
pattern that begins with ~ is searched for in what was printed of the test, others are a shell pattern
of OBJECT/PROGRAM or of test_verifier/NAME; the first that fits counts. Exit status 1 when a
disagreement has no reason.
"""
import argparse, fnmatch, os, re, sys

BEGIN, END = '<!-- selftests begin -->', '<!-- selftests end -->'


class Test:
    def __init__(self, outcome, group, name, step, detail):
        self.outcome, self.group, self.name, self.step = outcome, group, name, step
        self.detail = detail


def annotated(path):
    rows = [line.rstrip('\n').split('\t') for line in open(path, errors='replace')]
    return [Test(r[0], r[1].removesuffix('.o'), r[2], r[4], f'type {r[3]} {r[5]}')
            for r in rows if len(r) == 6], \
        [r[0] for r in rows if r[0].startswith('#')]


# What test_verifier says of a failure, and what that is.
FAILURES = (
    ('Failed to create map', 'absent'),
    ('Unexpected success to load', 'verdict'),
    ('Failed to load prog', 'verdict'),
    ('Unexpected error message', 'message'),
    ('Unexpected verifier log', 'message'),
    ('Unexpected insn_processed', 'message'),
    ('retval', 'retval'),
    ('subsequence', 'xlated'),
)


def verifier_outcome(text):
    first = text.split('\n')[0]
    if ' SKIP' in first:
        return 'absent'
    if re.search(r' OK( \(.*\))?$', first) and 'FAIL' not in text:
        return 'ok'
    return next((kind for what, kind in FAILURES if what in text), 'verdict')


def verifier(path):
    text = open(path, errors='replace').read()
    tests = []
    for part in re.split(r'(?m)^(?=#\d+/[pu] |Summary: )', text):
        m = re.match(r'#\d+/p (.*?) ?(Failed to create map.*|Did not run.*|OK.*|FAIL.*|SKIP.*)?\n',
                     part)
        if not m:
            continue
        exp = re.search(r'EXP: (.*)', part)
        skip = re.compile(r'processed \d|verification time|stack depth|; skep: |func#|#?Summary|'
                          r'EXP: |RES:|FAIL|Unexpected|Failed to|\s*$')
        said = [s.strip() for s in part.split('\n')[1:] if not skip.match(s.strip())]
        detail = (f'wants "{exp.group(1).strip()}"; ' if exp else '') + (said[-1] if said else '')
        tests.append(Test(verifier_outcome(part), 'test_verifier', m.group(1), 'table', detail))
    return tests


def reasons():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'reasons.txt')
    with open(path) as f:
        return [line.rstrip('\n').split('\t') for line in f
                if line.strip() and not line.startswith('#')]


def reason(test, rows):
    name = f'{test.group}/{test.name}'
    for pattern, why in rows:
        if pattern[0] == '~':
            m = re.search(pattern[1:], test.detail)
            if m:
                return m.expand(why)
        elif fnmatch.fnmatchcase(name, pattern):
            return why
    return ''


def share(part, whole):
    return f'{part} of {whole} ({100 * part / whole:.1f} %)' if whole else '0 of 0'


def verifier_sum(tests):
    def n(*kinds):
        return sum(t.outcome in kinds for t in tests)
    verdicts = len(tests) - n('verdict', 'absent')
    return (f'# test_verifier, privileged: verdicts {share(verdicts, len(tests))}, with messages '
            f'{share(verdicts - n("message"), len(tests))}; {n("retval", "xlated")} other results, '
            f'{n("absent")} not tried')


def table(tests, rows, sums):
    groups = {}
    for t in tests:
        if t.outcome != 'ok':
            groups.setdefault((t.step, t.group, t.outcome, reason(t, rows)), []).append(t.name)
    lines = ['```', *(s.lstrip('# ') for s in sums), '```', '',
             '| step | object | what differs | programs | why |', '|---|---|---|---|---|']
    for (step, group, outcome, why), names in sorted(groups.items()):
        listed = ', '.join(n.replace('|', '\\|') for n in names)
        lines.append(f'| {step} | {group} | {outcome} | {len(names)}: {listed} | {why} |')
    return '\n'.join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('scratch')
    p.add_argument('--table')
    args = p.parse_args()
    tests, sums = annotated(os.path.join(args.scratch, 'annotated'))
    runs = verifier(os.path.join(args.scratch, 'test_verifier.out'))
    sums.append(verifier_sum(runs))
    rows, unexplained = reasons(), 0
    for t in tests + runs:
        if t.outcome != 'ok':
            why = reason(t, rows)
            unexplained += not why
            print(f'{t.outcome} {t.step} {t.group}/{t.name}: {t.detail} [{why or "NO REASON"}]')
    print('\n'.join(sums))
    print(f'# {unexplained} without a reason')
    if args.table:
        with open(args.table) as f:
            doc = f.read()
        before, after = doc.split(BEGIN)[0], doc.split(END)[1]
        with open(args.table, 'w') as f:
            f.write(f'{before}{BEGIN}\n{table(tests + runs, rows, sums)}\n{END}{after}')
    return 1 if unexplained else 0


sys.exit(main())
