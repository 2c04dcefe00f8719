// Package history reads earlier reports as evidence of the past: how often a test
// was red on the code without the change ("main"), since when, with which
// failure, whether that rises or falls, and how long it takes.
//
// It is a prior. It is printed and orders the work, and no verdict looks at it.
// A report is a stranger's text: it is read with bounds, through a decoder that
// is handed over, and whatever cannot be read is said and left out. Without any
// report the past is empty and everything works as it does on the first day.
//
// Runs count when they are of main: those on base, and those on head of a sweep,
// whose two trees are one. Runs under lag or a detector do not count, and runs
// alone, with the package and in the whole suite are never added up.
package history
