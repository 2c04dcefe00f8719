package sampletest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/sample"
	"github.com/triagebot/triagebot/internal/triage"
)

// Header is what a sample says of itself.
type Header struct {
	// Plants is what is planted, Why what the sample holds the tool to.
	Plants string `yaml:"plants"`
	Why    string `yaml:"why"`
	// Framework runs the sample's tests: empty for go test, or a name of tools.
	Framework string `yaml:"framework"`
	// Shape and Delete are as in [sample.Layout].
	Shape  sample.Shape `yaml:"shape"`
	Delete []string     `yaml:"delete"`
	CI     CI           `yaml:"ci"`
	// Editable is a folder of the checkout that is installed in editable mode into
	// the environment that the check and triagebot are run in; Python only.
	Editable string `yaml:"editable"`
	// Insists is set for an install that stands before all else on the module path.
	Insists bool `yaml:"insists"`
	// Copied is set for an install that is not editable: a copy of the folder as it
	// is when the check is red, with the metadata that pip leaves.
	Copied bool `yaml:"copied"`
	// Flags are added to "triagebot measure", Suite is its command after "--".
	Flags []string `yaml:"flags"`
	Suite []string `yaml:"suite"`
	// Find lists the revisions that the tool must find itself: "head", "base".
	Find []string `yaml:"find"`
	// Verdicts is the truth, one a red test; a report with more or fewer is wrong.
	Verdicts []Want `yaml:"verdicts"`
	// Leftover is the kind of leftover that at least one trial must have noticed.
	Leftover string `yaml:"leftover"`
	Facts    []Fact `yaml:"facts"`
}

// CI is how the red check is made.
type CI struct {
	// Run is a command that is run on head until it is red, at most Tries times (default 1).
	// Its report is what it prints, or the file that stands for $REPORT in its arguments.
	Run   []string `yaml:"run"`
	Tries int      `yaml:"tries"`
	// Report is the report's file name when it is run; its extension tells its kind.
	Report string `yaml:"report"`
	// Recorded names the file of the archive that is the red check's report instead.
	Recorded string `yaml:"recorded"`
}

// Want is the expected verdict on one target.
type Want struct {
	Package string `yaml:"package"`
	Test    string `yaml:"test"`
	// Class lists the classes that are true, nearly always one.
	Class []triage.Class `yaml:"class"`
	// ByChance lists the classes that a test which draws lots gets now and then:
	// docs/simulation.md has how often, [maxStrays] how often is too often.
	ByChance []triage.Class `yaml:"by_chance"`
	// Origin is compared for lag-revealed races and wherever the report names one.
	Origin triage.Origin `yaml:"origin"`
	// Reasons must all be among the verdict's.
	Reasons []triage.Reason `yaml:"reasons"`
	// IfBaseRed must be among them too when a plain trial on base was red.
	IfBaseRed []triage.Reason `yaml:"if_base_red"`
	Cause     *WantCause      `yaml:"cause"`
	// Polluters are the tests after which it fails, all of them; empty for a test
	// that does not depend on others.
	Polluters []string `yaml:"polluters"`
	// PolluterFiles are the other files after which it fails, all of them.
	PolluterFiles []string `yaml:"polluter_files"`
}

// WantCause is the expected cause of a failure under lag.
type WantCause struct {
	Kind triage.CauseKind `yaml:"kind"`
	// Sites are the places that may be named first; empty when the cause has no place.
	Sites []WantSite `yaml:"sites"`
}

// WantSite matches a site by what is set: the file below the repository's root, the
// function's own name, and a part of the source line.
type WantSite struct {
	File string `yaml:"file"`
	Func string `yaml:"func"`
	Text string `yaml:"text"`
	// ID is the whole id of the site, for one that is no place in a file.
	ID string `yaml:"id"`
}

// Fact is a statement about a tree that the framework's plain tool can prove.
type Fact struct {
	// On is "head", "base" or "both".
	On string `yaml:"on"`
	// Package is the package's folder below the repository's root, empty for the
	// root itself, or for other frameworks than Go the test's file, empty for all.
	// Test is one test's id; without it the package is run whole.
	Package string `yaml:"package"`
	Test    string `yaml:"test"`
	// Red is how many of how many fresh processes fail: "3/3", "8-34/60".
	// "build" means that the package does not compile.
	Red string `yaml:"red"`
	// Says is a regular expression that the output of every red must match.
	Says string `yaml:"says"`
	// Flags are added to the command, for example "-race".
	Flags []string `yaml:"flags"`
	// Env is added to the environment of the tests, "NAME=value" each.
	Env []string `yaml:"env"`
	// Late inserts a delay into an overlay of the source before building, or into
	// a copy of the tree.
	Late *Late `yaml:"late"`
}

// Late delays one line of the source.
type Late struct {
	File string `yaml:"file"`
	// After or Before is a part of the one line that the delay is put behind or in front of.
	After  string `yaml:"after"`
	Before string `yaml:"before"`
	MS     int    `yaml:"ms"`
	// Insert is code that goes there too, behind the delay, to look at what is late.
	Insert string `yaml:"insert"`
	// Await makes the delay one of the event loop's, not of the thread's.
	Await bool `yaml:"await"`
}

// Sample is one archive of testdata/samples.
type Sample struct {
	// Name is the file's name without its extension.
	Name string
	Header
	Layout sample.Layout
	// recorded is the content of Header.CI.Recorded.
	recorded []byte
}

// Load reads a sample from a txtar file.
func Load(path string) (Sample, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Sample{}, fmt.Errorf("reading sample: %w", err)
	}
	s, err := parse(strings.TrimSuffix(filepath.Base(path), ".txtar"), b)
	if err != nil {
		return Sample{}, fmt.Errorf("reading sample %q: %w", path, err)
	}
	return s, nil
}

// LoadAll reads the samples of a folder in the order of their names.
func LoadAll(dir string) ([]Sample, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, fmt.Errorf("listing samples: %w", err)
	}
	var all []Sample
	for _, p := range paths { // Glob sorts
		s, err := Load(p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parse(name string, b []byte) (Sample, error) {
	a := txtar.Parse(b)
	s := Sample{Name: name}
	if err := yaml.UnmarshalWithOptions(a.Comment, &s.Header, yaml.Strict()); err != nil {
		return Sample{}, fmt.Errorf("decoding header: %w", err)
	}
	l, rest, err := sample.Parse(a, s.Shape, s.Delete)
	if err != nil {
		return Sample{}, err
	}
	s.Layout = l
	for name, data := range rest {
		if name != s.CI.Recorded {
			return Sample{}, fmt.Errorf("checking header: nothing uses the file %q", name)
		}
		s.recorded = data
	}
	return s, s.check()
}

func (s Sample) check() error {
	switch {
	case s.Plants == "" || s.Why == "":
		return fmt.Errorf("checking header: plants and why are both needed")
	case s.Framework != "" && tools[s.Framework].variable == "":
		return fmt.Errorf("checking header: unknown framework %q", s.Framework)
	case len(s.Verdicts) == 0:
		return fmt.Errorf("checking header: no verdict is expected")
	case len(s.Facts) == 0:
		return fmt.Errorf("checking header: no fact proves what is planted")
	case (len(s.CI.Run) > 0) == (s.CI.Recorded != ""):
		return fmt.Errorf("checking header: ci needs either run or recorded")
	case s.CI.Recorded != "" && s.recorded == nil:
		return fmt.Errorf("checking header: the archive has no file %q", s.CI.Recorded)
	}
	for _, w := range s.Verdicts {
		if w.Package == "" || len(w.Class) == 0 {
			return fmt.Errorf("checking header: the verdict on %q needs package and class", w.Test)
		}
		if slices.Contains(w.Class, triage.LagRevealedRace) && (w.Origin == "" || w.Cause == nil) {
			return fmt.Errorf("checking header: the verdict on %q needs origin and cause", w.Test)
		}
		if w.Origin == triage.OriginHead && slices.ContainsFunc(w.ByChance, excuses) {
			return fmt.Errorf("checking header: chance must not excuse %q, which head brought", w.Test)
		}
	}
	for _, f := range s.Facts {
		if err := f.check(); err != nil {
			return fmt.Errorf("checking header: %w", err)
		}
	}
	return nil
}

// excuses reports whether a class can say that the pull request is not to blame.
func excuses(c triage.Class) bool {
	return triage.Verdict{Class: c, Origin: triage.OriginBase}.NotYours()
}
