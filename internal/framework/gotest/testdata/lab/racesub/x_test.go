package racesub

import (
	"testing"
)

type C struct{ n int }

func (c *C) Inc() { c.n++ }
func TestOuter(t *testing.T) {
	t.Run("a", func(t *testing.T) { c := &C{}; d := make(chan bool); go func() { c.Inc(); close(d) }(); c.Inc(); <-d })
	t.Run("b", func(t *testing.T) {})
}
