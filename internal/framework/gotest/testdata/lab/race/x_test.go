package race

import (
	"testing"
)

type C struct{ n int }

func (c *C) Inc() { c.n++ }
func TestRace(t *testing.T) {
	c := &C{}
	d := make(chan bool)
	go func() { c.Inc(); close(d) }()
	c.Inc()
	<-d
}
func TestFine(t *testing.T) {}
func TestRaceAlsoFails(t *testing.T) {
	m := map[string]int{}
	d := make(chan bool)
	go func() { m["a"] = 1; close(d) }()
	_ = m["b"]
	<-d
	t.Error("n = 1, want 2")
}
