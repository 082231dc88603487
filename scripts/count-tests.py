#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Adds up meson's testlog.json files: every TAP subtest counts as one; one that is
known not to hold yet (TODO) as skipped. The last line is `N passed, N failed[, N skipped]`,
above it what failed and why; the exit status is 1 when something failed or nothing ran."""
import json
import re
import sys
from itertools import takewhile

POINT = re.compile(r"^(not )?ok\b(?:[^#]|\\#)*(?:#\s*(skip|todo)\b)?", re.I)


def count(test):
    """(passed, failed, skipped) of one test of meson's log. Its own result counts beyond its
    subtests: a program that crashed after its last `ok` is a failure."""
    passed = failed = skipped = 0
    for line in test.get("stdout", "").splitlines():
        point = POINT.match(line)
        mark = (point[2] or "").lower() if point else ""
        if mark == "skip" or (mark == "todo" and point[1]):
            skipped += 1
        elif point and point[1]:
            failed += 1
        elif point:
            passed += 1
    result = test["result"]
    if result == "SKIP":
        return passed, failed, max(skipped, 1)
    if result not in ("OK", "EXPECTEDFAIL"):
        return passed, max(failed, 1), skipped
    if not passed + failed + skipped:
        return 1, 0, 0
    return passed, failed, skipped


def reasons(test):
    """The points that failed, each with the comments around it (at most 5 before and behind);
    without such a point the last lines that the test printed."""
    lines = test.get("stdout", "").splitlines()
    shown = []
    for i, line in enumerate(lines):
        point = POINT.match(line)
        if not point or not point[1] or point[2]:
            continue
        before = list(takewhile(lambda s: s.startswith("#"), reversed(lines[max(i - 5, 0) : i])))
        behind = takewhile(lambda s: s.startswith("#"), lines[i + 1 : i + 6])
        shown += [*reversed(before), line, *behind]
    return shown or (lines + test.get("stderr", "").splitlines())[-5:]


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        try:
            with open(path, encoding="utf-8") as f:
                tests = [json.loads(line) for line in f]
        except OSError as e:
            print(f"count-tests: {path}: {e.strerror}")
            tests = []
        if not tests:
            print(f"count-tests: {path}: no test ran")
            total[1] += 1
        for test in tests:
            sums = count(test)
            total = [a + b for a, b in zip(total, sums)]
            if sums[1]:
                print(f"FAILED {path}: {test['name']}: {test['result']}, {sums[1]} failed")
                print("\n".join("    " + line for line in reasons(test)[:40]))
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
