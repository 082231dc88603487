#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# selftests.sh BUILD_DIR [SCRATCH]: by hand and in scripts/nightly, on Debian; needs no root. Unpacks
# Linux 6.12's BPF selftests from the package linux-source-6.12 into SCRATCH (default: a fresh folder
# under /var/tmp; what is there already is kept), compiles the annotated programs and test_verifier,
# and runs both against skep_bpf(), privileged mode only. Nothing of the package is kept in the
# repository: it is GPL-2.0. Prints what disagrees and the sums; SCRATCH/annotated and
# SCRATCH/test_verifier.out have all of it, and selftests.py makes the table of docs/compat.md.
set -eu
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
build=$(cd "$1/tests/verify" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=${2:-$(mktemp -d /var/tmp/skep-selftests.XXXXXX)}
clang=$(command -v clang-19 || command -v clang)
archive=/usr/src/linux-source-6.12.tar.xz
top=linux-source-6.12

if [ ! -f "$archive" ]; then
	echo "selftests.sh: $archive is not there: apt-get install linux-source-6.12" >&2
	exit 2
fi
mkdir -p "$scratch/objects" "$scratch/inc/bpf"
scratch=$(cd "$scratch" && pwd)
sf=$scratch/tools/testing/selftests/bpf
if [ ! -f "$scratch/kernel/bpf/disasm.c" ]; then
	echo "selftests.sh: unpacks $archive into $scratch" >&2
	tar -xJf "$archive" -C "$scratch" --strip-components=1 \
		"$top/tools/testing/selftests/bpf" "$top/tools/testing/selftests/kselftest.h" \
		"$top/tools/lib/bpf" "$top/tools/include" "$top/tools/arch/x86/include" \
		"$top/tools/perf/perf-sys.h" "$top/kernel/bpf/disasm.c" \
		"$top/kernel/bpf/disasm.h" "$top/include/uapi" "$top/scripts/bpf_doc.py"
fi
[ -s "$scratch/inc/vmlinux.h" ] ||
	bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$scratch/inc/vmlinux.h"
cp "$scratch"/tools/lib/bpf/*.h "$scratch/inc/bpf/"
[ -s "$scratch/inc/bpf/bpf_helper_defs.h" ] ||
	python3 "$scratch/scripts/bpf_doc.py" --header --file "$scratch/include/uapi/linux/bpf.h" \
		>"$scratch/inc/bpf/bpf_helper_defs.h" 2>/dev/null

compile() {
	[ -f "$2" ] || "$clang" -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -w \
		-I"$scratch/inc" -I"$sf" -I"$scratch/tools/include/uapi" \
		-I"$scratch/include/uapi" -I"$scratch/tools/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -idirafter /usr/include \
		-c "$1" -o "$2" || echo "cannot be compiled: $1"
}
for c in $(grep -lE "__(success|failure|msg)\b" "$sf"/progs/*.c); do
	compile "$c" "$scratch/objects/$(basename "$c" .c).o"
done
for name in $(sed -nE 's/.*__btf_path\("([^"]*)\.bpf\.o"\).*/\1/p' "$sf"/progs/*.c | sort -u); do
	compile "$sf/progs/$name.c" "$scratch/objects/$name.bpf.o"
done
"$build/verify_annotated" "$scratch"/objects/*.o >"$scratch/annotated"

{
	echo '#ifdef FILL_ARRAY'
	(cd "$sf/verifier" && for c in *.c; do echo "#include \"$c\""; done)
	echo '#endif'
} >"$scratch/tests.h"
mv "$scratch/tests.h" "$sf/verifier/tests.h"
"$clang" -O1 -w -D_GNU_SOURCE -I"$sf" -I"$scratch/inc" -I"$scratch/tools/lib" \
	-I"$scratch/tools/include" -I"$scratch/tools/include/uapi" "$sf/test_verifier.c" \
	"$sf/testing_helpers.c" "$sf/cap_helpers.c" "$sf/unpriv_helpers.c" \
	"$scratch/kernel/bpf/disasm.c" "$build/libverify_redirect.so" -Wl,-rpath,"$build" \
	-lbpf -lelf -lz -o "$scratch/test_verifier"
: >"$scratch/bpf_testmod.ko"
(cd "$scratch" && ./test_verifier >test_verifier.out 2>&1) || true
exec python3 "$here/selftests.py" "$scratch"
