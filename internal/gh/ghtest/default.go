package ghtest

import "fmt"

// Default is a small repository to start from.
//
//   - acme/widgets (id 1001), branch main at SHA("base"), and the fork mallory/widgets (id 2002)
//   - users by role: alice admin, bob write, carol triage, dave read, mallory none
//   - pull request 7 by bob: branch "fix" at SHA("head"), of acme/widgets
//   - pull request 8 by mallory: branch "main" at SHA("fork-head"), of the fork
//   - issue 9
//   - tokens "workflow" (may write all) and "fork" (may read all), both of github-actions[bot]
func Default() State {
	base := Branch{Ref: "main", SHA: SHA("base"), Repo: 1001}
	return State{
		Repo:  Repo{ID: 1001, Owner: "acme", Name: "widgets", DefaultBranch: "main"},
		Forks: []Repo{{ID: 2002, Owner: "mallory", Name: "widgets", DefaultBranch: "main", Fork: true}},
		Users: []User{
			{Login: "alice", Role: "admin"}, {Login: "bob", Role: "write"}, {Login: "carol", Role: "triage"},
			{Login: "dave", Role: "read"}, {Login: "mallory", Role: "none"},
		},
		Tokens: []Token{
			{Name: "workflow", User: "github-actions[bot]", Permissions: ReadWrite()},
			{Name: "fork", User: "github-actions[bot]", Permissions: ReadOnly()},
		},
		Refs: map[string]string{"heads/main": SHA("base"), "heads/fix": SHA("head")},
		Commits: []Commit{
			{SHA: SHA("root"), Message: "start"},
			{SHA: SHA("base"), Parents: []string{SHA("root")}, Message: "main"},
			{SHA: SHA("head"), Parents: []string{SHA("base")}, Message: "fix", Files: []string{"outbox.go"}},
			{SHA: SHA("fork-head"), Parents: []string{SHA("root")}, Message: "feature", Files: []string{"footer.go"}},
			{SHA: SHA("merge"), Parents: []string{SHA("base"), SHA("head")}, Message: "Merge head into base"},
		},
		Pulls: []Pull{
			{Number: 7, Title: "Fix the outbox", User: "bob", Head: Branch{Ref: "fix", SHA: SHA("head"), Repo: 1001}, Base: base, Merge: SHA("merge"), Files: []string{"outbox.go"}},
			{Number: 8, Title: "A footer", User: "mallory", Head: Branch{Ref: "main", SHA: SHA("fork-head"), Repo: 2002}, Base: base, Files: []string{"footer.go"}},
		},
		Issues: []Issue{{Number: 9, Title: "Flaky tests", User: "alice"}},
	}
}

// Token is the secret of a token of the state, by its name.
func (s *Server) Token(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.state.Tokens {
		if t.Name == name {
			return t.Secret()
		}
	}
	panic(fmt.Sprintf("ghtest: there is no token %q", name))
}
