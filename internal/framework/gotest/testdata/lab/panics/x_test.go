package panics

import "testing"

type T struct{ n int }

func (t *T) Get() int         { return t.n }
func TestBefore(t *testing.T) {}
func TestNil(t *testing.T)    { var x *T; t.Log(x.Get()) }
func TestAfter(t *testing.T)  {}
