package actiontest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// threeReds are two tests more for the red one of the pull request: as many reds
// as there are machines.
const threeReds = `package app

import "testing"

func TestOne(t *testing.T) {
	if Add(0, 1) != 1 {
		t.Fatal("0 + 1 is not 1")
	}
}

func TestTwo(t *testing.T) {
	if Add(1, 1) != 2 {
		t.Fatal("1 + 1 is not 2")
	}
}
`

// joinedReport is what the tests look at of the whole.
type joinedReport struct {
	Plan struct {
		Parts []struct {
			Shard struct{ Index, Of int }
		}
	}
	Verdicts []struct {
		Target struct{ Test string }
		Class  string
	}
	Warnings []string
}

func (s *stage) joined() joinedReport {
	s.t.Helper()
	var r joinedReport
	if err := json.Unmarshal([]byte(s.report("triagebot-report-test")), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (r joinedReport) tests() string {
	var names []string
	for _, v := range r.Verdicts {
		names = append(names, v.Target.Test)
	}
	return strings.Join(names, " ")
}

func TestPlayShardsThenPublish(t *testing.T) {
	s := newStage(t)
	s.pull = pullRequest(t, threeReds)
	git(t, s.pull.dir, "remote", "add", "origin", "https://github.com/acme/widgets")
	s.fake.Update(func(st *ghtest.State) { *st = s.pull.state() })
	log, green := s.play("shards.yml", "pull_request", s.pull.state().PullEvent("synchronize", 7))
	if green {
		t.Errorf("a red job became green")
	}
	if strings.Contains(log, workflowToken) {
		t.Errorf("the token stands in the log")
	}
	r := s.joined()
	if len(r.Plan.Parts) != 3 || len(r.Verdicts) != 3 {
		t.Fatalf("the whole is of %d parts with the tests %q, want three and three", len(r.Plan.Parts), r.tests())
	}
	wantRegression(t, s.report("triagebot-report-test"))

	s.upload("triagebot-report-test")
	if log, green := s.play("publish.yml", "workflow_run", s.fake.State().RunEvent(42)); !green {
		t.Fatalf("publishing failed:\n%s", log)
	}
	s.wantOneComment()
	for _, name := range []string{"TestOne", "TestTwo"} {
		if !strings.Contains(s.comments()[0].Body, name) {
			t.Errorf("the comment has no %s", name)
		}
	}
}

// A machine that dies costs its own tests, and is told.
func TestPlayShardsWithOneLost(t *testing.T) {
	s := newStage(t)
	s.pull = pullRequest(t, threeReds)
	git(t, s.pull.dir, "remote", "add", "origin", "https://github.com/acme/widgets")
	s.fake.Update(func(st *ghtest.State) { *st = s.pull.state() })
	s.lost = "triagebot-shard-2"
	s.play("shards.yml", "pull_request", s.pull.state().PullEvent("synchronize", 7))
	r := s.joined()
	if len(r.Plan.Parts) != 2 || len(r.Verdicts) != 2 {
		t.Errorf("the whole is of %d parts with the tests %q, want two and two", len(r.Plan.Parts), r.tests())
	}
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "2/3") && !strings.Contains(text, "shard 2 of 3") {
		t.Errorf("the warnings do not speak of the lost shard:\n%s", text)
	}
	s.upload("triagebot-report-test")
	s.play("publish.yml", "workflow_run", s.fake.State().RunEvent(42))
	if c := s.comments(); len(c) != 1 || !strings.Contains(c[0].Body, "shard") {
		t.Errorf("the comments are %+v, want one that tells of the lost shard", c)
	}
}
