package golag

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/triagebot/triagebot/internal/triage"
)

// list places the points between the statements of one list. Whatever stands
// around it (a function's entry, a branch) covers the first statement.
func (w *walker) list(stmts []ast.Stmt) {
	covered := true
	for _, s := range stmts {
		inner := s
		for {
			l, ok := inner.(*ast.LabeledStmt)
			if !ok {
				break
			}
			inner = l.Stmt
		}
		if !covered && steppable(inner) {
			w.before(triage.KindStep, s.Pos(), inner, "")
		}
		covered = w.statement(inner)
	}
}

func steppable(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.BranchStmt, *ast.EmptyStmt, *ast.CaseClause, *ast.CommClause:
		return false
	}
	return true
}

// statement places the point that a statement's own event asks for, and reports
// whether one follows the statement.
func (w *walker) statement(s ast.Stmt) bool {
	switch y := s.(type) {
	case *ast.SendStmt:
		w.after(triage.KindSignal, y)
		return true
	case *ast.ExprStmt:
		return !w.isPanic(y.X) && w.afterEvent(s)
	case *ast.AssignStmt, *ast.DeclStmt, *ast.IncDecStmt:
		return w.afterEvent(s)
	case *ast.IfStmt:
		return w.ifChain(y)
	case *ast.ReturnStmt:
		if k := w.event(y); k != "" && k != triage.KindSignal {
			w.before(k, y.Pos(), y, "defer ")
		}
	case *ast.DeferStmt:
		if w.isUnlock(y.Call) {
			w.before(triage.KindSignal, y.Pos(), y, "defer ")
		}
	case *ast.SwitchStmt:
		w.clauses(w.event(y.Init, y.Tag), y.Body)
	case *ast.TypeSwitchStmt:
		w.clauses(w.event(y.Init, y.Assign), y.Body)
	case *ast.ForStmt:
		if k := w.event(y.Cond); k != "" {
			w.open(k, y.Body.Lbrace+1, y.Pos())
		}
	}
	return false
}

func (w *walker) afterEvent(s ast.Stmt) bool {
	k := w.event(s)
	if k != "" {
		w.after(k, s)
	}
	return k != ""
}

// isPanic reports whether an expression ends the function for the compiler.
func (w *walker) isPanic(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	return ok && id.Name == "panic"
}

// ifChain places points at the start of each branch that runs after an event in
// a condition, and behind the statement when there is no last else.
func (w *walker) ifChain(s *ast.IfStmt) bool {
	seen := triage.Kind("")
	for n := s; ; {
		if k := w.event(n.Init, n.Cond); k != "" {
			seen = k
		}
		if seen != "" {
			w.open(seen, n.Body.Lbrace+1, n.Pos())
		}
		switch e := n.Else.(type) {
		case *ast.IfStmt:
			n = e
			continue
		case *ast.BlockStmt:
			if seen != "" {
				w.open(seen, e.Lbrace+1, n.Pos())
			}
			return false
		}
		break
	}
	if seen == "" {
		return false
	}
	w.after(seen, s)
	return true
}

// clauses opens every clause of a switch whose head has an event.
func (w *walker) clauses(k triage.Kind, body *ast.BlockStmt) {
	if k == "" {
		return
	}
	for _, s := range body.List {
		if c, ok := s.(*ast.CaseClause); ok {
			w.open(k, c.Colon+1, c.Pos())
		}
	}
}

func (w *walker) commClause(c *ast.CommClause) {
	switch c.Comm.(type) {
	case nil: // default
	case *ast.SendStmt:
		w.open(triage.KindSignal, c.Colon+1, c.Pos())
	default:
		w.open(triage.KindWake, c.Colon+1, c.Pos())
	}
	w.list(c.Body)
}

// rangeStmt: a range over a channel wakes, one over a function has just called it.
func (w *walker) rangeStmt(s *ast.RangeStmt) {
	t := w.info.TypeOf(s.X)
	if t == nil {
		return
	}
	switch t.Underlying().(type) {
	case *types.Chan:
		w.open(triage.KindWake, s.Body.Lbrace+1, s.Pos())
	case *types.Signature:
		w.open(triage.KindReturn, s.Body.Lbrace+1, s.Pos())
	}
}

// strength orders the events of one statement: the strongest names the point.
var strength = map[triage.Kind]int{"": 0, triage.KindReturn: 1, triage.KindSignal: 2, triage.KindWake: 3}

// event finds the strongest event in the nodes, not looking into function
// literals and nested blocks.
func (w *walker) event(nodes ...ast.Node) triage.Kind {
	best := triage.Kind("")
	for _, n := range nodes {
		if n == nil || isNil(n) {
			continue
		}
		ast.Inspect(n, func(x ast.Node) bool {
			k := triage.Kind("")
			switch y := x.(type) {
			case *ast.FuncLit, *ast.BlockStmt:
				return false
			case *ast.UnaryExpr:
				if y.Op == token.ARROW {
					k = triage.KindWake
				}
			case *ast.CallExpr:
				k = w.callEvent(y)
			}
			if strength[k] > strength[best] {
				best = k
			}
			return true
		})
	}
	return best
}
