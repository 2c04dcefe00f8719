package ghtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestARoleIsToldTwice(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	s.Update(func(st *ghtest.State) { st.Users = append(st.Users, ghtest.User{Login: "erin", Role: "maintain"}) })
	want := map[string][2]string{
		"alice": {"admin", "admin"}, "erin": {"write", "maintain"}, "bob": {"write", "write"}, "carol": {"read", "triage"},
		"dave": {"read", "read"}, "mallory": {"read", "read"}, // anybody reads what is public
	}
	got := map[string][2]string{}
	for login := range want {
		p := must(c.Repositories.GetPermissionLevel(ctx, owner, repo, login))(t)
		got[login] = [2]string{p.GetPermission(), p.GetUser().GetRoleName()}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s.Update(func(st *ghtest.State) { st.Repo.Private = true })
	if p := must(c.Repositories.GetPermissionLevel(ctx, owner, repo, "mallory"))(t); p.GetPermission() != "none" {
		t.Errorf("in a private repository mallory may %s", p.GetPermission())
	}
	if _, _, err := c.Repositories.GetPermissionLevel(ctx, owner, repo, "nobody"); status(err) != http.StatusNotFound {
		t.Errorf("an unknown user: %v", err)
	}
}

func TestTheMergeBaseComesFromTheGraph(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	for name, tc := range map[string]struct {
		base, head, status, merge string
		ahead, behind             int
	}{
		"ahead":           {"main", "fix", "ahead", "base", 1, 0},
		"by SHA":          {ghtest.SHA("base"), ghtest.SHA("head"), "ahead", "base", 1, 0},
		"behind":          {"fix", "main", "behind", "base", 0, 1},
		"the same":        {"main", "main", "identical", "base", 0, 0},
		"of a fork":       {"main", "mallory:main", "diverged", "root", 1, 1},
		"a merge":         {"fix", ghtest.SHA("merge"), "ahead", "head", 1, 0},
		"with repository": {"main", "mallory:widgets:main", "diverged", "root", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := must(c.Repositories.CompareCommits(ctx, owner, repo, tc.base, tc.head, nil))(t)
			if got.GetStatus() != tc.status || got.GetMergeBaseCommit().GetSHA() != ghtest.SHA(tc.merge) || got.GetAheadBy() != tc.ahead || got.GetBehindBy() != tc.behind {
				t.Errorf("%s, merge base %s, %d ahead, %d behind", got.GetStatus(), got.GetMergeBaseCommit().GetSHA(), got.GetAheadBy(), got.GetBehindBy())
			}
		})
	}
	s.Update(func(st *ghtest.State) {
		st.Commits = append(st.Commits, ghtest.Commit{SHA: ghtest.SHA("orphan")},
			ghtest.Commit{SHA: ghtest.SHA("step"), Parents: []string{ghtest.SHA("base")}},
			ghtest.Commit{SHA: ghtest.SHA("octopus"), Parents: []string{ghtest.SHA("root"), ghtest.SHA("step")}})
	})
	for base, head := range map[string]string{"main": ghtest.SHA("octopus"), ghtest.SHA("octopus"): "main"} {
		if got := must(c.Repositories.CompareCommits(ctx, owner, repo, base, head, nil))(t); got.GetMergeBaseCommit().GetSHA() != ghtest.SHA("base") {
			t.Errorf("%s...%s: the merge base is the nearest by steps, %s, and not the youngest", base, head, got.GetMergeBaseCommit().GetSHA())
		}
	}
	if _, _, err := c.Repositories.CompareCommits(ctx, owner, repo, "main", ghtest.SHA("orphan"), nil); status(err) != http.StatusNotFound || !strings.Contains(err.Error(), "No common ancestor") {
		t.Errorf("unrelated histories: %v", err)
	}
	if _, _, err := c.Repositories.CompareCommits(ctx, owner, repo, "main", "gone", nil); status(err) != http.StatusNotFound {
		t.Errorf("an unknown branch: %v", err)
	}
}

func TestRefsAndFilesAreFoundByCommit(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	s.Update(func(st *ghtest.State) {
		st.Refs["heads/release/1.0"] = ghtest.SHA("root")
		st.Files = []ghtest.File{{SHA: ghtest.SHA("base"), Path: ".github/triagebot.yml", Content: strings.Repeat("budget: 5m # ß\n", 20)}}
	})
	for ref, want := range map[string]string{
		"heads/main": "base", "refs/heads/fix": "head", "heads/release/1.0": "root", "pull/7/head": "head", "pull/7/merge": "merge", "pull/8/head": "fork-head",
	} {
		if got := must(c.Git.GetRef(ctx, owner, repo, ref))(t); got.GetObject().GetSHA() != ghtest.SHA(want) {
			t.Errorf("%s is %s", ref, got.GetObject().GetSHA())
		}
	}
	if _, _, err := c.Git.GetRef(ctx, owner, repo, "heads/gone"); status(err) != http.StatusNotFound {
		t.Errorf("an unknown ref: %v", err)
	}
	if got := must(c.Repositories.GetCommit(ctx, owner, repo, "release/1.0", nil))(t); got.GetSHA() != ghtest.SHA("root") {
		t.Errorf("a branch with a slash is %s", got.GetSHA())
	}
	if _, _, err := c.Repositories.GetCommit(ctx, owner, repo, strings.Repeat("0", 40), nil); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("an unknown SHA: %v", err)
	}
	file, _, _, err := c.Repositories.GetContents(ctx, owner, repo, ".github/triagebot.yml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := file.GetContent(); err != nil || text != strings.Repeat("budget: 5m # ß\n", 20) {
		t.Errorf("the content is %q, %v", text, err)
	}
	_, _, res, err := c.Repositories.GetContents(ctx, owner, repo, ".github/triagebot.yml", &github.RepositoryContentGetOptions{Ref: "fix"})
	if err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("the file is not in the other commit: %v", err)
	}
}

func TestListsComeInPages(t *testing.T) {
	s := ghtest.New(t)
	for i := range 205 {
		s.AddComment(7, "bob", fmt.Sprint(i))
	}
	c, ctx := as(t, s, "fork"), context.Background()
	var got []string
	var sizes []int
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, res, err := c.Issues.ListComments(ctx, owner, repo, 7, opts)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page))
		for _, cm := range page {
			got = append(got, cm.GetBody())
		}
		if res.NextPage == 0 {
			if res.PrevPage != 2 || res.FirstPage != 1 {
				t.Errorf("the last page links to %d and %d", res.PrevPage, res.FirstPage)
			}
			break
		}
		if res.LastPage != 3 {
			t.Errorf("the last page is said to be %d", res.LastPage)
		}
		opts.Page = res.NextPage
	}
	if diff := cmp.Diff([]int{100, 100, 5}, sizes); diff != "" || got[0] != "0" || got[204] != "204" {
		t.Errorf("pages of %v, from %s to %s", sizes, got[0], got[len(got)-1])
	}
	first, res, err := c.Issues.ListComments(ctx, owner, repo, 7, nil)
	if err != nil || len(first) != 30 || res.LastPage != 7 {
		t.Errorf("unasked, a page has %d of %d pages, %v", len(first), res.LastPage, err)
	}
}

func TestAPullRequestIsAnIssueToo(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	if got := must(c.Issues.Get(ctx, owner, repo, 7))(t); !got.IsPullRequest() {
		t.Error("7 is no pull request")
	}
	must(c.Issues.AddLabelsToIssue(ctx, owner, repo, 7, []string{"flaky", "flaky"}))(t)
	made := must(c.Issues.Create(ctx, owner, repo, &github.IssueRequest{Title: github.String("A race"), Body: github.String("x"), Labels: &[]string{"flaky"}}))(t)
	if made.GetNumber() != 10 || made.IsPullRequest() || made.GetUser().GetLogin() != "github-actions[bot]" {
		t.Errorf("made %v", made)
	}
	must(c.Issues.Edit(ctx, owner, repo, 9, &github.IssueRequest{State: github.String("closed")}))(t)
	var numbers []int
	for _, i := range must(c.Issues.ListByRepo(ctx, owner, repo, &github.IssueListByRepoOptions{Labels: []string{"flaky"}}))(t) {
		numbers = append(numbers, i.GetNumber())
	}
	if diff := cmp.Diff([]int{10, 7}, numbers); diff != "" {
		t.Error(diff)
	}
	if st := s.State(); st.Issues[0].State != "closed" || cmp.Diff([]string{"flaky"}, st.Pulls[0].Labels) != "" {
		t.Errorf("the state is %+v", st.Issues)
	}
}

func TestGraphQLTellsWhoseATokenIs(t *testing.T) {
	s := ghtest.New(t)
	for _, url := range []string{s.URL() + "/graphql", s.URL() + "/api/graphql"} {
		code, _, body := send(t, "POST", url, s.Token("fork"), `{"query":"query{viewer{login}}"}`)
		if code != http.StatusOK || body != `{"data":{"viewer":{"login":"github-actions[bot]"}}}` {
			t.Errorf("%s: %d %s", url, code, body)
		}
	}
	if s.ConcurrentWrites() != 0 {
		t.Error("a query counts as a write")
	}
}

func TestAnEnterpriseServerNamesItsOwnAddresses(t *testing.T) {
	s := ghtest.New(t)
	for i := range 2 {
		s.AddComment(7, "bob", fmt.Sprint(i))
	}
	for root, web := range map[string]string{s.URL(): "https://github.com/", s.EnterpriseURL(): s.URL() + "/"} {
		code, header, body := send(t, "GET", root+"/repos/acme/widgets/issues/7/comments?per_page=1", s.Token("fork"), "")
		if want := `"html_url":"` + web + "acme/widgets/pull/7#"; code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, %s is not in %s", root, code, want, body)
		}
		if want := `"url":"` + root + "/repos/acme/widgets/issues/comments/"; !strings.Contains(body, want) {
			t.Errorf("%s: %s is not in %s", root, want, body)
		}
		if want := "<" + root + "/repos/acme/widgets/issues/7/comments?page=2&per_page=1>; rel=\"next\""; !strings.Contains(header.Get("Link"), want) {
			t.Errorf("%s: the links are %s", root, header.Get("Link"))
		}
		if has := header.Get("X-Github-Enterprise-Version") != ""; has != (root == s.EnterpriseURL()) {
			t.Errorf("%s: says it is an Enterprise Server: %v", root, has)
		}
	}
}
