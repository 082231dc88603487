#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# compare.sh SHADOW LOADALL SHARED [OBJECT]...: loads each program of the objects into the running
# kernel, while skep's verifier looks at the same loads. TAP, one point an object: skep takes what
# the kernel takes, and refuses what it refuses. With COMPARE=all the whole corpus (minutes).
set -u
shadow=$1 loadall=$2 shared=$3
shift 3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0

for o in /usr/lib/*/bpf/*.o; do
	[ -f "$o" ] && set -- "$@" "$o"
done
if [ -d "$shared/corpus/objects" ]; then
	for o in "$shared"/corpus/objects/*/*.o; do
		case ${COMPARE:-some}:$o in
		all:* | *:*/linux/* | *:*/suricata/* | *:*/prototype-kernel/* | *:*/bpf_sock.o)
			set -- "$@" "$o" ;;
		esac
	done
else
	echo "# $shared/corpus is not there: its objects are skipped"
fi
if [ $# -eq 0 ]; then
	echo '1..0 # SKIP no objects'
	exit 0
fi

status=0
for o in "$@"; do
	n=$((n + 1))
	title="$(basename "$(dirname "$o")")/$(basename "$o")"
	: >"$work/out"
	SHADOW_OUT="$work/out" SHADOW_MIN=5 LD_PRELOAD="$shadow" "$loadall" "$o" >"$work/log" 2>&1
	same=$(grep -c '^same' "$work/out")
	diff=$(grep -c '^DIFF' "$work/out")
	if [ "$same" -eq 0 ] && [ "$diff" -eq 0 ]; then
		echo "ok $n - $title # SKIP the kernel loads nothing of it here"
	elif [ "$diff" -eq 0 ]; then
		echo "ok $n - $title: $same loads, same verdicts"
	else
		grep '^DIFF' "$work/out" | cut -c 1-200 | sed 's/^/# /'
		echo "not ok $n - $title: $diff of $((same + diff)) verdicts differ"
		status=1
	fi
done
echo "1..$n"
exit $status
