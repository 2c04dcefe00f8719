package report

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Caps on what one place of a report may hold. They keep a hostile report from
// costing memory or drowning a page; no honest one comes near them.
const (
	maxName    = 4096    // bytes of a name: test, package, file, function
	maxText    = 1 << 18 // bytes of a message or an excerpt
	maxList    = 20000   // elements of a list or map
	maxVerdict = 5000    // tests of one check
)

// A rule is what a value must be beyond its Go type. The zero rule is the
// default of the type: a number is finite and not negative, a text is shorter
// than maxText.
type rule struct {
	min, max float64
	enum     []string
	maxLen   int
}

var (
	anyInteger  = rule{min: math.MinInt64, max: math.MaxInt64}
	probability = rule{max: 1}
	difference  = rule{min: -1, max: 1}
	shortName   = rule{maxLen: maxName}
)

// rules has the exceptions, by Go type and key. The JSON Schema is made from
// the same table.
var rules = map[string]rule{
	"Trial.exit":            {min: -1, max: math.MaxInt32 * 2},
	"Trial.seq":             {min: 1, max: math.MaxInt32},
	"Trial.signal":          shortName,
	"Trial.lag_notes":       shortName,
	"Reach.first":           shortName,
	"Failure.seed":          anyInteger,
	"Request.seed":          anyInteger,
	"Comparison.difference": difference,
	"Comparison.low":        difference,
	"Comparison.high":       difference,
	"Comparison.p":          probability,
	"Comparison.adjusted_p": probability,
	"Comparison.fisher_p":   probability,
	"Bound.wrong":           probability,
	"Bound.rate_low":        probability,
	"Bound.rate_high":       probability,
	"Bound.confidence":      probability,
	"Plan.alpha":            probability,
	"LagPlan.probability":   probability,
	"LagPlan.version":       {min: 1, max: triage.PlanVersion},
	"Signature.phase":       {enum: []string{triage.PhaseTest, triage.PhasePanic, triage.PhaseRace, triage.PhaseTimeout, triage.PhaseExit, triage.PhaseBuild, triage.PhaseSetup}},
	"Report.schema":         {enum: []string{triage.Schema}},
	"Check.source":          {enum: []string{"report", "log", "test", "run"}},
	"Leftover.kind":         {enum: []string{"file", "process"}},
	"Plan.stopped":          {enum: []string{"interrupted", "budget"}},
	"Arm.lag":               shortName,
	"Arm.detector":          shortName,
	"Plan.detectors":        shortName,
	"Target.suite":          shortName,
	"Target.framework":      shortName,
	"Target.package":        shortName,
	"Target.test":           shortName,
	"Site.id":               shortName,
	"Site.file":             shortName,
	"Site.func":             shortName,
	"Location.file":         shortName,
	"Location.func":         shortName,
	"Rev.sha":               shortName,
	"Rev.ref":               shortName,
	"Check.repo":            shortName,
	"Check.suite":           shortName,
	"Shard.index":           {min: 0, max: triage.MaxShards},
	"Shard.of":              {min: 0, max: triage.MaxShards},
	"Part.stopped":          {enum: []string{"interrupted", "budget"}},
	"Past.p":                probability,
	"Past.low":              probability,
	"Past.high":             probability,
	"Substrate.place":       shortName,
}

// closed lists the names of the types that have a closed list of them.
var closed = map[reflect.Type][]string{
	reflect.TypeFor[triage.Side]():    names(func(i int) string { return triage.Side(i).String() }),
	reflect.TypeFor[triage.Scope]():   names(func(i int) string { return triage.Scope(i).String() }),
	reflect.TypeFor[triage.Class]():   names(func(i int) string { return triage.Class(i).String() }),
	reflect.TypeFor[triage.Outcome](): names(func(i int) string { return triage.Outcome(i).String() }),
	reflect.TypeFor[triage.Origin]():  strs(triage.OriginHead, triage.OriginBase),
	reflect.TypeFor[triage.Purpose](): strs(triage.Measure, triage.Ladder, triage.Explain),
	reflect.TypeFor[triage.Role]():    strs(triage.RoleAny, triage.RoleWorker, triage.RoleTest),
	reflect.TypeFor[triage.Reason]():  strs(Reasons()...),
	reflect.TypeFor[triage.CauseKind](): strs(triage.CauseRace, triage.CauseFixedSleep, triage.CauseTimeBudget,
		triage.CauseUnstable, triage.CauseLateWriter, triage.CauseSlowMachine),
	reflect.TypeFor[triage.Kind](): strs(triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart,
		triage.KindWake, triage.KindSignal, triage.KindStep, triage.KindCleanup, triage.KindDeclared, triage.KindTimeout, triage.KindSleep),
}

// names collects the names of an enumeration up to the first value without one.
func names(of func(int) string) []string {
	past := of(math.MaxInt32)
	var out []string
	for i := 0; ; i++ {
		n := of(i)
		if n == fmt.Sprintf("outcome(%d)", i) || n == past {
			return out
		}
		out = append(out, n)
	}
}

func strs[S ~string](values ...S) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// ruleFor is the whole rule of a value: the table's, or the default of its type.
func ruleFor(key string, t reflect.Type) rule {
	r, ok := rules[key]
	if names, is := closed[t]; is {
		r.enum = names
	}
	switch t.Kind() {
	case reflect.Float64:
		if !ok {
			r.max = math.MaxFloat64
		}
	case reflect.Int, reflect.Int64:
		if !ok {
			r.max = math.MaxInt64
		}
	case reflect.Uint64:
		r.max = math.MaxUint64
	case reflect.String:
		if r.maxLen == 0 {
			r.maxLen = maxText
		}
	}
	return r
}

// ranges checks every value of a report against its rule and returns the first
// that breaks it.
func ranges(v reflect.Value, key, path string) error {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[time.Time]():
		return year(v.Interface().(time.Time), path)
	case isText(t):
		return text(v, key, path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return ranges(v.Elem(), key, path)
	case reflect.Struct:
		return rangesOfFields(v, path)
	case reflect.Slice, reflect.Map:
		return rangesOfElements(v, key, path)
	case reflect.Bool:
		return nil
	}
	return inRange(v, ruleFor(key, t), path)
}

func rangesOfFields(v reflect.Value, path string) error {
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		if f.optional && fv.IsZero() {
			continue
		}
		if err := ranges(fv, f.owner+"."+f.name, join(path, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func rangesOfElements(v reflect.Value, key, path string) error {
	if v.Len() > maxList {
		return fmt.Errorf("%s: %d elements, more than %d", path, v.Len(), maxList)
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			if err := ranges(v.Index(i), key, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmpStrings(a.String(), b.String()) })
	for _, k := range keys {
		at := path + "[" + quoted(k.String()) + "]"
		if len(k.String()) > maxName {
			return fmt.Errorf("%s: the key is longer than %d bytes", at, maxName)
		}
		if err := ranges(v.MapIndex(k), key, at); err != nil {
			return err
		}
	}
	return nil
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func inRange(v reflect.Value, r rule, path string) error {
	var f float64
	switch v.Kind() {
	case reflect.Float64:
		f = v.Float()
	case reflect.Uint64:
		f = float64(v.Uint())
	default:
		f = float64(v.Int())
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("%s: %v is not a finite number", path, f)
	case f < r.min:
		return fmt.Errorf("%s: %v is less than %v", path, f, r.min)
	case f > r.max:
		return fmt.Errorf("%s: %v is more than %v", path, f, r.max)
	}
	return nil
}

// text checks a string, or a value that is written as the name of a closed list.
func text(v reflect.Value, key, path string) error {
	r := ruleFor(key, v.Type())
	s := v.String()
	if v.Kind() != reflect.String {
		s = v.Interface().(fmt.Stringer).String()
	}
	switch {
	case r.enum != nil && !slices.Contains(r.enum, s):
		return fmt.Errorf("%s: unknown name %s", path, quoted(s))
	case r.maxLen > 0 && len(s) > r.maxLen:
		return fmt.Errorf("%s: %d bytes, more than %d", path, len(s), r.maxLen)
	}
	return nil
}

func year(t time.Time, path string) error {
	if y := t.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("%s: the year %d cannot be written", path, y)
	}
	return nil
}
