# SPDX-License-Identifier: GPL-2.0-only
#
# Where a human starts; "make help" lists what there is.  The module itself is
# built by kbuild from the file Kbuild.

prefix ?= /usr/local
libdir ?= $(prefix)/lib
DESTDIR ?=

HOST_ARCH := $(shell dpkg --print-architecture 2>/dev/null)
ifeq ($(HOST_ARCH),)
HOST_ARCH := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(shell uname -m)))
endif
# What library, command and tests are built for; outputs go to build/ARCH.
ARCH ?= $(HOST_ARCH)
O := $(CURDIR)/build/$(ARCH)

CFLAGS ?= -O2 -g
ifneq ($(ARCH),$(HOST_ARCH))
CROSS_amd64 := x86_64-linux-gnu-
CROSS_arm64 := aarch64-linux-gnu-
CROSS_riscv64 := riscv64-linux-gnu-
SYSROOT := $(shell selftests/vm/cache/sysroot $(ARCH))
ifeq ($(SYSROOT),)
$(error no sysroot for $(ARCH))
endif
# It may come with a compiler of its own.
CROSS_COMPILE := $(addsuffix /,$(wildcard $(SYSROOT)/cross))$(CROSS_$(ARCH))
CC := $(CROSS_COMPILE)gcc --sysroot=$(SYSROOT)
AR := $(CROSS_COMPILE)ar
PKG_CONFIG := $(SYSROOT)/pkg-config
else
PKG_CONFIG ?= pkg-config
endif
export ARCH O CC AR CFLAGS CPPFLAGS LDFLAGS PKG_CONFIG CROSS_COMPILE \
	prefix libdir DESTDIR

# The module for a real machine: that of the running kernel, unless told.
KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
KMOD_OUT := $(CURDIR)/build/kmod/$(KERNELRELEASE)

# What stops a build is told first, as a whole: packages of Debian that this machine lacks.
# NEEDS= builds without a look at them.
NEEDS ?= build
needed = $(if $(NEEDS),$(shell verify/setup --missing $(NEEDS) 2>&1))

SUB = $(MAKE) $(if $(V),,-s) --no-print-directory -C

.PHONY: all module lib tools selftests install install-system uninstall deb rpm clean help
.PHONY: needs guests-build demo test check check-all ledger matrix style fuzz mutants faults world

all: lib tools
	@if [ -e $(KDIR)/Makefile ]; then \
		$(MAKE) --no-print-directory module; \
	else \
		echo "make: left out the module: no kernel headers in $(KDIR);" \
			"on Debian the package linux-headers-$(KERNELRELEASE) has them"; \
	fi
	@$(MAKE) -s --no-print-directory build/compile_commands.json

# For editors: clangd looks for it there. A directory is newer than its files' names.
build/compile_commands.json: Makefile $(shell find $(addprefix $(CURDIR)/,kmod userlib tools \
		selftests) \( -type d -o -name Makefile -o -name Kbuild \) 2>/dev/null)
	@mkdir -p $(@D)
	@selftests/vm/compile-commands lib tools $(if $(wildcard $(O)/selftests),selftests) >$@.new
	@mv $@.new $@

needs:
	$(and $(needed),$(error $(needed)  # or try without: make NEEDS=))@:

# What kbuild calls an architecture it knows itself, and by another name than ours.
module: NEEDS = module
module: needs
	@env -u ARCH selftests/vm/build-module $(KMOD_OUT) $(KDIR)
	@echo "make: the module is $(KMOD_OUT:$(CURDIR)/%=%)/gprof.ko"

lib: needs
	+@$(SUB) userlib

tools: lib
	+@$(SUB) tools

HARNESS = KSELFTEST_DIR=$$(selftests/vm/cache/linux-source)/tools/testing/selftests
selftests: lib tools
	+@$(SUB) selftests $(HARNESS)

install: lib tools
	+@$(SUB) userlib install
	+@$(SUB) tools install
	@if [ -z "$(DESTDIR)" ]; then ldconfig; fi
	@if [ -e $(KMOD_OUT)/gprof.ko ]; then \
		dir=$(DESTDIR)/lib/modules/$(KERNELRELEASE)/updates; \
		install -D -m 644 $(KMOD_OUT)/gprof.ko $$dir/gprof.ko && \
		if [ -z "$(DESTDIR)" ]; then depmod $(KERNELRELEASE); fi; \
	else \
		echo "make: left out the module: it is not built"; \
	fi

# A service, and a group whose members may open /dev/gprof.
install-system:
	+@$(SUB) tools install-system

# The module as it may have been compressed since.
modules = $(DESTDIR)/lib/modules/$(KERNELRELEASE)/updates/gprof.ko
uninstall:
	+@$(SUB) userlib uninstall
	+@$(SUB) tools uninstall
	@for ko in $(modules) $(modules).gz $(modules).xz $(modules).zst; do \
		[ ! -e $$ko ] || removed=1; rm -f $$ko || exit; \
	done; \
	if [ -z "$(DESTDIR)" ]; then \
		ldconfig; [ -z "$$removed" ] || depmod $(KERNELRELEASE); \
	fi

deb:
	@verify/setup deb
	@packaging/build-deb out/deb

rpm:
	@verify/setup rpm
	@packaging/build-rpm out/rpm

clean:
	rm -rf build out

# Everything below needs more packages, and installs them.
guests-build:
	@verify/setup test arch/arm64
	@for arch in amd64 arm64; do \
		$(MAKE) --no-print-directory ARCH=$$arch selftests || exit 1; \
	done

demo:
	@verify/setup demo $(if $(filter-out $(HOST_ARCH),$(GUEST)),arch/$(GUEST))
	@GUEST=$(GUEST) selftests/vm/demo

check:
	@verify/check check

# One program, or what a change of a file would run. ARCH= is the guest's alone.
test:
	@[ "$(T)$(F)" ] || { echo "make: T=timer_test names a test, F=kmod/kind/wait/wait.c a file" >&2; exit 2; }
	@env $(addprefix -u ,MAKEFLAGS ARCH O CC AR CROSS_COMPILE PKG_CONFIG) verify/check \
		$(if $(KERNEL),--kernels "$(KERNEL)") \
		$(if $(filter command,$(firstword $(origin ARCH))),--archs "$(ARCH)") \
		$(if $(T),--test "$(T)",--files "$(F)")

check-all:
	@verify/check check fixed turns all

# When each row of the plan was run last.
ledger:
	@verify/check --ledger

# With the newest kernel, userland and tools that the machine's archive has.
world:
	@verify/setup world page-browser collector
	@verify/world

bench:
	@verify/setup bench
	@$(MAKE) --no-print-directory selftests
	@PATH=$(O)/bin:$$PATH LD_LIBRARY_PATH=$(O)/lib verify/bench/trace_read
	@PATH=$(O)/bin:$$PATH LD_LIBRARY_PATH=$(O)/lib verify/bench/symbols
	@PATH=$(O)/bin:$$PATH LD_LIBRARY_PATH=$(O)/lib verify/bench/trace_views
	@PATH=$(O)/bin:$$PATH LD_LIBRARY_PATH=$(O)/lib verify/bench/profile_views
	@verify/bench/run
	@verify/bench/table

# What the benchmark runs in guests.
.PHONY: bench bench-programs
bench-programs: tools
	+@$(SUB) verify/bench
	+@$(SUB) selftests $(HARNESS) $(O)/selftests/profile_dump

# Any part of it: make matrix KERNELS="5.10 7.2" ARCHS=arm64
matrix:
	@verify/check --kernels "$(KERNELS)" --archs "$(or $(ARCHS),amd64 arm64)"

# For DURATION seconds on the debug kernel, SEED= as a failure told it.
fuzz: guests-build
	@selftests/vm/run --arch arm64 --kernel debug --timeout $$(($(or $(DURATION),600) + 900)) -- \
		env GPROF_FUZZ_SECONDS=$(or $(DURATION),600) GPROF_FUZZ_SEED=$(or $(SEED),0) \
		run-tests --timeout $$(($(or $(DURATION),600) + 600)) fuzz_test

# Faults that are put in, one after the other: NAMES="..." or all of them.
mutants: guests-build
	@verify/setup mutants
	@verify/mutants $(NAMES)

# Those that a machine makes of the file F, N of them, and which of them no test sees.
faults:
	@[ "$(F)" ] || { echo "make: F=userlib/src/base/wire.c names a file" >&2; exit 2; }
	@verify/setup mutants
	@$(MAKE) --no-print-directory selftests
	@env $(addprefix -u ,MAKEFLAGS ARCH O CC AR CROSS_COMPILE PKG_CONFIG) verify/faults "$(F)" $(N)

style:
	@verify/setup style
	@verify/style

help:
	@echo 'make            module for the running kernel, library, command; and for editors'
	@echo '                build/compile_commands.json'
	@echo 'make module     the module alone (KDIR=, KERNELRELEASE=)'
	@echo 'make lib        the library alone; make tools, the command'
	@echo 'make selftests  the test programs; with ARCH=arm64 or riscv64 for that'
	@echo 'make install    all that is built (prefix=, DESTDIR=)'
	@echo 'make install-system  a service, and a group for /dev/gprof; not by default'
	@echo 'make uninstall  removes what both have installed'
	@echo 'make deb        packages for Debian in out/deb; make rpm, others in out/rpm'
	@echo 'make demo       profiles a real program in a guest: out/demo (GUEST=arm64)'
	@echo 'make test       one test, as T=timer_test, or one case, as T=timer_test:CASE, or those'
	@echo '                of a file, as F=kmod/kind/wait/wait.c; ARCH= and KERNEL= for other guests'
	@echo 'make check      the tests, in guests with a stock kernel'
	@echo 'make check-all  the same, on every kernel, and with every check on; RESUME=1'
	@echo '                goes on where it stopped on this commit'
	@echo 'make ledger     notes in the tree when each row was run last'
	@echo 'make matrix     the tests on these KERNELS= and ARCHS=, or on all'
	@echo 'make fuzz       random calls on the debug kernel (DURATION= seconds, SEED=)'
	@echo 'make world      the rows that take the newest kernel, userland, Go, ... of any suite'
	@echo 'make mutants    whether the tests see faults that are put in (NAMES=)'
	@echo 'make faults     which faults that a machine makes of F= no test on the host sees (N=)'
	@echo 'make bench      what recording costs, beside perf and others'
	@echo 'make style      checkpatch, sparse, shellcheck'
	@echo 'make clean      removes build/ and out/; caches stay'
	@echo
	@echo 'selftests/vm/run -- COMMAND runs COMMAND in a guest'
