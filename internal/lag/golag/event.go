package golag

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// callEvent is the event that a call is: a signal to others, a wake-up after
// waiting for them, the return of what may be a double, or nothing.
func (w *walker) callEvent(c *ast.CallExpr) triage.Kind {
	fun := ast.Unparen(c.Fun)
	if tv, ok := w.info.Types[fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		if id, ok := fun.(*ast.Ident); ok && id.Name == "close" {
			return triage.KindSignal
		}
		return ""
	}
	switch y := fun.(type) {
	case *ast.SelectorExpr:
		return w.selectorEvent(y)
	case *ast.Ident:
		if v, ok := w.info.Uses[y].(*types.Var); ok {
			return valueEvent(v.Type())
		}
	}
	return ""
}

func (w *walker) selectorEvent(e *ast.SelectorExpr) triage.Kind {
	sel := w.info.Selections[e]
	if sel == nil { // qualified: pkg.F or a variable pkg.V
		switch o := w.info.Uses[e.Sel].(type) {
		case *types.Var:
			return valueEvent(o.Type())
		case *types.Func:
			if o.Pkg() != nil && o.Pkg().Path() == "sync/atomic" && isAtomicWrite(o.Name()) {
				return triage.KindSignal
			}
		}
		return ""
	}
	if sel.Kind() == types.FieldVal {
		return valueEvent(sel.Type())
	}
	f, ok := sel.Obj().(*types.Func)
	if !ok || f.Pkg() == nil { // error.Error
		return ""
	}
	return methodEvent(f, sel.Recv())
}

// quiet are packages whose methods are no doubles and no events.
var quiet = []string{"context", "testing", "reflect", "fmt", "log", "log/slog", "go/ast", "go/types", "strings", "bytes"}

func methodEvent(f *types.Func, recv types.Type) triage.Kind {
	name := f.Name()
	switch f.Pkg().Path() {
	case "sync":
		switch name {
		case "Unlock", "RUnlock", "Signal", "Broadcast", "Done", "Store", "Delete", "LoadOrStore", "LoadAndDelete", "Swap", "CompareAndSwap":
			return triage.KindSignal
		case "Wait":
			return triage.KindWake
		}
		return ""
	case "sync/atomic":
		if isAtomicWrite(name) {
			return triage.KindSignal
		}
		return ""
	}
	if slices.Contains(quiet, f.Pkg().Path()) {
		return ""
	}
	if types.IsInterface(recv) {
		return triage.KindReturn
	}
	return ""
}

func isAtomicWrite(name string) bool {
	return slices.ContainsFunc([]string{"Store", "Swap", "CompareAndSwap", "Add", "And", "Or"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// valueEvent is the event of calling a function value.
func valueEvent(t types.Type) triage.Kind {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" {
		return triage.KindSignal // CancelFunc, CancelCauseFunc
	}
	if _, ok := t.Underlying().(*types.Signature); ok {
		return triage.KindReturn
	}
	return ""
}

// isUnlock reports whether a call gives a lock of package sync back.
func (w *walker) isUnlock(c *ast.CallExpr) bool {
	e, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || !strings.HasSuffix(e.Sel.Name, "Unlock") {
		return false
	}
	sel := w.info.Selections[e]
	return sel != nil && sel.Obj().Pkg() != nil && sel.Obj().Pkg().Path() == "sync"
}
