// Package notify posts events from a worker and remembers what was delivered.
package notify

import (
	"net/http"
	"strings"
	"sync"
)

// Notifier posts each event to an URL.
type Notifier struct {
	url       string
	events    chan string
	mu        sync.Mutex
	delivered []string
	wg        sync.WaitGroup
}

// New starts the worker.
func New(url string) *Notifier {
	n := &Notifier{url: url, events: make(chan string, 4)}
	n.wg.Add(1)
	go n.run()
	return n
}

func (n *Notifier) run() {
	defer n.wg.Done()
	for e := range n.events {
		r, err := http.Post(n.url, "text/plain", strings.NewReader(e))
		if err != nil {
			continue
		}
		r.Body.Close()
		n.mu.Lock()
		n.delivered = append(n.delivered, e)
		n.mu.Unlock()
	}
}

// Send queues an event.
func (n *Notifier) Send(e string) { n.events <- e }

// Delivered is how many events the other side has taken.
func (n *Notifier) Delivered() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.delivered)
}

// Close delivers what is queued.
func (n *Notifier) Close() {
	close(n.events)
	n.wg.Wait()
}
