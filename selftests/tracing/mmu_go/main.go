// SPDX-License-Identifier: GPL-2.0-only

// mmu_go prints what Go's own code says of the utilization in a trace, in the
// form of mmu_dump. It is built within a copy of Go's source, whose package
// internal/trace it uses.
//
//	mmu_go trace FILE FLAGS...	of a trace, for each set of flags
//	mmu_go whole FILE FLAGS		read it and print the curve alone, for timing
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"internal/trace"
	"io"
	"math"
	"os"
	"strconv"
	"time"
)

var quantiles = []float64{0, .001, .01, .05, .45, .88, 1}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mmu_go:", err)
		os.Exit(1)
	}
}

func read(name string) []trace.Event {
	f, err := os.Open(name)
	check(err)
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReader(f))
	check(err)
	var events []trace.Event
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return events
		}
		check(err)
		events = append(events, ev)
	}
}

func length(f []trace.MutatorUtil) int64 {
	if len(f) == 0 {
		return 0
	}
	return f[len(f)-1].Time - f[0].Time
}

// Windows from 1 microsecond to the length of the trace, and one beyond.
func windows(longest int64) []int64 {
	var all []int64
	for w := int64(1000); w < longest; w *= 10 {
		for _, by := range []int64{1, 2, 5} {
			if w*by < longest {
				all = append(all, w*by)
			}
		}
	}
	return append(all, longest, longest+1)
}

func printFunctions(functions [][]trace.MutatorUtil) {
	for i, f := range functions {
		h := fnv.New64a()
		for _, c := range f {
			var b [16]byte
			for j := 0; j < 8; j++ {
				b[j] = byte(c.Time >> (8 * j))
				b[8+j] = byte(math.Float64bits(c.Util) >> (8 * j))
			}
			h.Write(b[:])
		}
		fmt.Printf("function %d changes %d hash %016x\n", i, len(f), h.Sum64())
	}
}

// Go's code does not take functions without duration.
func lasting(functions [][]trace.MutatorUtil) [][]trace.MutatorUtil {
	var all [][]trace.MutatorUtil
	for _, f := range functions {
		if length(f) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// Go sums up durations, shares and densities as it goes. That is exact when
// utilizations are multiples of a power of two, else the sum does not even get
// back to 0, and quantiles are off by up to a third.
func exact(functions [][]trace.MutatorUtil) bool {
	for _, f := range functions {
		for _, c := range f {
			if u := c.Util * (1 << 20); u != math.Trunc(u) {
				return false
			}
		}
	}
	return true
}

func printCurves(functions [][]trace.MutatorUtil) {
	functions = lasting(functions)
	curve := trace.NewMMUCurve(functions)
	longest := int64(0)
	for _, f := range functions {
		longest = max(longest, length(f))
	}
	for _, w := range windows(longest) {
		fmt.Printf("mmu %d %.17g\n", w, curve.MMU(time.Duration(w)))
		for i, u := range curve.MUD(time.Duration(w), quantiles) {
			if !exact(functions) {
				break
			}
			fmt.Printf("quantile %d %.17g %.17g\n", w, quantiles[i], u)
		}
		worst := curve.Examples(time.Duration(w), 1)
		if len(worst) > 0 && worst[0].MutatorUtil < 1 {
			fmt.Printf("worst %d %.17g\n", w, worst[0].MutatorUtil)
		}
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	check(err)
	return n
}

func main() {
	if len(os.Args) < 3 {
		check(fmt.Errorf("usage: mmu_go trace|whole FILE [FLAGS]..."))
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch os.Args[1] {
	case "trace":
		events := read(os.Args[2])
		for _, flags := range os.Args[3:] {
			functions := trace.MutatorUtilizationV2(events, trace.UtilFlags(number(flags)))
			fmt.Printf("flags %s\n", flags)
			printFunctions(functions)
			printCurves(functions)
		}
	case "whole":
		functions := trace.MutatorUtilizationV2(read(os.Args[2]), trace.UtilFlags(number(os.Args[3])))
		curve := trace.NewMMUCurve(functions)
		longest := length(functions[0])
		for _, w := range windows(longest) {
			fmt.Printf("mmu %d %.17g\n", w, curve.MMU(time.Duration(w)))
		}
	}
}
