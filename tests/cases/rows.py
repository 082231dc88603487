# SPDX-License-Identifier: BSD-2-Clause
"""Usage: rows.py CASE... Which rows of the arm64 JIT the cases show, as TAP: each row has a case
that names it; each such case has arm64 code with and without blinding, and with and without landing
pads; and each row has all four combinations."""
import re
import sys

ROWS = [4, 6, 7, *range(12, 23)]
COMBINATIONS = {(blind, bti) for blind in (False, True) for bti in (False, True)}


def read(path):
    """The rows that a case names and the (blind, bti) pairs of its arm64 sections."""
    with open(path, encoding="utf-8") as f:
        about, *sections = re.split(r"^-- ", f.read(), flags=re.M)
    native = [s.split("\n", 1)[0].split() for s in sections if s.startswith("native arm64")]
    return {int(n) for n in re.findall(r"\bJ(\d+)\b", about)}, {
        ("blind" in words, "bti" in words) for words in native
    }


def lacks(have):
    """What is missing of both ways of both options."""
    words = ("blinding", "landing pads")
    return [
        f"no code with{'' if on else 'out'} {words[i]}"
        for i in (0, 1)
        for on in (False, True)
        if not any(pair[i] == on for pair in have)
    ]


def name(pair):
    return " ".join(w for w, on in zip(("blind", "bti"), pair) if on) or "plain"


def main():
    cases = {path: read(path) for path in sys.argv[1:]}
    n = 0
    for row in ROWS:
        here = {path: have for path, (rows, have) in cases.items() if row in rows}
        bad = [f"{path}: {why}" for path, have in here.items() for why in lacks(have)]
        if here:
            missing = COMBINATIONS - set.union(*here.values())
            bad += [f"no case has arm64 code: {name(pair)}" for pair in sorted(missing)]
        else:
            bad = ["no case names it"]
        n += 1
        for why in bad:
            print(f"# J{row}: {why}")
        print(f"{'not ok' if bad else 'ok'} {n} - J{row} in {len(here)} cases")
    print(f"1..{n}")


main()
