#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# corpus.sh SKEP SHARED: every program of the corpus is accepted, and needs no helper that is missing. TAP.
set -u
skep=$1 objects=$2/corpus/objects
if [ ! -d "$objects" ]; then
	echo "1..0 # SKIP $objects is not there"
	exit 0
fi
echo 1..1
out=$("$skep" verify "$objects"/*/*.o 2>&1)
if [ $? = 0 ]; then
	echo "ok 1 - $(echo "$out" | tail -n 1)"
else
	echo "$out" | grep -E -A 2 'rejected|not tried' | sed 's/^/# /'
	echo 'not ok 1 - all are accepted'
fi
