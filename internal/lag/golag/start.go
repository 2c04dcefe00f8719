package golag

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/triagebot/triagebot/internal/triage"
)

func (w *walker) goStmt(s *ast.GoStmt) {
	if !w.mark(s.Call.Fun, started) {
		w.wrapFunc(s.Call.Fun, s.Pos())
	}
}

// wrapFunc puts a lag point before the body of a function that is started by
// its name. What cannot be wrapped is left: built-ins, conversions, generic
// functions whose type arguments the call infers, and in a module without
// generics everything but a func().
func (w *walker) wrapFunc(fun ast.Expr, pos token.Pos) {
	e := ast.Unparen(fun)
	tv, ok := w.info.Types[e]
	if !ok || tv.IsBuiltin() || tv.IsType() || tv.IsNil() || tv.Type == nil || w.isGeneric(e) {
		return
	}
	sig, ok := tv.Type.Underlying().(*types.Signature)
	switch {
	case !ok:
	case sig.Params().Len() == 0 && sig.Results().Len() == 0:
		w.wrap(triage.KindStart, fun, pos, "W0")
	case w.generics:
		w.wrap(triage.KindStart, fun, pos, "W")
	}
}

// isGeneric reports whether an expression names a generic function.
func (w *walker) isGeneric(e ast.Expr) bool {
	switch y := e.(type) {
	case *ast.SelectorExpr:
		return w.isGeneric(y.Sel)
	case *ast.Ident:
		_, ok := w.info.Instances[y]
		return ok
	}
	return false
}

// starters are methods and functions that run their argument on a goroutine of
// its own: errgroup and WaitGroup, the AfterFunc of time and context, pools.
var starters = map[string]bool{"Go": true, "TryGo": true, "AfterFunc": true, "Submit": true}

// immediate are methods that run their argument on the test's own thread, or at
// its end.
var immediate = map[string]bool{"Run": true, "Cleanup": true, "Fuzz": true}

func (w *walker) callExpr(c *ast.CallExpr) {
	fun := ast.Unparen(c.Fun)
	if w.mark(fun, w.usageOf(fun)) { // func(){…}(): part of the function around it
		return
	}
	name, pkg := w.callee(fun)
	for i, a := range c.Args {
		switch {
		case starters[name]:
			if !w.mark(a, started) && w.wantsFunc(c, i) {
				w.wrapFunc(a, c.Pos())
			}
		case immediate[name] && w.isTestingMethod(fun):
			w.mark(a, direct)
		}
	}
	w.clockCall(c, name, pkg)
}

// usageOf keeps the mark of a literal that a go statement has made already.
func (w *walker) usageOf(e ast.Expr) usage {
	if l, ok := e.(*ast.FuncLit); ok {
		if u, ok := w.usages[l]; ok {
			return u
		}
	}
	return direct
}

// wantsFunc reports whether the parameter is a function: an argument for an
// interface may have to keep its own type.
func (w *walker) wantsFunc(c *ast.CallExpr, i int) bool {
	sig, ok := w.info.TypeOf(c.Fun).(*types.Signature)
	if !ok || i >= sig.Params().Len() {
		return false
	}
	_, ok = sig.Params().At(i).Type().Underlying().(*types.Signature)
	return ok
}

// callee is the called function's name and, for one that is not a method, the
// path of its package.
func (w *walker) callee(fun ast.Expr) (name, pkg string) {
	var id *ast.Ident
	switch y := fun.(type) {
	case *ast.Ident:
		id = y
	case *ast.SelectorExpr:
		id = y.Sel
	case *ast.IndexExpr:
		return w.callee(ast.Unparen(y.X))
	default:
		return "", ""
	}
	if f, ok := w.info.Uses[id].(*types.Func); ok && f.Pkg() != nil && f.Signature().Recv() == nil {
		pkg = f.Pkg().Path()
	}
	return id.Name, pkg
}

func (w *walker) isTestingMethod(fun ast.Expr) bool {
	e, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	o := w.info.Uses[e.Sel]
	return o != nil && o.Pkg() != nil && o.Pkg().Path() == "testing"
}
