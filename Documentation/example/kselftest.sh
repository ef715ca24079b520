#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kselftest.sh DIR TEST...: runs tests of the kernel as their runner does, one after the other,
# each with a profile of its own in DIR; fails when one of them does. A static program is run
# without: nothing can be loaded into it, gprofctl cpu -- TEST records it from outside.

dir=$1
shift
status=0
for test; do
	name=${test##*/}
	LD_PRELOAD=libgprof-self.so GPROF="${GPROF_KIND:-cpu},out=$dir/$name.pb.gz" "$test" ||
		status=$?
done
exit $status
