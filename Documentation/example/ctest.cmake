# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# CTest: a profile of each test of a list, beside its log, without a change to any:
#
#	include(ctest.cmake)
#	gprof_tests(cpu parse_test sort_test)
#	$ ctest; gprofctl top parse_test.cpu.pb.gz
#
# A test of its own that takes flags, as flags_self.c does, needs none of this:
#
#	add_test(NAME sort COMMAND sort_test -cpuprofile sort.cpu.pb.gz)

function(gprof_tests kind)
	foreach(test ${ARGN})
		set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
			"LD_PRELOAD=libgprof-self.so"
			"GPROF=${kind},out=${test}.${kind}.pb.gz")
	endforeach()
endfunction()
