// SPDX-License-Identifier: GPL-2.0-only

// complete.go: what a Go program does, for complete.guest.
package main

import (
	"encoding/json"
	"sort"
	"strconv"
)

func main() {
	for i := 0; ; i++ {
		m := map[string][]int{}
		for k := 0; k < 99; k++ {
			key := strconv.Itoa(i * k % 17)
			m[key] = append(m[key], i*k)
		}
		for _, v := range m {
			sort.Slice(v, func(a, b int) bool { return v[a] > v[b] })
		}
		text, _ := json.Marshal(m)
		json.Unmarshal(text, &m)
	}
}
