package goexit

import (
	"testing"
)

func TestParent(t *testing.T) {
	p := t
	t.Run("a", func(t *testing.T) { p.FailNow() })
	t.Run("b", func(t *testing.T) {})
}
func TestNext(t *testing.T) {}
