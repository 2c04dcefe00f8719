// Package vitest is the adapter for vitest 3 and 4. An id is the names of the
// describes and of the test joined by " > ", as vitest prints them. What it
// shares with the other frameworks of JavaScript is in package jstest.
package vitest
