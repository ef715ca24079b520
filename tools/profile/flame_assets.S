/* SPDX-License-Identifier: GPL-2.0-only */
/* The script and the style of flame graphs, as strings. */
	.section .rodata, "a"

	.globl flame_script
	.type flame_script, %object
flame_script:
	.incbin "flame.js"
	.byte 0
	.size flame_script, . - flame_script

	.globl flame_style
	.type flame_style, %object
flame_style:
	.incbin "flame.css"
	.byte 0
	.size flame_style, . - flame_style

	.section .note.GNU-stack, "", %progbits
