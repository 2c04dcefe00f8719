package zzlag

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// The environment names the plan and the log; both are absolute paths.
const (
	planEnv     = "TRIAGEBOT_LAG_PLAN"
	logEnv      = "TRIAGEBOT_LAG_LOG"
	planVersion = 1
)

// Limits where the plan names none.
const (
	defaultHits     = 3
	defaultBudgetMS = 20000
)

const (
	anyRole = iota
	workerRole
	testRole
)

var roleNames = [...]string{"any", "worker", "test"}

// decision is one delay, as in triage.Decision.
type decision struct {
	site  string
	kind  string
	role  int
	hit   int32
	ms    float64
	yield bool
}

// plan is triage.LagPlan as far as a process needs it.
type plan struct {
	seed        uint64
	role        int
	kinds       map[string]bool
	sites       map[string]bool
	testSites   bool
	min, max    float64
	yield       bool
	probability float64
	hits        int32
	budgetUS    int64
	// decisions is not nil when the plan is a replay.
	decisions  map[string][]decision
	timeouts   float64
	sleeps     float64
	capMS      float64
	clockSites map[string]bool
	cleanupMS  float64
}

var (
	// active is set once, before any instrumented package is initialised.
	active  bool
	current plan
)

func init() {
	path := os.Getenv(planEnv)
	if path == "" {
		return
	}
	p, err := load(path)
	if err == "" {
		err = openLog(os.Getenv(logEnv))
	}
	if err != "" {
		// A trial that silently ran without its lag would be counted as one with it.
		os.Stderr.WriteString("triagebot lag: plan " + path + ": " + err + "\n")
		os.Exit(2)
	}
	current = p
	active = true
	hookCleanup()
}

func load(path string) (plan, string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return plan{}, err.Error()
	}
	v, ok := parseJSON(string(b))
	if !ok {
		return plan{}, "not JSON"
	}
	o, ok := v.(object)
	if !ok {
		return plan{}, "not a JSON object"
	}
	if n := o.num("version"); n != planVersion {
		return plan{}, "version " + strconv.FormatFloat(n, 'g', -1, 64) + " is not known here"
	}
	return fromObject(o), ""
}

func fromObject(o object) plan {
	stretch := o.obj("stretch")
	p := plan{
		seed:        o.seed("seed"),
		role:        roleOf(o.str("role")),
		kinds:       o.set("kinds"),
		sites:       o.set("sites"),
		testSites:   o.flag("test_sites"),
		min:         o.num("min_ms"),
		max:         o.num("max_ms"),
		yield:       o.flag("yield"),
		probability: o.num("probability"),
		hits:        int32(o.num("hits")),
		budgetUS:    int64(o.num("budget_ms") * 1000),
		timeouts:    factor(stretch.num("timeouts")),
		sleeps:      factor(stretch.num("sleeps")),
		capMS:       stretch.num("cap_ms"),
		clockSites:  stretch.set("sites"),
		cleanupMS:   o.num("cleanup_ms"),
	}
	if p.hits <= 0 {
		p.hits = defaultHits
	}
	if p.budgetUS <= 0 {
		p.budgetUS = defaultBudgetMS * 1000
	}
	if p.max < p.min {
		p.max = p.min
	}
	p.addDecisions(o.list("decisions"))
	return p
}

func (p *plan) addDecisions(l []interface{}) {
	if len(l) == 0 {
		return
	}
	p.decisions = map[string][]decision{}
	for _, e := range l {
		d, ok := e.(object)
		if !ok {
			continue
		}
		if d.str("kind") == cleanupKind {
			p.cleanupMS = d.num("ms")
			continue
		}
		id := d.str("site")
		p.decisions[id] = append(p.decisions[id], decision{
			site: id, role: roleOf(d.str("role")), hit: int32(d.num("hit")), ms: d.num("ms"), yield: d.flag("yield"),
		})
	}
}

func roleOf(s string) int {
	for i, n := range roleNames {
		if n == s {
			return i
		}
	}
	return anyRole
}

func factor(f float64) float64 {
	if f <= 0 {
		return 1
	}
	return f
}

// picks reports whether the plan delays the site at all. A site that the plan
// names is taken whatever its kind, and a double stands in test code by nature.
func (p *plan) picks(s *site, test bool) bool {
	if s.kind == "timeout" || s.kind == "sleep" {
		return false
	}
	if p.decisions != nil {
		return len(s.decisions) > 0
	}
	if len(p.sites) > 0 && !p.names(s.id) || len(p.kinds) > 0 && !p.kinds[s.kind] {
		return false
	}
	if len(p.sites) == 0 && (len(p.kinds) == 0 || test && !p.testSites && s.kind != "double") {
		return false
	}
	return p.probability <= 0 || p.probability >= 1 || fraction(mix(p.seed, s.hash)) < p.probability
}

// names reports whether the plan's sites have this one: by its id, by its file and
// function, or by its folder and function. A method is also named without the
// brackets and star of its receiver.
func (p *plan) names(id string) bool {
	if p.sites[id] {
		return true
	}
	place := cutLast(cutLast(id)) // without kind and ordinal
	file := cutLast(place)
	if file == place || file == id {
		return false
	}
	dir := "."
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		dir = file[:i]
	}
	fn := place[len(file)+1:]
	plain := strings.Replace(strings.Replace(strings.TrimPrefix(fn, "("), "*", "", 1), ").", ".", 1)
	return p.sites[place] || p.sites[file+":"+plain] || p.sites[dir+"/:"+fn] || p.sites[dir+"/:"+plain]
}

// cutLast is a text without what follows its last colon.
func cutLast(s string) string {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return s[:i]
	}
	return s
}

// dose is the delay in milliseconds of one hit. It depends on the site's id and
// not on the build, so head and base and a rebuilt binary agree.
func (p *plan) dose(site uint64, hit int32) float64 {
	if p.max <= p.min {
		return p.min
	}
	ms := p.min + (p.max-p.min)*fraction(mix(p.seed+13, site+uint64(hit)*0x9E3779B97F4A7C15))
	return float64(int64(ms*1000)) / 1000
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix is the finaliser of splitmix64 over both numbers.
func mix(a, b uint64) uint64 {
	x := a*0x9E3779B97F4A7C15 ^ (b + 0x7F4A7C15BF58476D)
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func fraction(x uint64) float64 { return float64(x>>11) / (1 << 53) }

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
