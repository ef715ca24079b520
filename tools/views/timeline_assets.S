/* SPDX-License-Identifier: GPL-2.0-only */
/* The script and the style of the timeline, as strings. */
	.section .rodata, "a"

	.globl timeline_script
	.type timeline_script, %object
timeline_script:
	.incbin "timeline_model.js"
	.incbin "timeline_why.js"
	.incbin "timeline_draw.js"
	.incbin "timeline.js"
	.byte 0
	.size timeline_script, . - timeline_script

	.globl timeline_style
	.type timeline_style, %object
timeline_style:
	.incbin "timeline.css"
	.byte 0
	.size timeline_style, . - timeline_style

	.section .note.GNU-stack, "", %progbits
