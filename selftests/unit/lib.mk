# SPDX-License-Identifier: GPL-2.0-only
#
# Unit tests of the library alone: build and run them on the host.
#
#	make -f selftests/unit/lib.mk O=/abs/dir KSELFTEST_DIR=DIR [SANITIZE=1]
#
# With SANITIZE=1 the library is built once more, with ASan and UBSan.

here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
top := $(abspath $(here)/../..)
O ?= $(top)/build/lib-unit
tests := $(patsubst $(here)/%.c,%,$(wildcard $(here)/*_lib_test.c))
override CFLAGS := -O1 -g $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer)

check: $(addprefix $(O)/unit/,$(tests))
	@failed=; for t in $^; do echo "# $${t##*/}"; $$t || failed="$$failed $${t##*/}"; done; \
	if [ -n "$$failed" ]; then echo "# failed:$$failed"; exit 1; fi

$(O)/lib/libgprof.a: FORCE
	@$(MAKE) --no-print-directory -C $(top)/userlib O=$(O) CFLAGS="$(CFLAGS)" $@

$(O)/unit/shim_maps_lib_test: $(addprefix $(top)/userlib/shim/,hooks_mmap.c partial_unmap.c live_set.c)
$(O)/unit/shim_byte_sample_lib_test: $(top)/userlib/shim/byte_sample.c

$(O)/unit/%: $(here)/%.c $(here)/lib_util.h $(O)/lib/libgprof.a
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror \
		-Wno-unused-parameter -Wno-override-init -iquote $(top)/selftests/helpers -I$(top)/userlib/include \
		-I$(top)/userlib/src -isystem $(O)/gen -I$(top)/uapi \
		-isystem $(KSELFTEST_DIR) $(shell pkg-config --cflags libnl-genl-3.0) $(CFLAGS) $< -o $@ \
		$(O)/lib/libgprof.a -lprotobuf-c -lz -ldeflate -lisal -ldw -lelf -liberty -lnl-genl-3 -lnl-3 -pthread

FORCE:
.PHONY: check FORCE
.SECONDARY:
