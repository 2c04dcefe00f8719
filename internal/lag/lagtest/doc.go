// Package lagtest is what the tests and the benchmark of the lag engines share:
// the truth about a corpus, a [Lab] that runs its tests as the product does, and
// the search for a red and its cause.
package lagtest
