// Package config reads what a user wants: the file .github/triagebot.yml, the
// environment and the text of flags.
//
// All three use the same keys and the same reading of values. Where a key is
// given more than once the nearest wins: a flag over the environment, the
// environment over the file, the file over [Defaults]; see [Merge].
//
// Reading is strict. An unknown key, a wrong type, a value out of range is an
// error that names file, line and column and says what to write instead. The
// file may come from a stranger's branch: its size is capped, anchors, aliases
// and tags are refused, and nothing in it is ever given to a shell.
package config
