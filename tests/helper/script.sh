#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# script.sh SCRIPT_KERNEL SCRIPT_SKEP OBJECT_DIR [COUNT [SEED]]: the kernel and skep run the same random
# scripts of helper calls; results, packets and contexts are to be the same. TAP; without bpf(2)
# everything is skipped and says so.
set -u
kernel=$1 skep=$2 objects=$3 count=${4:-1500} seed=${5:-1}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0

point() {
	n=$((n + 1))
	echo "$1 $n - $2"
}

# compare OBJECT PROGRAM
compare() {
	object=$objects/$1
	shift
	"$kernel" "$object" "$1" "$count" "$seed" >"$work/kernel" 2>"$work/err"
	status=$?
	if [ $status = 77 ]; then
		point ok "$1 # SKIP the kernel does not allow bpf(2) here"
		return
	elif [ $status != 0 ]; then
		point ok "$1 # SKIP the kernel refuses the program: $(tail -n 1 "$work/err")"
		return
	fi
	if ! "$skep" "$object" "$1" "$count" "$seed" >"$work/skep" 2>"$work/err"; then
		tail -n 20 "$work/err" | sed 's/^/# /'
		point 'not ok' "$1: skep cannot run it"
		return
	fi
	if cmp -s "$work/kernel" "$work/skep"; then
		point ok "$1: $count runs are the same"
	else
		diff "$work/kernel" "$work/skep" | cut -c 1-400 | head -n 12 | sed 's/^/# /'
		point 'not ok' "$1: $(diff "$work/kernel" "$work/skep" | grep -c '^<') of $count runs differ"
	fi
}

for program in script_tc script_lwt script_socket script_cgroup script_xdp script_frags; do
	compare script.bpf.o "$program"
done
compare calls.bpf.o script_calls
echo "1..$n"
