// Package triage is the vocabulary of triagebot: the words every other package
// speaks, and nothing else.
//
// It imports only the standard library and none of our packages. The zero value
// of each type is the safe answer: an unknown outcome, an inconclusive verdict,
// no lag. The JSON form of [Report] is the record of a check; rendering,
// publishing, replay and history read nothing else.
package triage
