// SPDX-License-Identifier: GPL-2.0-only

// load makes an execution trace of a program that does all that a trace tells:
// collects garbage, blocks, sleeps, makes syscalls, has tasks, regions and logs,
// coroutines, and CPU samples.
//
//	load FILE SECONDS [quiet]
//
// quiet leaves out the CPU samples.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

type node struct {
	left, right *node
	pad         [5]uint64
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

func collect(ctx context.Context) {
	var keep []*node
	for i := 0; ctx.Err() == nil; i++ {
		keep = append(keep, tree(10))
		if len(keep) > 20 {
			keep = keep[10:]
		}
	}
	runtime.KeepAlive(keep)
}

func pingPong(ctx context.Context) {
	a, b := make(chan int), make(chan int)
	go func() {
		for v := range a {
			b <- v + 1
		}
		close(b)
	}()
	for v := 0; ctx.Err() == nil; {
		a <- v
		v = <-b
	}
	close(a)
}

func mutexes(ctx context.Context) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil {
				mu.Lock()
				runtime.Gosched()
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
}

func syscalls(ctx context.Context) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		for ctx.Err() == nil {
			w.Write([]byte("x"))
			os.Stat("/")
			time.Sleep(200 * time.Microsecond)
		}
		w.Close()
	}()
	io.Copy(io.Discard, r)
}

func tasks(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		tctx, task := trace.NewTask(ctx, "task "+strconv.Itoa(i%7))
		trace.WithRegion(tctx, "outer", func() {
			defer trace.StartRegion(tctx, "inner").End()
			trace.Logf(tctx, "category", "message %d", i)
			var wg sync.WaitGroup
			for k := 0; k < 3; k++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					time.Sleep(50 * time.Microsecond)
				}()
			}
			wg.Wait()
		})
		task.End()
	}
}

func coroutines(ctx context.Context) {
	for ctx.Err() == nil {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; i < 100 && yield(i); i++ {
			}
		})
		for i := 0; i < 50; i++ {
			next()
		}
		stop()
		time.Sleep(time.Millisecond)
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: load FILE SECONDS [quiet]")
		os.Exit(2)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		panic(err)
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if len(os.Args) == 3 {
		pprof.StartCPUProfile(&bytes.Buffer{})
	}
	if err := trace.Start(f); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(seconds*float64(time.Second)))
	defer cancel()
	var wg sync.WaitGroup
	for _, work := range []func(context.Context){
		collect, pingPong, mutexes, syscalls, tasks, coroutines,
	} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work(ctx)
		}()
	}
	wg.Wait()
	trace.Stop()
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
}
