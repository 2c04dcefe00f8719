package tempdir

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLate leaves writers behind that fill its temporary directory again.
func TestLate(t *testing.T) {
	d := t.TempDir()
	t.Log("fine so far")
	stop := make(chan bool)
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				os.MkdirAll(filepath.Join(d, fmt.Sprintf("%d-%d", w, i%50), "x"), 0o755)
			}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	t.Cleanup(func() { time.AfterFunc(300*time.Millisecond, func() { close(stop) }) })
}

func TestNext(t *testing.T) { time.Sleep(400 * time.Millisecond) }
