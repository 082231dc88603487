#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# oracle.sh REPLAY_KERNEL REPLAY_SKEP CAPTURE OBJECT_DIR: each case runs a program on every packet
# of the capture in the kernel and in skep; verdicts, packets, contexts, maps are to be the same.
# TAP; a case that the kernel does not let us run here is skipped and says so.
set -u
kernel=$1 skep=$2 capture=$3 objects=$4
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0

point() {
	n=$((n + 1))
	echo "$1 $n - $2"
}

# case OBJECT PROGRAM [MAP=KEY:VALUE]...
compare() {
	title="$(basename "$1") $2"
	object=$1 program=$2
	shift 2
	if [ ! -f "$object" ]; then
		point ok "$title # SKIP $object is not there"
		return
	fi
	"$kernel" "$object" "$program" "$capture" "$@" >"$work/kernel" 2>"$work/kernel.err"
	status=$?
	if [ $status = 77 ]; then
		point ok "$title # SKIP the kernel does not allow bpf(2) here"
		return
	elif [ $status = 76 ]; then
		point ok "$title # SKIP the kernel refuses it: $(tail -n 1 "$work/kernel.err")"
		return
	elif [ $status != 0 ]; then
		tail -n 20 "$work/kernel.err" | sed 's/^/# /'
		point 'not ok' "$title: replay failed"
		return
	fi
	if ! "$skep" "$object" "$program" "$capture" "$@" >"$work/skep" 2>"$work/skep.err"; then
		sed 's/^/# /' "$work/skep.err" | tail -n 20
		point 'not ok' "$title: skep cannot run it"
		return
	fi
	lines=$(wc -l <"$work/kernel")
	if cmp -s "$work/kernel" "$work/skep"; then
		point ok "$title: $lines results are the same"
	else
		diff "$work/kernel" "$work/skep" | cut -c 1-200 | head -n 20 | sed 's/^/# /'
		point 'not ok' "$title: $(diff "$work/kernel" "$work/skep" | grep -c '^<')" \
			"of $lines results differ"
	fi
}

compare "$objects/xdp_flow.bpf.o" flow_count
compare "$objects/xdp_firewall.bpf.o" firewall
compare "$objects/xdp_firewall.bpf.o" firewall deny4=18000000c6336400:0000000000000000 \
	deny6=3000000020010db80bad00000000000000000000:0000000000000000
compare "$objects/tc_nat.bpf.o" nat
compare "$objects/tc_nat.bpf.o" nat sources=0a000001:cb007101 sources=0a000002:cb007102 \
	destinations=0a000003:c0a80003 destinations=c0000250:0a090909
for program in classify handle_ipv4 handle_ipv6 handle_other; do
	compare "$objects/features.bpf.o" $program
done
# xdpfilt: addresses and ports with the bits of what to look at (1 source, 2 destination, 4 TCP,
# 8 UDP), in maps that only some of the objects have.
web='bb010000' # port 443 as it stands in a packet, as a number of this byte order
for object in /usr/lib/*/bpf/xdpfilt_*.o; do
	name=$(basename "$object" .o)
	ports='' ip='' mac=''
	case $name in
	*_all) ports=1 ip=1 mac=1 ;;
	*_tcp | *_udp) ports=1 ;;
	*_ip) ip=1 ;;
	*_eth) mac=1 ;;
	esac
	compare "$object" "$name"
	compare "$object" "$name" \
		${ports:+filter_ports=$web:0f00000000000000} \
		${ports:+filter_ports=00350000:0b00000000000000} \
		${ip:+filter_ipv4=c0000250:0200000000000000} \
		${ip:+filter_ipv4=0a000001:0300000000000000} \
		${ip:+filter_ipv6=20010db8000100000000000000000001:0100000000000000} \
		${mac:+filter_ethernet=020000000001:0100000000000000}
done
compare "$(echo /usr/lib/*/bpf/xdp-dispatcher.o)" xdp_dispatcher
compare "$(echo /usr/lib/*/bpf/xdp-dispatcher.o)" xdp_pass
compare "$(echo /usr/lib/*/bpf/xdpdump_xdp.o)" xdpdump
compare "$(echo /usr/lib/*/bpf/xsk_def_xdp_prog.o)" xsk_def_prog
compare "$(echo /usr/lib/*/bpf/xsk_def_xdp_prog_5.3.o)" xsk_def_prog
echo "1..$n"
