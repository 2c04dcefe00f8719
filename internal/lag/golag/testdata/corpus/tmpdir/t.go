package tmpdir

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

type Store struct {
	dir  string
	q    chan int
	wg   sync.WaitGroup
	stop chan struct{}
}

func Open(dir string) *Store {
	s := &Store{dir: dir, q: make(chan int, 16), stop: make(chan struct{})}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		for i := range s.q {
			os.MkdirAll(filepath.Join(s.dir, "sub"), 0o755)
			os.WriteFile(filepath.Join(s.dir, "sub", strconv.Itoa(i)), []byte("x"), 0o644)
		}
		os.WriteFile(filepath.Join(s.dir, "CLEAN"), nil, 0o644)
	}()
	return s
}
func (s *Store) Put(i int)  { s.q <- i }
func (s *Store) Close()     { close(s.q) } // bug: does not join
func (s *Store) CloseWait() { close(s.q); s.wg.Wait() }
