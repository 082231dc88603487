#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# cli.sh SKEP CAPTURE EXAMPLES TRACE.o MOVED.o: the command as its user sees it. TAP.
set -u
skep=$1 capture=$2 examples=$3 trace=$4 moved=$5
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
out=$work/out err=$work/err
n=0

ok() {
	n=$((n + 1))
	echo "ok $n - $1"
}

not_ok() {
	n=$((n + 1))
	sed 's/^/# out: /' "$out" | head -n 10
	sed 's/^/# err: /' "$err" | head -n 10
	echo "not ok $n - $1"
}

# gives TITLE STATUS PATTERN COMMAND...: the command ends with the status, and PATTERN (extended
# regular expression) is in what it printed. Status 2: on stderr, in one line, and nothing else.
gives() {
	title=$1 status=$2 pattern=$3
	shift 3
	"$@" >"$out" 2>"$err" </dev/null
	got=$?
	if [ $got != "$status" ]; then
		not_ok "$title: exit status $got, not $status"
	elif [ "$status" = 2 ] && { [ -s "$out" ] || [ "$(wc -l <"$err")" != 1 ]; }; then
		not_ok "$title: more than one line of message"
	elif [ "$status" = 2 ] && ! grep -Eq -- "$pattern" "$err"; then
		not_ok "$title: the message is not like: $pattern"
	elif [ "$status" = 0 ] && ! grep -Eq -- "$pattern" "$out"; then
		not_ok "$title: the output is not like: $pattern"
	else
		ok "$title"
	fi
}

# holds TITLE PATTERN: the last output also has this.
holds() {
	if grep -Eq -- "$2" "$out"; then ok "$1"; else not_ok "$1: no $2"; fi
}

absent() {
	if [ -e "$2" ]; then not_ok "$1: $2 is there"; else ok "$1"; fi
}

# Whether the kernel lets us make maps.
bpf_allowed() {
	"$skep" bench arr-inc --vs kernel --rounds 1 --slice 1 >/dev/null 2>&1
}

flow="$examples/xdp_flow.bpf.o"
firewall="$examples/xdp_firewall.bpf.o"
features="$examples/features.bpf.o"
nat="$examples/tc_nat.bpf.o"

gives "version" 0 '^skep [0-9]+\.[0-9]+\.[0-9]+$' "$skep" --version
gives "help" 0 '^  run +Runs' "$skep" --help
for command in '' run verify asm disasm dump test bench; do
	# shellcheck disable=SC2086
	gives "help of '$command' has an example" 0 '^Example: ' "$skep" $command --help
	if [ "$(wc -l <"$out")" -le 24 ] && ! grep -q '.\{81\}' "$out"; then
		ok "help of '$command' fits a screen"
	else
		not_ok "help of '$command' does not fit a screen"
	fi
done
gives "help of a command by its name" 0 '^skep run ' "$skep" help run
gives "no command" 2 'no command; .skep --help. lists them' "$skep"
gives "unknown command" 2 "unknown command 'rnu'; did you mean .skep run" "$skep" rnu
gives "unknown command without a likely one" 2 'skep --help' "$skep" frobnicate
gives "unknown option" 2 'run: unknown option --repaet; did you mean --repeat' \
	"$skep" run --repaet 3 "$flow"
gives "unknown letter" 2 'unknown option -z' "$skep" run -z "$flow"
gives "option without value" 2 '--repeat needs a value' "$skep" run "$flow" --repeat
gives "option with a bad number" 2 "takes a number from 1 on, not 'x1'" \
	"$skep" run "$flow" -n x1 -i "$capture"
gives "repeat 0" 2 'from 1 on' "$skep" run "$flow" -n 0 -i "$capture"
gives "flag with a value" 2 'takes no value' "$skep" run "$flow" --json=1 -i "$capture"
gives "no arguments" 2 'too few arguments; usage: skep run' "$skep" run
gives "too many arguments" 2 "unexpected argument 'b'" "$skep" run "$flow" b -i "$capture"
gives "arguments behind --" 2 '--nothing.*: ' "$skep" run -i "$capture" -- --nothing.o

gives "verdicts of the flow counter" 0 '^  XDP_PASS +156 ' "$skep" run "$flow" -i "$capture" --all
holds "its drops" '^  XDP_DROP +32 '
holds "packets that are too short" '^  not run +2 '
holds "time" 'time a packet +median [0-9]+ ns, middle half'
holds "that few packets say little of it" 'few packets, cold caches'
holds "flows by BTF" '\{family: FAMILY_IPV4, proto: 6, src4: 10.0.0.1, dst4: 192.0.2.80, src_port: 40000, dst_port: 443\}: \{packets: 10, bytes: 783\}'
holds "per-CPU values by slot" '^    slot [0-9]+: \{ipv4: \{packets: 98, bytes: 31632\}'
holds "per-CPU values summed" '^    sum: \{ipv4: \{packets: 98, bytes: 31632\}'
if [ -s "$err" ]; then not_ok "nothing to say"; else ok "nothing to say"; fi
gives "without verification" 0 '^  XDP_PASS +156 ' "$skep" run "$flow" -i "$capture" --unverified
if grep -q "program 'flow_count' is not verified (--unverified)" "$err"; then
	ok "says that the program is not verified"
else
	not_ok "says that the program is not verified"
fi
gives "without verification, JSON" 0 '"verified": false' \
	"$skep" run "$flow" -i "$capture" --unverified --json
gives "with verification, JSON" 0 '"verified": true' "$skep" run "$flow" -i "$capture" --json
gives "a dump without verification" 0 '\(95\) exit' "$skep" dump xlated "$flow" --unverified
if grep -q 'loaded without verification' "$err"; then
	ok "which the dump says"
else
	not_ok "which the dump says"
fi
gives "repeat multiplies" 0 '^  XDP_PASS +1,560 ' "$skep" run "$flow" -i "$capture" -n 10
gives "capture from standard input" 0 '^  XDP_PASS +156 ' sh -c "'$skep' run '$flow' <'$capture'"
gives "standard input cannot be repeated" 2 'cannot be repeated' \
	sh -c "'$skep' run '$flow' -n 2 <'$capture'"

if script -qec true /dev/null >/dev/null 2>&1; then
	gives "a progress bar on a terminal" 0 'running \[#* *\] +[0-9]+ %' env TERM=xterm \
		script -qec "'$skep' run '$flow' -i '$capture' -n 60000" /dev/null
else
	n=$((n + 1))
	echo "ok $n - a progress bar on a terminal # SKIP script(1) gets no terminal here"
fi
gives "no capture of that name" 2 'absent.pcap: No such file' \
	"$skep" run "$flow" -i "$work/absent.pcap"
gives "warns only of what runs" 2 'absent.pcap: No such file' \
	"$skep" run "$flow" -i "$work/absent.pcap" --unverified
gives "output to -" 2 '^skep: -: output goes to files' "$skep" run "$flow" -i "$capture" -o -
gives "trace to -" 2 '^skep: -: output goes to files' "$skep" run "$flow" -i "$capture" --trace -
gives "output" 0 'written +156 packets' "$skep" run "$flow" -i "$capture" -o "$work/passed.pcap"
gives "the output is a capture that passes" 0 '^  XDP_PASS +156 +100.0' \
	"$skep" run "$flow" -i "$work/passed.pcap"
gives "output to /dev/null" 0 'written +156' "$skep" run "$flow" -i "$capture" -o /dev/null
if [ -c /dev/null ]; then ok "/dev/null is still a device"; else not_ok "/dev/null is gone"; fi
gives "output in a directory that is not there" 2 'no/such/x.pcap: cannot be written' \
	"$skep" run "$flow" -i "$capture" -o "$work/no/such/x.pcap"
if [ -c /dev/full ]; then
	gives "output to a full disk" 2 '/dev/full: cannot be written: No space' \
		"$skep" run "$flow" -i "$capture" -o /dev/full
	gives "results to a full disk" 2 'standard output: No space' \
		sh -c "'$skep' run '$flow' -i '$capture' >/dev/full"
fi
gives "results to a closed stream" 2 'standard output: Bad file descriptor' \
	sh -c "'$skep' run '$flow' -i '$capture' -o '$work/closed.pcap' >&-"
head -c 5000 "$capture" >"$work/cut.pcap"
gives "a capture that is cut off" 2 'cut.pcap: cut off within packet [0-9]+; the [0-9]+ before it' \
	"$skep" run "$flow" -i "$work/cut.pcap" -o "$work/from_cut.pcap"
absent "leaves no output" "$work/from_cut.pcap"

gives "several programs" 2 'handle_ipv4' "$skep" run "$features" -i "$capture"
gives "a program that is not there" 2 'classify' "$skep" run "$features" -p clasify -i "$capture"
gives "global variables" 0 '^  handled_as: \[67, 50, 67\]' \
	"$skep" run "$features" -p classify -i "$capture"
holds "tail calls" '^  XDP_TX +50 '
hash=$(grep hash_of_all "$out")
gives "a variable that was set" 0 'hash_of_all' \
	"$skep" run "$features" -p classify -i "$capture" --set limit=4
if grep -qF "$hash" "$out"; then not_ok "it had an effect"; else ok "it had an effect"; fi
gives "a variable that is not there" 2 "no variable 'limt'; did you mean 'limit'" \
	"$skep" run "$features" -p classify -i "$capture" --set limt=4
gives "a value that does not fit" 2 "'5000000000': expected a smaller number" \
	"$skep" run "$features" -p classify -i "$capture" --set limit=5000000000

gives "deny list" 0 '\{prefix_len: 24, addr: 198.51.100.0\}: \{hits: 9\}' \
	"$skep" run "$firewall" -i "$capture" --map 'deny4 24,198.51.100.0 0' --type drops=drop \
	--map 'deny6 prefix_len=48,addr=2001:db8:bad:: 0'
holds "the other deny list" '2001:db8:bad::\}: \{hits: 8\}'
holds "drops by BTF" '\{reason: DENIED, bytes: 54, src: ::ffff:198.51.100.7'
printf '# denied\n\ndeny4 24,198.51.100.0 hits=5\n' >"$work/maps"
gives "map file" 0 'hits: 14' "$skep" run "$firewall" -i "$capture" --map-file "$work/maps"
echo 'deny4 24' >>"$work/maps"
gives "a bad line of the map file" 2 'maps:4: .deny4 24.: expected MAP KEY VALUE' \
	"$skep" run "$firewall" -i "$capture" --map-file "$work/maps"
gives "an unknown map" 2 "no map 'deny5'; did you mean 'deny" \
	"$skep" run "$firewall" -i "$capture" --map 'deny5 1 1'
gives "a map unlike any" 2 "no map 'unheard_of'; the object has: .*deny4" \
	"$skep" run "$firewall" -i "$capture" --map 'unheard_of 1 1'
gives "a bad address" 2 "'198.51.100': expected an IPv4 address for addr" \
	"$skep" run "$firewall" -i "$capture" --map 'deny4 24,198.51.100 0'
gives "an unknown struct" 2 "no struct 'dorp'" \
	"$skep" run "$firewall" -i "$capture" --type drops=dorp

gives "address rewriting" 0 'sum: \{sources: 22' \
	"$skep" run "$nat" -i "$capture" --map 'sources 10.0.0.1 203.0.113.1' -o "$work/nat.pcap"
gives "the rewritten packets" 0 'src4: 203.0.113.1, dst4: 192.0.2.80' \
	"$skep" run "$flow" -i "$work/nat.pcap" --all
if grep -q 'src4: 10.0.0.1,' "$out"; then not_ok "no old address"; else ok "no old address"; fi

gives "hardened, the same happens" 0 'sum: \{sources: 22' \
	"$skep" run "$nat" -i "$capture" --map 'sources 10.0.0.1 203.0.113.1' -o "$work/hard.pcap" \
	--harden --private-stacks
if cmp -s "$work/nat.pcap" "$work/hard.pcap"; then ok "to the same packets"; else
	not_ok "to the same packets"; fi
gives "hardened code is blinded and has landing pads" 0 '24 24 03 d5|bti jc' \
	"$skep" dump jited "$flow" --arch arm64 --harden

gives "an unknown rewrite" 2 "there is no rewrite 'divde'; there are .*divide" \
	"$skep" run "$flow" -i "$capture" --no-inline divde
gives "an unknown rewrite to stop after" 2 "there is no rewrite 'nothing'; there are .*divide" \
	"$skep" dump xlated "$flow" --after nothing
gives "divisions are rewritten" 0 'w11 = -252645135$' \
	"$skep" dump xlated "$trace"
gives "and stay when that is left out" 0 'w[0-9] /= 17$' \
	"$skep" dump xlated "$trace" --no-inline divide

gives "hardening" 0 '^  XDP_PASS ' "$skep" run "$flow" -i "$capture" --harden
gives "source lines" 0 '^; .*features.bpf.c:[0-9]+$|^; [^ ]' "$skep" dump xlated "$features" -p classify

gives "trace output and verdicts of a socket filter" 0 '^  keep +[0-9]+' \
	"$skep" run "$trace" -i "$capture" --trace "$work/trace" --all
holds "bit fields, enums, text, booleans, signs" \
	'141: \{bits: \{low: 13, high: 8, rest: 1\}, size: SIZE_LARGE, name: "len", odd: true, negative: -141\}'
holds "queue" '^map first \(queue'
if [ "$(grep -c 'length [0-9]' "$work/trace")" = "$(grep -Eo '^  (keep|drop) +[0-9]+' "$out" |
	awk '{ s += $2 } END { print s }')" ]; then
	ok "one line of trace for each run"
else
	not_ok "one line of trace for each run"
fi

gives "JSON" 0 '"verdicts": \[' "$skep" run "$firewall" -i "$capture" --json \
	--map 'deny4 24,198.51.100.0 0' --type drops=drop -o "$work/json.pcap"
if command -v python3 >/dev/null; then
	cat >"$work/look.py" <<'PYTHON'
import json, sys
r = json.load(sys.stdin)
assert r["program"] == {"name": "firewall", "type": "xdp", "verified": r["program"]["verified"]}
counts = {v["name"]: v["packets"] for v in r["verdicts"]}
assert sum(counts.values()) == r["capture"]["packets"] == 188, counts
assert r["not_run"]["packets"] == 2
assert r["output"]["packets"] == counts["XDP_PASS"]
assert r["time_ns"]["p10"] <= r["time_ns"]["median"] <= r["time_ns"]["p90"]
maps = {m["name"]: m for m in r["maps"]}
assert maps["deny4"]["entries"] == [{"key": {"prefix_len": 24, "addr": "198.51.100.0"},
                                     "value": {"hits": 9}}]
assert maps["drops"]["records"] == counts["XDP_DROP"] == len(maps["drops"]["events"])
print("all there")
PYTHON
	python3 "$work/look.py" <"$out" >"$work/looked" 2>&1
	cp "$work/looked" "$err"
	if grep -q 'all there' "$work/looked"; then ok "JSON holds what the text says"; else
		not_ok "JSON holds what the text says"; fi
else
	n=$((n + 1))
	echo "ok $n - JSON holds what the text says # SKIP no python3"
fi

printf 'r0 = 2\nexit\n' >"$work/pass.s"
gives "asm" 0 '' sh -c "'$skep' asm '$work/pass.s' -o '$work/pass.bin' && echo"
gives "disasm" 0 '^[[:space:]]*r0 = 2' "$skep" disasm "$work/pass.bin"
gives "dump xlated of text" 0 '0: \(b7\) r0 = 2' "$skep" dump xlated "$work/pass.s"
gives "dump xlated of instructions" 0 '0: \(b7\) r0 = 2' "$skep" dump xlated "$work/pass.bin"
gives "dump xlated of an object" 0 'call bpf_map_lookup_elem|\(85\) call' "$skep" dump xlated "$flow"
gives "dump xlated names the maps" 0 '^; map\[id:[0-9]+\] is flows$' "$skep" dump xlated "$flow"
gives "signed returns of x86-64" 2 'only arm64 signs' "$skep" dump jited "$flow" --arch x86_64 --pac
gives "dump jited of an object" 0 '[0-9a-f]{2} [0-9a-f]{2}' "$skep" dump jited "$flow" --hex
gives "dump jited for arm64" 0 'c0 03 5f d6' "$skep" dump jited "$work/pass.s" --hex --arch arm64
if "$skep" dump jited "$work/pass.s" >"$out" 2>"$err"; then
	holds "native code as text" 'ret'
else
	n=$((n + 1))
	echo "ok $n - native code as text # SKIP $(cat "$err")"
fi
gives "source lines without text" 0 '^; /nowhere/.*xdp_flow.bpf.c:[0-9]+$' "$skep" dump jited "$moved" --arch arm64
# lines_are_shown ARCH OBJECT: native code has the source lines that the operations have.
lines_are_shown() {
	"$skep" dump xlated "$2" >"$work/xlated" 2>"$err"
	"$skep" dump jited "$2" --arch "$1" >"$out" 2>"$err" || return
	lines=$(grep -v '^; map\[' "$work/xlated" | grep -c '^;')
	[ "$lines" -gt 10 ] && [ "$(grep -c '^; .*\.[ch]:[0-9]' "$out")" = "$lines" ]
}

for arch in arm64 x86_64; do
	title="source lines stand above $arch code"
	if lines_are_shown $arch "$flow"; then
		ok "$title"
	elif grep -q "LLVM" "$err"; then
		n=$((n + 1))
		echo "ok $n - $title # SKIP $(cat "$err")"
	else
		not_ok "$title"
	fi
done
printf 'One.\n\n-- asm\nr0 = 1\nexit\n\n-- native arm64\n...\n{{mov w[0-9]}}, #1\n...\n\n-- run\n-- result\nr0 = 2\n' >"$work/one.case"
gives "a case that is not so" 1 '^# r0 = 1' "$skep" test "$work/one.case"
gives "... although its code is" 1 '^ok 1 - .*native arm64' "$skep" test "$work/one.case"
gives "a case that is blessed" 0 '^# blessed' "$skep" test --bless "$work/one.case"
gives "... is so from then on" 0 '^ok 2 - .*run' "$skep" test "$work/one.case"
gives "... and keeps what was right" 0 'mov w\[0-9\]' cat "$work/one.case"
printf 'r0 = 1\n' >"$work/none.case"
printf 'text\n\n-- asm\nr0 = 1\nexit\n\n-- native x86_64 blnd\n...\n' >"$work/word.case"
gives "a case with a word that there is not" 1 '^not ok 1 - .*blnd' "$skep" test "$work/word.case"
gives "a case without a program" 1 "no section '-- asm'" "$skep" test "$work/none.case"
gives "dump writes the image" 0 '40 00 80 52 c0 03 5f d6' sh -c "'$skep' dump jited '$work/pass.s' --arch arm64 --raw '$work/pass.img' && od -An -tx1 '$work/pass.img'"
gives "an unknown stage" 2 "did you mean jited" "$skep" dump jitted "$flow"
gives "an unknown target" 2 "no target 'mips'" "$skep" dump jited "$flow" --arch mips
printf 'r0 = 2\nr11 = frob\n' >"$work/bad.s"
gives "bad text" 2 'bad.s:2:' "$skep" asm "$work/bad.s" -o "$work/bad.bin"
absent "leaves no output" "$work/bad.bin"
printf 'abc' >"$work/odd.bin"
gives "instructions of an odd length" 2 'odd.bin' "$skep" disasm "$work/odd.bin"
gives "asm without output" 2 'say -o' "$skep" asm "$work/pass.s"

# What is read is not overwritten by another thing, and what is killed leaves nothing.
gives "asm spares its input" 2 'is the input as well' "$skep" asm "$work/pass.s" -o "$work/pass.s"
cp "$flow" "$work/object.o" && cp "$capture" "$work/in.pcap" && ln "$work/in.pcap" "$work/too.pcap"
gives "run spares the object" 2 'object.o: is the input' \
	"$skep" run "$work/object.o" -i "$capture" -o "$work/object.o"
gives "the trace spares the capture" 2 'too.pcap: is the input' \
	"$skep" run "$flow" -i "$work/in.pcap" --trace "$work/too.pcap"
gives "the capture is whole" 0 '188 packets' "$skep" run "$flow" -i "$work/in.pcap"
gives "-o replaces the capture" 0 '188 packets' \
	"$skep" run "$flow" -i "$work/in.pcap" -o "$work/in.pcap"
mkdir "$work/empty"
timeout -s KILL 1 "$skep" run "$flow" -i "$capture" -o "$work/empty/out.pcap" -n 100000000 \
	>"$out" 2>"$err"
if rmdir "$work/empty" 2>/dev/null; then
	ok "a killed run leaves nothing"
elif python3 -c 'import os, sys; os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY)' "$work"; then
	not_ok "a killed run leaves something"
else
	n=$((n + 1))
	echo "ok $n - a killed run leaves nothing # SKIP no files without names in $work"
fi

# Programs are in the command, so it measures wherever it is.
gives "bench lists what it measures" 0 '^hash-inc$' "$skep" bench --list
gives "bench measures" 0 '^lru_hash-evict-1k +2 +[0-9]' \
	"$skep" bench arr-inc 'lru_hash-*-1k' -p 1,2 --rounds 1 --slice 1
gives "bench prints JSON" 0 '"mops": [0-9]' \
	"$skep" bench glob-arr-inc --both --rounds 1 --slice 1 --json
holds "bench says what rewrites gain" '"gain": [0-9]'
if bpf_allowed; then
	gives "bench compares with the kernel" 0 '"ratio": [0-9.]+' \
		"$skep" bench hash-update-1k --vs kernel --rounds 1 --slice 1 --json
else
	n=$((n + 1))
	echo "ok $n - bench compares with the kernel # SKIP bpf(2) is not allowed"
fi
gives "bench knows what it measures" 2 "no benchmark 'nothing'" "$skep" bench nothing
gives "bench takes numbers of producers" 2 'not a list of numbers' "$skep" bench arr-inc -p 1,x
gives "bench knows rewrites" 2 "no rewrite 'nothing'" "$skep" bench arr-inc --no-inline nothing
echo "1..$n"
