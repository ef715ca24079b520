/* SPDX-License-Identifier: GPL-2.0-only */
/* The script and the style of the page, as strings. */
	.section .rodata, "a"

	.globl page_script
	.type page_script, %object
page_script:
	.incbin "page_time.js"
	.incbin "page_processes.js"
	.incbin "page_model.js"
	.incbin "page_boxes.js"
	.incbin "page_listing.js"
	.incbin "page.js"
	.incbin "page_live.js"
	.byte 0
	.size page_script, . - page_script

	.globl page_style
	.type page_style, %object
page_style:
	.incbin "page.css"
	.byte 0
	.size page_style, . - page_style

	.section .note.GNU-stack, "", %progbits
