// Package framework tells which test suites a tree has and what kind of report
// a file is. Each framework is one row of a table; what is particular to one
// lives in the package of its name below.
package framework
