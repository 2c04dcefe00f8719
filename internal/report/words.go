package report

import "github.com/triagebot/triagebot/internal/triage"

// A classText is how a class is told to people.
type classText struct {
	class  triage.Class
	origin triage.Origin // empty when the class has only one
	label  string        // a few words, for a cell
	text   string        // one sentence
}

var classTexts = []classText{
	{triage.LikelyRegression, "", "likely regression",
		"This pull request broke the test: with the change it fails, and without it, it does not fail that way, or far less often."},
	{triage.IntroducedFlake, "", "introduced flake",
		"This pull request made the test flaky: with the change it sometimes fails, and without it, it did not fail in enough runs to tell."},
	{triage.LagRevealedRace, triage.OriginHead, "lag-revealed race, new in this pull request",
		"This pull request brought a race: when one step of the program is late the test fails, and without the change the same delay is harmless."},
	{triage.LagRevealedRace, triage.OriginBase, "lag-revealed race, already on base",
		"The test has a race that was there before: when one step of the program is late it fails in the same way with and without this pull request."},
	{triage.PreExistingFlake, "", "pre-existing flake",
		"The test was flaky before: it sometimes fails in the same way without this pull request, about as often."},
	{triage.BrokenOnBase, "", "broken on base",
		"The test is broken without this pull request too: it fails every time, in the same way."},
	{triage.Inconclusive, "", "could not tell",
		"The runs do not tell whether this pull request is to blame."},
}

// A reasonText is how a reason is told to people.
type reasonText struct {
	reason       triage.Reason
	inconclusive bool   // a reason why nothing can be said, else a refinement
	label        string // a few words, for a cell
	text         string // one sentence
}

var reasonTexts = []reasonText{
	{triage.ReasonNotReproduced, true, "did not fail again",
		"The failure did not come back in any run, neither with the change nor without it."},
	{triage.ReasonLeaningRegression, true, "leans to this pull request",
		"It looks like this pull request, but there was not enough time for the runs that would make it sure."},
	{triage.ReasonNoTestID, true, "no test is named",
		"The failure names no test, so there is no single test to run again."},
	{triage.ReasonBaseUnbuildable, true, "base does not build",
		"The code without this pull request could not be built or set up here, so there is nothing to compare with."},
	{triage.ReasonEnvironment, true, "fails here for another reason",
		"With and without the change the test fails alike on this machine, but not the way it failed in CI: something that it needs is missing here."},
	{triage.ReasonUnlikeCI, true, "not run as in CI",
		"With and without the change the test fails alike, but CI's command may set or make something that these runs lack: main is broken, or that is what fails here."},
	{triage.ReasonSignatureMismatch, true, "another failure",
		"A run failed here, but not the way it failed in CI."},
	{triage.ReasonLagArtefact, true, "only a deadline was missed",
		"Delays made the test miss a deadline of its own. That shows how much time the deadline leaves, not who used it up in CI."},
	{triage.ReasonUnstable, true, "no steady picture",
		"The runs contradict each other in a way that fits none of the known cases."},
	{triage.ReasonContaminated, true, "another copy of the code ran",
		"A run loaded project files of another copy than the tree it was for, so it proves nothing."},
	{triage.ReasonBudgetExhausted, true, "not enough runs",
		"The time, or the number of runs that was allowed, was used up before there were enough runs."},
	{triage.ReasonNoLog, true, "no log",
		"CI left no readable report or log of the failure."},
	{triage.ReasonInterrupted, true, "interrupted",
		"Measuring was stopped before there were enough runs."},
	{triage.ReasonNoMatch, true, "no such test",
		"The name from CI selects no test in the code of this pull request."},
	{triage.ReasonNewTest, false, "new test",
		"The test is new: there is nothing to compare with on base."},
	{triage.ReasonMadeWorse, false, "made worse",
		"The test fails now and then without the change too, but with it far more often."},
	{triage.ReasonOtherOnBase, false, "fails otherwise on base",
		"Without the change the test fails too, but in another way."},
	{triage.ReasonOrder, false, "depends on the tests around it",
		"The test passes alone and fails only in the company of other tests, of its package or of its suite."},
	{triage.ReasonSameSignature, false, "same failure as another test",
		"The test was not run: its failure is the same as that of a test that was."},
	{triage.ReasonDataRace, false, "data race",
		"The race detector reports two accesses to the same memory at the same time."},
	{triage.ReasonBuild, false, "does not compile",
		"The code does not compile, so no test could run."},
	{triage.ReasonSignatureDiffers, false, "not the failure CI showed",
		"The failure that was measured here is steady, but it is not the one that CI showed."},
}

// ClassText is one sentence, in plain words, on what a class says. The origin
// matters only for a lag-revealed race.
func ClassText(c triage.Class, o triage.Origin) string { return wordsOfClass(c, o).text }

// ClassLabel is the class in a few words.
func ClassLabel(c triage.Class, o triage.Origin) string { return wordsOfClass(c, o).label }

func wordsOfClass(c triage.Class, o triage.Origin) classText {
	for _, t := range classTexts {
		if t.class == c && (t.origin == "" || t.origin == o) {
			return t
		}
	}
	if c == triage.LagRevealedRace {
		return classText{c, o, "lag-revealed race, origin unknown",
			"The test has a race: when one step of the program is late it fails. Where it comes from is not known."}
	}
	return wordsOfClass(triage.Inconclusive, "")
}

// ReasonText is one sentence, in plain words, on what a reason code says; empty
// for an unknown code.
func ReasonText(r triage.Reason) string { return wordsOfReason(r).text }

// ReasonLabel is the reason in a few words; empty for an unknown code.
func ReasonLabel(r triage.Reason) string { return wordsOfReason(r).label }

func wordsOfReason(r triage.Reason) reasonText {
	for _, t := range reasonTexts {
		if t.reason == r {
			return t
		}
	}
	return reasonText{reason: r}
}

// Reasons lists every reason code, those of an inconclusive verdict first.
func Reasons() []triage.Reason {
	out := make([]triage.Reason, len(reasonTexts))
	for i, t := range reasonTexts {
		out[i] = t.reason
	}
	return out
}
