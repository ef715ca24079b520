// SPDX-License-Identifier: GPL-2.0-only

// spin makes an execution trace of a goroutine that has a thread for itself, on CPU 0, and
// stops for nobody but the runtime: it touches memory that is not there yet, and then
// spins until it is told.
//
//	spin FILE PAGES [SEEN]
//
// It prints its tid when it spins, and ends when its stdin does. SEEN gets what it saw of
// CLOCK_MONOTONIC meanwhile, in ns: "saw TIME" whenever it looked, and "log FROM TO" around an
// event of its trace that says FROM.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const logEvery = 5000000 // ns

var over atomic.Bool

// CLOCK_MONOTONIC, from the runtime, so that looking at it makes no system call.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

type span struct{ from, to int64 }

// witness is what the goroutine sees while it spins; a nil one does not look.
type witness struct {
	logged int64
	saw    []int64
	logs   []span
}

func (w *witness) look() {
	now := nanotime()
	w.saw = append(w.saw, now)
	if now-w.logged < logEvery {
		return
	}
	trace.Log(context.Background(), "clock", strconv.FormatInt(now, 10))
	w.logs = append(w.logs, span{now, nanotime()})
	w.logged = now
}

func (w *witness) write(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for _, t := range w.saw {
		fmt.Fprintln(out, "saw", t)
	}
	for _, s := range w.logs {
		fmt.Fprintln(out, "log", s.from, s.to)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func stayOnCPU0() {
	mask := [16]uint64{1}
	_, _, err := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask),
		uintptr(unsafe.Pointer(&mask)))
	if err != 0 {
		panic(err)
	}
}

func touch(pages int) {
	memory, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < pages; i++ {
		memory[i*4096] = 1
	}
}

func work(x uint64) uint64 {
	for i := 0; i < 2000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func spin(pages int, w *witness, done chan<- uint64) {
	runtime.LockOSThread()
	stayOnCPU0()
	touch(pages)
	fmt.Println(syscall.Gettid())
	var x uint64
	for !over.Load() {
		x = work(x)
		if w != nil {
			w.look()
		}
	}
	done <- x
}

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: spin FILE PAGES [SEEN]")
		os.Exit(2)
	}
	pages, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	debug.SetGCPercent(-1)
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := trace.Start(f); err != nil {
		panic(err)
	}
	var w *witness
	if len(os.Args) == 4 {
		w = &witness{saw: make([]int64, 0, 1<<20), logs: make([]span, 0, 1<<12)}
	}
	done := make(chan uint64)
	go spin(pages, w, done)
	io.Copy(io.Discard, os.Stdin)
	over.Store(true)
	<-done
	trace.Stop()
	if err := f.Close(); err != nil {
		panic(err)
	}
	if w != nil {
		if err := w.write(os.Args[3]); err != nil {
			panic(err)
		}
	}
}
