package fuzz

import (
	"testing"
)

func FuzzX(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) {
		if n == 2 {
			t.Fatalf("bad n %d", n)
		}
	})
}
