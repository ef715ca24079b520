// SPDX-License-Identifier: GPL-2.0-only

package main

import (
	"fmt"
	"internal/trace"
)

func eachFrame(s trace.Stack, f func(trace.StackFrame)) {
	s.Frames(func(frame trace.StackFrame) bool {
		f(frame)
		return true
	})
}

func experimentalArgs(x trace.ExperimentalEvent) (args []string) {
	for i, name := range x.ArgNames {
		args = append(args, fmt.Sprintf("%s=%d", name, x.Args[i]))
	}
	return args
}

// transitionStack is that of the transition. For the status of a goroutine, Go 1.26
// has it, and Go 1.23 forgot it; what the event itself has is the same.
func transitionStack(ev trace.Event) trace.Stack {
	s := ev.StateTransition()
	if s.Resource.Kind == trace.ResourceGoroutine && s.Stack == trace.NoStack {
		if from, to := s.Goroutine(); from == to || from == trace.GoUndetermined {
			return ev.Stack()
		}
	}
	return s.Stack
}

func sync(ev trace.Event) {
}
