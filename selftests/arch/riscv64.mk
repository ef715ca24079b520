# SPDX-License-Identifier: GPL-2.0-only
#
# What is not built for riscv64: nobody walks its stacks by tables, and its kernel does not
# step through a program.
without := table_test annotate_cost
