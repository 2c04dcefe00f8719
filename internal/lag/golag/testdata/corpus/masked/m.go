// Package masked has two workers that react to one event.
package masked

import "sync"

// Book is what the workers keep.
type Book struct {
	mu       sync.Mutex
	stored   []string
	indexed  map[string]bool
	toIndex  chan string
	finished sync.WaitGroup
}

// New starts the indexer.
func New() *Book {
	b := &Book{indexed: map[string]bool{}, toIndex: make(chan string, 8)}
	b.finished.Add(1)
	go b.index()
	return b
}

// Add stores an entry on a goroutine of its own; it is handed to the indexer first.
func (b *Book) Add(s string) {
	b.finished.Add(1)
	go func() {
		defer b.finished.Done()
		b.toIndex <- s
		b.store(s)
	}()
}

func (b *Book) store(s string) {
	b.mu.Lock()
	b.stored = append(b.stored, s)
	b.mu.Unlock()
}

func (b *Book) index() {
	defer b.finished.Done()
	for s := range b.toIndex {
		b.mark(s)
	}
}

func (b *Book) mark(s string) {
	b.mu.Lock()
	b.indexed[s] = true
	b.mu.Unlock()
}

// Stored is the number of stored entries.
func (b *Book) Stored() int { b.mu.Lock(); defer b.mu.Unlock(); return len(b.stored) }

// Indexed reports whether an entry can be found.
func (b *Book) Indexed(s string) bool { b.mu.Lock(); defer b.mu.Unlock(); return b.indexed[s] }
