package golag

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	// boundName is the name of a variable or field that bounds a wait.
	boundName = regexp.MustCompile(`(?i)(timeout|deadline)$`)
	// waiterName is the name of a project's own function that waits for something.
	waiterName = regexp.MustCompile(`(?i)(wait|eventually|poll|timeout|deadline|until|within)`)
	// tickName is the name of a parameter that is an interval and bounds nothing.
	tickName = regexp.MustCompile(`(?i)(tick|interval|poll|every|period|step|freq|pause|sleep|delay)`)
)

func isWaiter(name string) bool { return waiterName.MatchString(name) }

// clockCall marks the clocks among a call's arguments.
func (w *walker) clockCall(c *ast.CallExpr, name, pkg string) {
	switch {
	case pkg == "time":
		w.timeCall(c, name)
	case pkg == "context" && len(c.Args) > 1:
		if strings.HasPrefix(name, "WithTimeout") {
			w.bound(c.Args[1], c.Pos())
		} else if strings.HasPrefix(name, "WithDeadline") {
			w.moment(c.Args[1], c.Pos())
		}
	case strings.HasPrefix(name, "Set") && strings.HasSuffix(name, "Deadline") && len(c.Args) == 1:
		w.moment(c.Args[0], c.Pos())
	case strings.HasPrefix(name, "Eventually"):
		for _, a := range c.Args {
			if w.bound(a, c.Pos()) {
				break // the second one is the tick
			}
		}
	case name == "Reset" && w.isTimer(c.Fun) && len(c.Args) == 1:
		w.bound(c.Args[0], c.Pos())
	case name == "Add" && w.test && w.isNow(c.Fun):
		w.untilNow(c)
	case isWaiter(name):
		w.helperCall(c)
	}
}

func (w *walker) timeCall(c *ast.CallExpr, name string) {
	if len(c.Args) == 0 {
		return
	}
	switch name {
	case "Sleep":
		if w.loops == 0 && isDuration(w.info.TypeOf(c.Args[0])) { // in a loop it is the interval of a poll
			w.wrap(triage.KindSleep, c.Args[0], c.Pos(), "S")
		}
	case "After", "NewTimer", "AfterFunc":
		w.bound(c.Args[0], c.Pos())
	}
}

// untilNow marks the deadline of a test's own polling loop, time.Now().Add(d),
// unless d was marked where the helper is called.
func (w *walker) untilNow(c *ast.CallExpr) {
	if len(c.Args) != 1 {
		return
	}
	if id, ok := ast.Unparen(c.Args[0]).(*ast.Ident); ok && w.waiters[w.info.Uses[id]] {
		return
	}
	w.bound(c.Args[0], c.Pos())
}

// helperCall marks the durations that are given to a project's own wait helper.
func (w *walker) helperCall(c *ast.CallExpr) {
	fun := ast.Unparen(c.Fun)
	var o types.Object
	switch y := fun.(type) {
	case *ast.Ident:
		o = w.info.Uses[y]
	case *ast.SelectorExpr:
		o = w.info.Uses[y.Sel]
	}
	if o == nil || o.Pkg() == nil || !w.project[strings.TrimSuffix(o.Pkg().Path(), "_test")] && o.Pkg() != w.pkg {
		return
	}
	sig, ok := o.Type().Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i, a := range c.Args {
		if i < sig.Params().Len() && !tickName.MatchString(sig.Params().At(i).Name()) && isDuration(sig.Params().At(i).Type()) {
			w.bound(a, c.Pos())
		}
	}
}

// noteWaiter remembers the durations of a helper that helperCall marks.
func (w *walker) noteWaiter(f *ast.FuncDecl) {
	for _, p := range f.Type.Params.List {
		for _, n := range p.Names {
			if o := w.info.Defs[n]; o != nil && isDuration(o.Type()) && !tickName.MatchString(n.Name) {
				w.waiters[o] = true
			}
		}
	}
}

// field marks Timeout: d in a composite literal.
func (w *walker) field(kv *ast.KeyValueExpr) {
	if id, ok := kv.Key.(*ast.Ident); ok && boundName.MatchString(id.Name) {
		w.bound(kv.Value, kv.Pos())
	}
}

// assignment marks x.Timeout = d.
func (w *walker) assignment(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, l := range s.Lhs {
		if e, ok := l.(*ast.SelectorExpr); ok && boundName.MatchString(e.Sel.Name) {
			w.bound(s.Rhs[i], s.Pos())
		}
	}
}

// variable marks var fooTimeout = d.
func (w *walker) variable(s *ast.ValueSpec) {
	for i, n := range s.Names {
		if _, isVar := w.info.Defs[n].(*types.Var); isVar && i < len(s.Values) && boundName.MatchString(n.Name) {
			w.bound(s.Values[i], s.Pos())
		}
	}
}

// bound marks a duration. It reports whether the expression is one.
func (w *walker) bound(e ast.Expr, pos token.Pos) bool {
	if !isDuration(w.info.TypeOf(e)) {
		return false
	}
	w.wrap(triage.KindTimeout, e, pos, "D")
	return true
}

func (w *walker) moment(e ast.Expr, pos token.Pos) {
	if isTimeType(w.info.TypeOf(e), "Time") {
		w.wrap(triage.KindTimeout, e, pos, "T")
	}
}

func (w *walker) isTimer(fun ast.Expr) bool {
	e, ok := ast.Unparen(fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	t := w.info.TypeOf(e.X)
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return isTimeType(t, "Timer")
}

// isNow reports whether a method is called on time.Now().
func (w *walker) isNow(fun ast.Expr) bool {
	e, ok := ast.Unparen(fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	c, ok := ast.Unparen(e.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	name, pkg := w.callee(ast.Unparen(c.Fun))
	return name == "Now" && pkg == "time"
}

func isDuration(t types.Type) bool { return isTimeType(t, "Duration") }

func isTimeType(t types.Type, name string) bool {
	if t == nil {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time"
}
