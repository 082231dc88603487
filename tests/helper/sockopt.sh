#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# sockopt.sh SOCKOPT_KERNEL SOCKOPT_SKEP OBJECT_DIR [COUNT [SEED]]: the kernel's sockets and skep's
# stand-ins answer the same to random calls of bpf_setsockopt and bpf_getsockopt. TAP.
set -u
kernel=$1 skep=$2 object=$3/sockopt.bpf.o count=${4:-200} seed=${5:-1}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
echo 1..1
"$skep" "$object" "$count" "$seed" >"$work/skep" 2>"$work/err" || {
	sed 's/^/# /' "$work/err"
	echo 'not ok 1 - skep runs it'
	exit 1
}
"$kernel" "$object" "$count" "$seed" >"$work/kernel" 2>"$work/err"
if [ $? != 0 ]; then
	echo "ok 1 - socket options # SKIP the kernel does not allow the program here: $(tail -n 1 "$work/err")"
elif cmp -s "$work/kernel" "$work/skep"; then
	echo "ok 1 - $(wc -l <"$work/kernel") calls have the same result"
else
	diff "$work/kernel" "$work/skep" | head -n 12 | sed 's/^/# /'
	echo "not ok 1 - $(diff "$work/kernel" "$work/skep" | grep -c '^<') of $(wc -l <"$work/kernel") calls differ"
fi
