#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# verify.sh SKEP CAPTURE EXAMPLES REFUSED.o: `skep verify`, and what becomes of refused programs. TAP.
set -u
skep=$1 capture=$2 examples=$3 refused=$4
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
out=$work/out err=$work/err
n=0

point() {
	n=$((n + 1))
	[ "$1" = ok ] || { sed 's/^/# out: /' "$out" | head -n 30; sed 's/^/# err: /' "$err" | head -n 10; }
	echo "$1 $n - $2"
}

# gives TITLE STATUS COMMAND...: the command ends with the status.
gives() {
	title=$1 status=$2
	shift 2
	"$@" >"$out" 2>"$err" </dev/null
	got=$?
	if [ $got = "$status" ]; then point ok "$title"; else
		point 'not ok' "$title: exit status $got, not $status"; fi
}

# has TITLE FILE PATTERN: one of its lines is like this.
has() {
	if grep -Eq -- "$3" "$2"; then point ok "$1"; else point 'not ok' "$1: no $3"; fi
}

# lacks TITLE FILE PATTERN
lacks() {
	if grep -Eq -- "$3" "$2"; then point 'not ok' "$1: $3"; else point ok "$1"; fi
}

gives "examples are accepted" 0 "$skep" verify "$examples"/*.bpf.o
has "the table" "$out" '^  program +type +verdict +insns +states +peak +time$'
has "a row" "$out" '^  flow_count +xdp +accepted +[0-9,]+ +[0-9,]+ +[0-9,]+ +[0-9.]+ (us|ms|s)$'
has "programs that others tail-call into" "$out" '^  handle_ipv4 +xdp +accepted '
has "the sum" "$out" '^[0-9]+ programs: [0-9]+ accepted, 0 rejected; '

gives "one program that is refused" 1 "$skep" verify "$refused" -p no_null_check
has "its row" "$out" '^  no_null_check +xdp +rejected '
has "the kernel's line" "$out" "^      R0 invalid mem access 'map_value_or_null'$"
has "what it means" "$out" 'the pointer may be NULL here'
has "where, with the source" "$out" 'where: no_null_check\(\), insn [0-9]+ \(.*\), refused.bpf.c:[0-9]+: c->packets'
has "where the value came from" "$out" 'r0: map_value_or_null\(.*\), from insn [0-9]+ \(call bpf_map_lookup_elem#1\), refused.bpf.c:[0-9]+: struct counts'
has "what is accepted" "$out" 'accepted: compare it with 0'
lacks "no log unless asked for" "$out" '^processed '
lacks "others are left out" "$out" 'no_bounds_check'

gives "one refused program stops no other, one map that is not there does" 2 "$skep" verify "$refused"
has "accepted" "$out" '^  accepted +xdp +accepted '
has "refused" "$out" '^  no_bounds_check +xdp +rejected '
has "refused too" "$out" '^  leak +sched_cls +rejected '
has "the reference" "$out" 'acquired by insn [0-9]+ \(call bpf_ringbuf_reserve#131\), refused.bpf.c'
has "not tried" "$out" '^  redirect +sk_skb +not tried '
has "since a map cannot be made" "$out" "map 'sockets', which it uses, cannot be made"
has "counted" "$out" '^5 programs: 1 accepted, 3 rejected, 1 not tried; '

gives "the log" 1 "$skep" verify "$refused" -p leak -v
has "of the path" "$out" '^[0-9]+: \(85\) call bpf_ringbuf_reserve#131'
has "with the source" "$out" '^; .*bpf_ringbuf_reserve.* @ refused.bpf.c:[0-9]+$'
has "the figures" "$out" '^processed [0-9]+ insns \(limit 1000000\)'
if [ "$(grep -n '^processed ' "$out" | cut -d: -f1)" -lt "$(grep -n '^; skep: ' "$out" | head -n 1 | cut -d: -f1)" ]; then
	point ok "ours stands behind"
else
	point 'not ok' "ours stands behind"
fi
gives "every state" 0 "$skep" verify "$refused" -p accepted -l 2
has "functions" "$out" '^func#0 @0$'

gives "a program that is not there" 2 "$skep" verify "$refused" -p nothing
gives "an object that is not there" 2 "$skep" verify "$work/none.o" "$refused" -p accepted
has "is told of" "$err" '^skep: .*none.o: '
has "and stops no other" "$out" '^  accepted +xdp +accepted '
gives "no object" 2 "$skep" verify

if command -v python3 >/dev/null; then
	cat >"$work/look.py" <<'PYTHON'
import json, sys
rows = json.load(open(sys.argv[1]))["programs"]
keys = ["object", "name", "type", "verdict", "visited_insns", "states", "peak_states", "usec",
        "message"]
assert all(list(r) == keys for r in rows), rows
by = {r["name"]: r for r in rows}
assert list(by) == ["accepted", "no_null_check", "no_bounds_check", "leak", "redirect"], by
assert [r["verdict"] for r in rows] == ["accepted"] + 4 * ["rejected"]
assert all(r["visited_insns"] > 0 and r["usec"] >= 0 for r in rows[:4])
assert by["accepted"]["message"] == ""
assert by["leak"]["message"].startswith("Unreleased reference id=")
assert "refused.bpf.c:" in by["leak"]["message"]
assert "sockets" in by["redirect"]["message"]
PYTHON
	gives "JSON" 2 "$skep" verify --json "$refused"
	cp "$out" "$work/json"
	gives "which holds what the issue says" 0 python3 "$work/look.py" "$work/json"
	odd=$work/$(printf 'gr\303\274n \360\237\220\235 \303\050 \377\001\302\205').o
	cp "$refused" "$odd"
	cat >"$work/text.py" <<'PYTHON'
import json, sys
text = open(sys.argv[1], "rb").read()
name = json.loads(text.decode())["programs"][0]["object"]
want = "gr\u00fcn \U0001f41d \ufffd( \ufffd\u0001\u0085.o"
assert name.endswith(want), name
assert b"gr\303\274n" in text and b"\302\205" not in text, text
PYTHON
	gives "JSON with a name that is not ASCII" 1 "$skep" verify --json "$odd" -p leak
	cp "$out" "$work/json"
	gives "is UTF-8" 0 python3 "$work/text.py" "$work/json"
	gives "JSON of what is refused" 1 "$skep" verify --json "$refused" -p leak
	gives "JSON of what is accepted" 0 "$skep" verify --json "$refused" -p accepted
else
	point ok "JSON # SKIP no python3"
fi

if script -qec true /dev/null >/dev/null 2>&1; then
	gives "on a terminal" 0 env TERM=xterm script -qec "'$skep' verify '$examples/xdp_flow.bpf.o'" /dev/null
else
	point ok "on a terminal # SKIP script(1) gets no terminal here"
fi

# What is refused does not run.
cat >"$work/bad.s" <<'ASM'
r0 = *(u64 *)(r0 + 0)
exit
ASM
gives "run refuses" 2 "$skep" run "$refused" -p leak -i "$capture"
has "in the kernel's words" "$err" "^skep: .*refused.o: prog '.*: R0 invalid mem access 'map_value_or_null'|cannot be made|failed to create"
echo "1..$n"
