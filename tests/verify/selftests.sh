#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# selftests.sh BUILD_DIR [SCRATCH]: by hand, as root, on Debian. Unpacks Linux 6.12's selftests from
# the package linux-source-6.12 into SCRATCH (default: a fresh folder under /var/tmp), compiles
# progs/verifier_*.c with clang, loads each annotated program into the running kernel with skep's
# verifier looking on (BUILD_DIR/tests/verify), and holds skep's verdict and log against the
# annotations, which are Linux 6.12's. Nothing of the package is kept here: it is GPL-2.0.
# Prints what disagrees, then the totals.
set -eu
build=$1/tests/verify
scratch=${2:-$(mktemp -d /var/tmp/skep-selftests.XXXXXX)}
clang=$(command -v clang-19 || command -v clang)
archive=/usr/src/linux-source-6.12.tar.xz
top=linux-source-6.12
sf=$scratch/tools/testing/selftests/bpf

if [ ! -f "$archive" ]; then
	echo "selftests.sh: $archive is not there: apt-get install linux-source-6.12" >&2
	exit 2
fi
mkdir -p "$scratch/objects" "$scratch/inc/bpf"
if [ ! -d "$sf" ]; then
	tar -xJf "$archive" -C "$scratch" --strip-components=1 "$top/tools/testing/selftests/bpf" \
		"$top/tools/lib/bpf" "$top/tools/include" "$top/include/uapi" "$top/scripts/bpf_doc.py"
fi
bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$scratch/inc/vmlinux.h"
cp "$scratch"/tools/lib/bpf/*.h "$scratch/inc/bpf/"
python3 "$scratch/scripts/bpf_doc.py" --header --file "$scratch/include/uapi/linux/bpf.h" \
	>"$scratch/inc/bpf/bpf_helper_defs.h" 2>/dev/null
for c in $(grep -lE "__(success|failure|msg)\b" "$sf"/progs/*.c); do
	o=$scratch/objects/$(basename "$c" .c).o
	[ -f "$o" ] || "$clang" -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -w \
		-I"$scratch/inc" -I"$sf" -I"$scratch/tools/include/uapi" \
		-I"$scratch/include/uapi" -I"$scratch/tools/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -idirafter /usr/include \
		-c "$c" -o "$o" || echo "cannot be compiled: $c"
done
SHADOW_OUT=$scratch/shadow LD_PRELOAD=$build/libverify_shadow.so "$build/verify_annotated" \
	"$scratch"/objects/*.o >"$scratch/result"
grep -v '^ok' "$scratch/result"
