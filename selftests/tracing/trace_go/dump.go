// SPDX-License-Identifier: GPL-2.0-only

// dump prints the events that Go's own reader gives, one a line, as
// trace_dump does with ours. It is built inside Go's source tree, for the
// reader is internal there.
//
//	dump FILE              print the events
//	dump -n FILE           read them, print how many, how long and how much memory
//	dump -s FILE           print them as Go's reader prints them itself
package main

import (
	"bufio"
	"fmt"
	"internal/trace"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

func quote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			fmt.Fprintf(&b, "\\x%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return "\"" + b.String() + "\""
}

func number(v trace.Value) uint64 {
	return v.Uint64()
}

// frames of a stack; none for an id that the trace does not explain, as CPU
// samples may have it, and at which Go's reader panics.
func frames(s trace.Stack) (text string) {
	var b strings.Builder
	defer func() {
		if recover() != nil {
			text = "[ ]"
		}
	}()
	eachFrame(s, func(f trace.StackFrame) {
		fmt.Fprintf(&b, " %x:%s:%s:%d", f.PC, quote(f.Func), quote(f.File), f.Line)
	})
	return "[" + b.String() + " ]"
}

func dump(w *bufio.Writer, ev trace.Event) {
	fmt.Fprintf(w, "%s %d m=%d p=%d g=%d", ev.Kind(), ev.Time(), ev.Thread(), ev.Proc(),
		ev.Goroutine())
	switch ev.Kind() {
	case trace.EventMetric:
		m := ev.Metric()
		fmt.Fprintf(w, " %s=%d", m.Name, number(m.Value))
	case trace.EventLabel:
		l := ev.Label()
		fmt.Fprintf(w, " %s %s", l.Resource, quote(l.Label))
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := ev.Range()
		fmt.Fprintf(w, " %s %s", r.Scope, quote(r.Name))
		if ev.Kind() == trace.EventRangeEnd {
			for _, a := range ev.RangeAttributes() {
				fmt.Fprintf(w, " %d", number(a.Value))
			}
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := ev.Task()
		fmt.Fprintf(w, " %d parent=%d %s", uint64(t.ID), uint64(t.Parent), quote(t.Type))
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r := ev.Region()
		fmt.Fprintf(w, " task=%d %s", uint64(r.Task), quote(r.Type))
	case trace.EventLog:
		l := ev.Log()
		fmt.Fprintf(w, " task=%d %s %s", uint64(l.Task), quote(l.Category), quote(l.Message))
	case trace.EventStateTransition:
		s := ev.StateTransition()
		fmt.Fprintf(w, " %s", s.Resource)
		if s.Resource.Kind == trace.ResourceGoroutine {
			from, to := s.Goroutine()
			fmt.Fprintf(w, " %s->%s", from, to)
		} else {
			from, to := s.Proc()
			fmt.Fprintf(w, " %s->%s", from, to)
		}
		fmt.Fprintf(w, " %s %s", quote(s.Reason), frames(transitionStack(ev)))
	case trace.EventExperimental:
		x := ev.Experimental()
		fmt.Fprintf(w, " %s", x.Name)
		for _, a := range experimentalArgs(x) {
			fmt.Fprintf(w, " %s", a)
		}
	}
	fmt.Fprintf(w, " %s\n", frames(ev.Stack()))
}

func run(name, mode string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	began := time.Now()
	r, err := trace.NewReader(f)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer w.Flush()
	n := 0
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n++
		switch mode {
		case "":
			dump(w, ev)
		case "-s":
			sync(ev)
			fmt.Fprintln(w, ev.String())
		}
	}
	if mode == "-n" {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		fmt.Fprintf(w, "%d events %d ns %d KiB\n", n, time.Since(began).Nanoseconds(), u.Maxrss)
	}
	return nil
}

func main() {
	mode := ""
	if len(os.Args) == 3 {
		mode = os.Args[1]
	}
	if len(os.Args) != 2 && mode != "-n" && mode != "-s" {
		fmt.Fprintln(os.Stderr, "usage: dump [-n | -s] FILE")
		os.Exit(2)
	}
	if err := run(os.Args[len(os.Args)-1], mode); err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
}
