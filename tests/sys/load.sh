#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# load.sh LOAD SHARED: every object of xdp-tools, and of the corpus beside the checkout, loads
# through the private libbpf. Programs that need what is not there yet are counted by name.
set -u
load=$1
corpus=$2/corpus/objects
table=$2/reference/kernel_x86.tsv
objects=$(ls /usr/lib/*/bpf/*.o 2>/dev/null)
if [ -d "$corpus" ]; then
	objects="$table $objects $(ls "$corpus"/*/*.o)"
else
	echo "# no $corpus: the corpus is left out"
fi
[ "$objects" ] || { echo "1..0 # SKIP no objects: neither package xdp-tools nor the corpus"; exit 0; }

# fentry and fexit need kernel BTF (part 6); the others call helpers of program types that part 1
# does not run (docs/helpers.md): sockets of cgroups, TCP, probes.
later='xdpdump_bpf.o trace_on_entry|xdpdump_bpf.o trace_on_exit'
later="$later|bpf_sock.o cil_sock.*|sock_flags_kern.o bpf_prog1|tcp_[a-z]*_kern.o bpf_.*"
later="$later|test_overhead_kprobe_kern.o prog|tracex1_kern.o bpf_prog1"

# shellcheck disable=SC2086
"$load" $objects 2>/dev/null | sed -E "s/^(not ok.* - ($later))$/\1 # TODO/"
