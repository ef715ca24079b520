# SPDX-License-Identifier: GPL-2.0-only
#
# Included by kmod/Kbuild before anything else: what the module is not for ends
# with one sentence here, instead of a hundred of the compiler's.

gprof-newer = $(shell [ $(VERSION) -gt $(1) ] || \
	{ [ $(VERSION) -eq $(1) ] && [ $(PATCHLEVEL) -ge $(2) ]; } && echo y)

# "make clean" has no configuration, and is for any kernel.
ifneq ($(.DEFAULT_GOAL),__clean)

ifeq ($(call gprof-newer,5,10),)
$(error gprof needs Linux 5.10 or later, and this is $(VERSION).$(PATCHLEVEL): use a newer kernel)
endif

ifeq ($(CONFIG_X86_64)$(CONFIG_ARM64)$(and $(CONFIG_RISCV),$(CONFIG_64BIT)),)
$(error gprof runs on amd64 (x86_64), arm64 and riscv64, and this kernel is for $(SRCARCH))
endif

# The first that it was seen on there.
ifeq ($(if $(CONFIG_RISCV),,y)$(call gprof-newer,6,12),)
$(error gprof needs Linux 6.12 or later on riscv64, and this is $(VERSION).$(PATCHLEVEL): use a newer kernel)
endif

# As Kconfig has it; all else is done without.
gprof-lacks := $(foreach option,PERF_EVENTS TRACEPOINTS NET,$(if $(CONFIG_$(option)),,CONFIG_$(option)))
ifneq ($(strip $(gprof-lacks)),)
$(error gprof needs perf events, tracepoints and the network, and this kernel was built without \
	$(strip $(gprof-lacks)): use one that has them)
endif

# The flags of a kernel that clang has built are clang's, of that version or a later one, and
# what it makes may be for its own linker alone.
ifeq ($(CONFIG_CC_IS_CLANG),y)
gprof-clang := $(shell echo $$(($(CONFIG_CLANG_VERSION) / 10000)))
gprof-tools := clang-$(gprof-clang)$(if $(CONFIG_LD_IS_LLD), and lld-$(gprof-clang))
gprof-words := CC=clang-$(gprof-clang)$(if $(CONFIG_LD_IS_LLD), LD=ld.lld-$(gprof-clang))
ifneq ($(shell [ "$$($(CC) --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')" \
	-ge $(gprof-clang) ] 2>/dev/null && { [ -z "$(CONFIG_LD_IS_LLD)" ] || \
	$(LD) --version 2>/dev/null | grep -q LLD; } && echo y),y)
$(error gprof needs clang $(gprof-clang) or later for this kernel, which was built by it, and CC is $(CC), \
	LD $(LD): install $(gprof-tools), and give make $(gprof-words))
endif
endif

endif
