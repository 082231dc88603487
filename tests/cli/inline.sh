#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# inline.sh SKEP INLINE.o: what inlined look-ups look like in dumps, for both targets. TAP.
set -u
skep=$1 object=$2
n=0 bad=0

# is TITLE STATUS: a point.
is() {
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; bad=1; fi
}

# A dump of a program without its source lines.
dump() {
	"$skep" dump "$@" "$object" | grep -v '^;.*@'
}

# Instructions that lock a line or take one exclusively.
atomic='lock|xchg|[^a-z](cas|swp|ld(add|clr|set|eor)|ldx|ldax|stx|stlx)[a-z]* '

for program in by_cpu by_queue at_three by_hash by_lru by_percpu_hash; do
	dump xlated -p $program >/dev/null && ! dump xlated -p $program | grep -q 'call bpf_'
	is "$program: no helper is called" $?
	dump xlated -p $program --no-inline lookup_array --no-inline lookup_percpu_array \
		--no-inline lookup_hash --no-inline lookup_percpu_hash |
		grep -q 'call bpf_map_lookup_elem#1'
	is "$program: it is when that is left out" $?
	[ "$(dump xlated -p $program | grep -c 'if r0 ')" -le 1 ]
	is "$program: the result is tested once at most" $?
	for arch in x86_64 arm64; do
		dump jited -p $program --arch $arch >/dev/null &&
			! dump jited -p $program --arch $arch | grep -Eq "$atomic"
		is "$program: nothing is locked on $arch" $?
	done
done
for program in by_cpu by_queue at_three; do
	! dump xlated -p $program | grep -q call
	is "$program: nothing is called" $?
done
! dump xlated -p at_three | grep -q 'if '
is "at_three: nothing is tested" $?
echo "1..$n"
exit $bad
