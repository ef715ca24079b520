// SPDX-License-Identifier: GPL-2.0-only

// garbage makes an execution trace of a program that is busy with its garbage:
// workers, assists and sweeping all the time.
//
//	garbage FILE SECONDS PROCS [PROCS...]
//
// With several numbers of processors the program goes from one to the next, for
// equal times.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type node struct {
	left, right *node
	pad         [4]uint64
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "garbage:", err)
		os.Exit(1)
	}
}

// Allocates, keeps some, and hands over to another now and then.
func work(stop *atomic.Bool, token chan struct{}) {
	var keep [8]*node
	for i := 0; !stop.Load(); i++ {
		keep[i%len(keep)] = tree(8 + i%5)
		if i%3 == 0 {
			<-token
			token <- struct{}{}
		}
		if i%50 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

func main() {
	if len(os.Args) < 4 {
		check(fmt.Errorf("usage: garbage FILE SECONDS PROCS..."))
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	check(err)
	var procs []int
	for _, arg := range os.Args[3:] {
		n, err := strconv.Atoi(arg)
		check(err)
		procs = append(procs, n)
	}
	f, err := os.Create(os.Args[1])
	check(err)
	debug.SetGCPercent(20)
	runtime.GOMAXPROCS(procs[0])

	var stop atomic.Bool
	var all sync.WaitGroup
	token := make(chan struct{}, 1)
	token <- struct{}{}
	for i := 0; i < 6; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			work(&stop, token)
		}()
	}
	// Begin with garbage collection going on: some of it is found late then.
	time.Sleep(50 * time.Millisecond)
	check(trace.Start(f))
	for _, n := range procs {
		if n != runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(n)
		}
		time.Sleep(time.Duration(seconds / float64(len(procs)) * float64(time.Second)))
	}
	trace.Stop()
	check(f.Close())
	stop.Store(true)
	all.Wait()
}
