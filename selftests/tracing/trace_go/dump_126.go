// SPDX-License-Identifier: GPL-2.0-only

package main

import (
	"fmt"
	"internal/trace"
)

func eachFrame(s trace.Stack, f func(trace.StackFrame)) {
	for frame := range s.Frames() {
		f(frame)
	}
}

func experimentalArgs(x trace.ExperimentalEvent) (args []string) {
	for i, name := range x.Args {
		args = append(args, fmt.Sprintf("%s=%d", name, x.ArgValue(i).Uint64()))
	}
	return args
}

func transitionStack(ev trace.Event) trace.Stack {
	return ev.StateTransition().Stack
}

// sync asks for what a sync event says, which Go 1.23 has no call for.
func sync(ev trace.Event) {
	if ev.Kind() == trace.EventSync {
		ev.Sync()
	}
}
