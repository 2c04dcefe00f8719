package lag

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestCalleeIsReadFromALineThatCallsOneFunction(t *testing.T) {
	for text, want := range map[string]string{
		"d.sender.Send(m)":                         "d.sender.Send",
		"if err := s.dep.Do(ctx, 1); err != nil {": "s.dep.Do",
		"go func() { run() }()":                    "run",
		"return f(x)":                              "f",
		"r.a.B(c.D())":                             "",
		"x := <-ch":                                "",
		"":                                         "",
		"défer.Größe(1)":                           "défer.Größe",
		"switch (x) { case y: z.Close(); default: ": "z.Close",
	} {
		if got := calleeOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnitsGroupByRoleAtASite(t *testing.T) {
	ds := []triage.Decision{
		{Site: "a", Role: triage.RoleWorker, Hit: 1, MS: 10},
		{Site: "b", Role: triage.RoleWorker, Hit: 1, MS: 30},
		{Site: "a", Role: triage.RoleWorker, Hit: 2, MS: 20},
		{Site: "a", Role: triage.RoleTest, Hit: 1, MS: 5},
	}
	every, exact := units(ds, true), units(ds, false)
	if len(every) != 3 || len(exact) != 3 {
		t.Fatalf("%d and %d units, want 3", len(every), len(exact))
	}
	if diff := cmp.Diff([]triage.Decision{{Site: "a", Role: triage.RoleWorker, MS: 20}}, every[0].decisions); diff != "" {
		t.Errorf("every hit (-want +got):\n%s", diff)
	}
	if totalMS(exact) != 65 || totalMS(every) != 75 || largestMS(exact) != 30 {
		t.Errorf("totals %g and %g, largest %g", totalMS(exact), totalMS(every), largestMS(exact))
	}
	if got := scaled(exact, 10, 100); largestMS(got) != 100 || totalMS(got) != 350 || totalMS(exact) != 65 {
		t.Errorf("scaled: largest %g, total %g; the original has %g", largestMS(got), totalMS(got), totalMS(exact))
	}
}
