// Package shell reads the command lines of a project's own scripts: those of a
// package.json, a Makefile or a tox.ini. It runs nothing and expands nothing. It
// tells the simple commands of a line apart, and marks what only a shell knows.
package shell
