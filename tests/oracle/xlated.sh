#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# xlated.sh SKEP OBJECT...: `skep dump xlated` is written as bpftool writes the running kernel's
# programs: each kind of line (numbers and registers left out) that skep prints is one that bpftool
# prints of the same objects, but for what only skep's rewrites make, which is listed here. TAP.
set -u
skep=$1
shift
work=$(mktemp -d) || exit 2
pins=/sys/fs/bpf/skep-xlated-$$
trap 'rm -rf "$work"; rm -rf "$pins" 2>/dev/null' EXIT
if ! command -v bpftool >/dev/null; then
	echo '1..0 # SKIP bpftool is not installed'
	exit 0
fi
mkdir "$pins" 2>/dev/null || mount -t bpf bpf /sys/fs/bpf 2>/dev/null && mkdir -p "$pins" 2>/dev/null
if [ ! -d "$pins" ]; then
	echo '1..0 # SKIP there is no bpf file system here'
	exit 0
fi

# The kinds of instruction lines. A number is N, hexadecimal X, a register R; calls lose their name.
shapes() {
	grep -E '^ *[0-9]+: \(' | sed -E 's/^ *[0-9]+: //; s/#.*//; s/bpf_[a-z0-9_]+$/H/
		s/0x[0-9a-f]+/X/g; s/\b[rw]1?[0-9]\b/R/g; s/-?\b[0-9]+\b/N/g; s/\+N/N/g; s/^\(N/(N/
		s/^\([0-9a-fN]+\)/(op)/; s/ (s>|s<|s>=|s<=|==|!=|>|<|>=|<=|&) / ? /
		s/ (\+|-|\*|\/|%|&|\||\^|<<|>>|s>>|s\/|s%)?= / = /' | sort -u
}

# The offsets of direct values, each map under the number of its first place.
maps() {
	grep -o 'map\[id:[0-9]*\]\[0\]+[0-9]*' "$1" |
		awk -F '[:\\]+]' '{ if (!($2 in at)) at[$2] = ++k; print at[$2], $NF }'
}

# What only skep has: 64-bit products' upper halves, per-CPU addresses, calls of the engine's functions.
own='\*h=|__percpu|call direct'
n=0
for object in "$@"; do
	name=$(basename "$object" .bpf.o)
	rm -rf "${pins:?}/$name"
	mkdir "$pins/$name"
	if ! bpftool prog loadall "$object" "$pins/$name" >"$work/err" 2>&1; then
		n=$((n + 1))
		echo "ok $n - $name # SKIP the kernel refuses it: $(tail -n 1 "$work/err")"
		continue
	fi
	for pin in "$pins/$name"/*; do
		bpftool prog dump xlated pinned "$pin"
	done >>"$work/kernel"
	for pin in "$pins/$name"/*; do
		n=$((n + 1))
		program=$(basename "$pin")
		if ! "$skep" dump xlated "$object" -p "$program" >"$work/skep" 2>"$work/err"; then
			sed 's/^/# /' "$work/err"
			echo "not ok $n - $name $program: skep cannot load it"
			continue
		fi
		cat "$work/skep" >>"$work/all"
		bpftool prog dump xlated pinned "$pin" >"$work/one"
		# Subprograms, in order: bpftool prints "TYPE NAME(PARAMETERS):".
		subs=$(sed -nE 's/^([A-Za-z_][A-Za-z0-9_]*):$/\1/p' "$work/skep" | tr '\n' ' ')
		theirs=$(sed -nE 's/^[^;(]*[ *]([A-Za-z_0-9]+)\(.*\):$/\1/p' "$work/one" | tr '\n' ' ')
		if [ "$subs" = "$theirs" ]; then
			echo "ok $n - $name $program: subprograms by name: $subs"
		else
			echo "not ok $n - $name $program: subprograms: $subs; bpftool: $theirs"
		fi
		n=$((n + 1))
		if [ "$(maps "$work/skep")" = "$(maps "$work/one")" ]; then
			echo "ok $n - $name $program: map values by id and offset"
		else
			echo "not ok $n - $name $program: map values by id and offset"
		fi
	done
done
n=$((n + 1))
if [ ! -s "$work/kernel" ]; then
	echo "ok $n - kinds of lines # SKIP the kernel does not allow bpf(2) here"
else
	shapes <"$work/kernel" >"$work/theirs"
	shapes <"$work/all" | grep -vE "$own" >"$work/ours"
	if comm -13 "$work/theirs" "$work/ours" | sed 's/^/# /' | grep .; then
		echo "not ok $n - every kind of line is one of bpftool's"
	else
		echo "ok $n - every kind of line is one of bpftool's: $(wc -l <"$work/ours") kinds"
	fi
fi
echo "1..$n"
