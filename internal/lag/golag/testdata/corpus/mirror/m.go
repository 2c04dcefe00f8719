// Package mirror copies keys to a store, at most once each.
package mirror

import "sync"

// Store is where the keys go.
type Store interface{ Put(key string) error }

// Mirror copies keys on goroutines of its own.
type Mirror struct {
	store Store
	mu    sync.Mutex
	state map[string]string
	wg    sync.WaitGroup
}

// New makes a mirror.
func New(s Store) *Mirror { return &Mirror{store: s, state: map[string]string{}} }

// Copy starts to copy a key.
func (m *Mirror) Copy(key string) {
	m.set(key, "copying")
	m.wg.Add(1)
	go m.copy(key)
}

func (m *Mirror) copy(key string) {
	defer m.wg.Done()
	if m.store.Put(key) == nil {
		m.set(key, "copied")
	}
}

func (m *Mirror) set(key, state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[key] = state
}

// State is what is known of a key.
func (m *Mirror) State(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key]
}

// Wait waits for all copies.
func (m *Mirror) Wait() { m.wg.Wait() }
