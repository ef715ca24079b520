// SPDX-License-Identifier: GPL-2.0-only

// spin makes an execution trace of a goroutine that has a thread for itself, on CPU 0, and
// stops for nobody but the runtime: it touches memory that is not there yet, and then
// spins until it is told.
//
//	spin FILE PAGES
//
// It prints its tid when it spins, and ends when its stdin does.
package main

import (
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

var over atomic.Bool

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

func spin(pages int, done chan<- uint64) {
	runtime.LockOSThread()
	stayOnCPU0()
	touch(pages)
	fmt.Println(syscall.Gettid())
	var x uint64
	for !over.Load() {
		for i := 0; i < 100; i++ {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	done <- x
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: spin FILE PAGES")
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
	done := make(chan uint64)
	go spin(pages, done)
	io.Copy(io.Discard, os.Stdin)
	over.Store(true)
	<-done
	trace.Stop()
	if err := f.Close(); err != nil {
		panic(err)
	}
}
