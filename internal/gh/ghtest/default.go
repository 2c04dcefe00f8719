package ghtest

import "fmt"

// Default is a small repository to start from.
//
//   - acme/widgets (id 1001), branch main at SHA("base"), and the fork mallory/widgets (id 2002)
//   - users by role: alice admin, bob write, carol triage, dave read, mallory none
//   - pull request 7 by bob: branch "fix" at SHA("head"), of acme/widgets
//   - pull request 8 by mallory: branch "main" at SHA("fork-head"), of the fork
//   - issue 9
//   - workflow 11 "CI" (ci.yml) and 12 "triagebot" (triagebot.yml); run 42 of CI on pull request 7, red in job 421 "test",
//     green in job 422 "lint"; run 43 of CI on the fork's pull request 8, red in job 431
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
		Issues:    []Issue{{Number: 9, Title: "Flaky tests", User: "alice"}},
		Workflows: []Workflow{{ID: 11, Name: "CI", Path: ".github/workflows/ci.yml"}, {ID: 12, Name: "triagebot", Path: ".github/workflows/triagebot.yml"}},
		Runs:      defaultRuns(),
	}
}

func defaultRuns() []Run {
	red := func(id int64) Job {
		return Job{
			ID: id, Name: "test", Status: "completed", Conclusion: "failure", Log: defaultLog,
			Steps:       []Step{{Name: "Set up job", Conclusion: "success"}, {Name: "Run go test ./...", Conclusion: "failure"}},
			Annotations: []Annotation{{Path: ".github", Start: 1, End: 1, Level: "failure", Message: "Process completed with exit code 1."}},
		}
	}
	lint := Job{ID: 422, Name: "lint", Status: "completed", Conclusion: "success", Log: "2026-01-02T03:04:05.0000000Z ok\n"}
	return []Run{
		{ID: 42, Workflow: 11, Event: "pull_request", HeadBranch: "fix", HeadSHA: SHA("head"), Actor: "bob", Pulls: []int{7},
			Attempts: []Attempt{{Status: "completed", Conclusion: "failure", Jobs: []Job{red(421), lint}}}},
		{ID: 43, Workflow: 11, Event: "pull_request", HeadBranch: "main", HeadSHA: SHA("fork-head"), HeadRepo: 2002, Actor: "mallory",
			Attempts: []Attempt{{Status: "completed", Conclusion: "failure", Jobs: []Job{red(431)}}}},
	}
}

// defaultLog begins with the byte order mark that GitHub's logs often have.
const defaultLog = "\ufeff2026-01-02T03:04:05.1234567Z ##[group]Run go test ./...\n" +
	"2026-01-02T03:04:05.1234568Z ##[endgroup]\n" +
	"2026-01-02T03:04:06.1234567Z --- FAIL: TestOutbox (0.01s)\n" +
	"2026-01-02T03:04:06.1234568Z     outbox_test.go:12: got 1 message, want 0\n" +
	"2026-01-02T03:04:06.1234569Z FAIL\n" +
	"2026-01-02T03:04:06.2234567Z ##[error]Process completed with exit code 1.\n"

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
