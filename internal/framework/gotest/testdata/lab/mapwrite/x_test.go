package mapwrite

import (
	"sync"
	"testing"
)

func TestMap(t *testing.T) {
	m := map[int]int{}
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < 1000000; j++ {
				m[j%10] = j
			}
		}()
	}
	wg.Wait()
}
