// Package mockstore is a store that only remembers.
package mockstore

import "sync"

// Store remembers the keys it was given.
type Store struct {
	mu   sync.Mutex
	keys []string
}

// Put remembers a key.
func (s *Store) Put(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
	return nil
}

// Len is the number of keys.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}
