// SPDX-License-Identifier: GPL-2.0-only
/*
 * shim_plugin: a plugin that has an operator new of its own, as one has that is linked
 * with a static library of C++; it does not throw, but says that it was asked.
 */
#include <stdlib.h>

void *_Znwm(size_t n);
void *plugin_new(size_t n);

char plugin_throws;

void *_Znwm(size_t n)
{
	void *p = malloc(n);

	return p ? p : &plugin_throws;
}

void *plugin_new(size_t n)
{
	return _Znwm(n);
}
