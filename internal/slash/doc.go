// Package slash is the /triage comment command: its grammar, and what is done
// about a comment that holds one.
//
// A comment is written by anyone. Nothing in it is given to a shell, none of its
// words is an option of another program unless this package made it one, and
// whoever wrote it is asked for at the API, never in the text. The command runs
// no code: it has the measuring run of the commit that is pinned run again,
// without privileges, and says so.
package slash
