# SPDX-License-Identifier: GPL-2.0-only
#
# The module's ring in user space, for the machine that builds it:
#
#	make -f selftests/unit/ring.mk O=/abs/dir KSELFTEST_DIR=DIR
#
# gives ring_nmi_test, ring_tsan_test, ring_steps_test, ring_state_test, ring_dictionary_test,
# ring_subsample_test, ring_sampler_test; of the scheduler statistics, sched_histogram_test and
# sched_read_test; and of tracepoints' filters, filter_test in $(O)/selftests/unit.

here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
top := $(abspath $(here)/../..)
out := $(O)/selftests/unit
sources := $(here)/ring_nmi_test.c $(here)/ring_test_core.c $(here)/shim/shim.c $(top)/kmod/ring/buffer.c \
	$(top)/kmod/ring/dictionary.c
RING_CFLAGS := -std=gnu11 -O2 -g -Wall -Wno-unused-function -D_GNU_SOURCE -iquote $(here)/../helpers \
	-I$(here)/shim -I$(O)/shim -I$(here) -iquote $(top)/kmod -isystem $(top)/uapi -isystem $(KSELFTEST_DIR)

# The kernel's headers of which one of ours has all that is needed.
has_shim := linux/bitops linux/bug linux/irq_work linux/ktime linux/math64 asm/barrier asm/local64
has_sample := linux/atomic linux/build_bug linux/err linux/irqflags linux/list linux/mm \
	linux/moduleparam linux/overflow linux/percpu linux/pid linux/pid_namespace linux/preempt \
	linux/processor linux/ptrace linux/rcupdate linux/sched linux/slab linux/time64 \
	linux/timekeeping linux/uaccess
has_summing := linux/cache linux/cpu linux/cpumask linux/kprobes linux/mutex linux/smp \
	linux/spinlock
stand_ins := $(patsubst %,$(O)/shim/%.h,$(has_shim) $(has_sample) $(has_summing))

headers := $(wildcard $(here)/shim/*.h $(here)/shim/linux/*.h $(here)/*.h $(top)/kmod/*/*.h \
	$(top)/kmod/kind/*/*.h) $(stand_ins)

all: $(addprefix $(out)/ring_,nmi_test tsan_test steps_test state_test dictionary_test subsample_test \
		sampler_test) \
	$(out)/sched_histogram_test $(out)/sched_read_test $(out)/filter_test

$(stand_ins): $(O)/shim/%.h: $(here)/ring.mk
	@mkdir -p $(@D)
	@echo '#include "$(here)/shim/$(or $(and $(filter $*,$(has_shim)),shim),$(and $(filter \
		$*,$(has_sample)),sample),summing).h"' >$@

$(out)/ring_nmi_test: $(sources) $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(sources) -pthread -o $@

# gcc warns that ThreadSanitizer knows no fences: the flight ring, which needs
# one, is checked in the plain build.
$(out)/ring_tsan_test: $(sources) $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) -fsanitize=thread -Wno-tsan $(sources) -pthread -o $@

$(out)/ring_steps_test $(out)/ring_state_test: $(out)/%: $(here)/%.c $(filter-out %/ring_nmi_test.c,$(sources)) \
		$(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(filter %.c,$^) -o $@

$(out)/ring_dictionary_test: $(here)/ring_dictionary_test.c $(here)/shim/shim.c \
		$(top)/kmod/ring/dictionary.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(here)/ring_dictionary_test.c $(here)/shim/shim.c -o $@

$(out)/ring_subsample_test: $(here)/ring_subsample_test.c $(here)/shim/shim.c $(top)/kmod/probe/subsample.c \
		$(top)/kmod/probe/byte_sample.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(filter %.c,$^) -lm -o $@

# The kernel's u64 and that of its headers for programs are not the same type.
$(out)/ring_sampler_test: $(here)/ring_sampler_test.c $(filter-out %/ring_nmi_test.c,$(sources)) \
		$(top)/kmod/sample/capture.c $(top)/kmod/sample/sampler.c $(top)/kmod/sample/comm_cache.c \
		$(top)/kmod/sample/stack_intern.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) -DGPROF_HAVE_VM_FLAGS_SET -DGPROF_HAVE_FOR_EACH_VMA \
		-Wno-incompatible-pointer-types $(filter %.c,$^) -o $@

$(out)/sched_histogram_test: $(here)/sched_histogram_test.c $(here)/shim/shim.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(here)/sched_histogram_test.c $(here)/shim/shim.c -o $@

$(out)/sched_read_test: $(here)/sched_read_test.c $(here)/shim/shim.c $(top)/kmod/kind/sched/sched_read.c \
		$(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(here)/sched_read_test.c $(here)/shim/shim.c -o $@

$(out)/filter_test: $(here)/filter_test.c $(here)/shim/shim.c $(top)/kmod/probe/filter.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(RING_CFLAGS) $(here)/filter_test.c $(here)/shim/shim.c -o $@

.PHONY: all
