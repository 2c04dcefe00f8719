package sleepy

import "sync/atomic"

type Svc struct {
	in chan int
	n  atomic.Int64
}

func Start() *Svc {
	s := &Svc{in: make(chan int)}
	go s.run()
	return s
}
func (s *Svc) run() {
	for v := range s.in {
		s.n.Add(int64(v))
	}
}
func (s *Svc) Add(v int)    { s.in <- v }
func (s *Svc) Count() int64 { return s.n.Load() }
func (s *Svc) Stop()        { close(s.in) }
