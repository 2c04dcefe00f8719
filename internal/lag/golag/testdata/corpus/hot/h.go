package hot

// Pipe pushes n values through an unbuffered channel: a hot loop.
func Pipe(n int) int {
	c := make(chan int)
	go func() {
		defer close(c)
		for i := 0; i < n; i++ {
			c <- i
		}
	}()
	s := 0
	for v := range c {
		s += v
	}
	return s
}

var started = make(chan struct{})

func init()    { go func() { close(started) }() }
func Started() { <-started }
