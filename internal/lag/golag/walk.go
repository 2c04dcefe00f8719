package golag

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// span is a range of lines.
type span struct{ from, to int }

// usage is what happens to a function literal where it stands.
type usage int

const (
	// kept: the literal is a value that somebody may call later.
	kept usage = iota
	// started: it is the body of a goroutine.
	started
	// direct: it runs as part of the function around it, or is a test's own body.
	direct
)

// walker finds the sites of one file.
type walker struct {
	*source
	test, mock bool
	project    map[string]bool
	// fn is the name of the function around, closures its literals so far.
	fn       string
	closures int
	around   span
	// depth counts the literals around.
	depth int
	// loops is the depth of loops within the function or literal.
	loops  int
	usages map[*ast.FuncLit]usage
	names  map[string]int
	// waiters are the parameters of wait helpers, whose callers are stretched already.
	waiters map[types.Object]bool
}

func newWalker(f *source, u unit, l *loaded) *walker {
	mock := u.isMock()
	return &walker{
		source: f, mock: mock, test: mock || strings.HasSuffix(u.path, "_test.go"), project: l.project,
		usages: map[*ast.FuncLit]usage{}, names: map[string]int{}, waiters: map[types.Object]bool{},
	}
}

var mockName = regexp.MustCompile(`(?i)(^|_)(mock|fake|stub)s?(_|$)`)

// isMock reports whether a file holds test doubles by its name or its package's.
func (u unit) isMock() bool {
	pkg := strings.ToLower(u.file.Name.Name)
	return strings.Contains(pkg, "mock") || strings.Contains(pkg, "fake") ||
		mockName.MatchString(strings.TrimSuffix(filepath.Base(u.path), ".go"))
}

func (w *walker) walkFile() {
	for _, d := range w.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			w.declaration(f)
			continue
		}
		w.fn, w.around = "glob.", span{w.line(d.Pos()), w.line(d.End())}
		w.walk(d)
	}
}

// untouchable are directives of functions that must stay as they are.
var untouchable = regexp.MustCompile(`^//go:(nosplit|systemstack|norace|nowritebarrier|nowritebarrierrec|linkname|nocheckptr)\b`)

var testFunc = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)`)

func (w *walker) declaration(f *ast.FuncDecl) {
	if f.Body == nil {
		return
	}
	if f.Doc != nil {
		for _, c := range f.Doc.List {
			if untouchable.MatchString(c.Text) {
				return
			}
		}
	}
	w.fn, w.closures, w.loops = w.unique(funcName(f)), 0, 0
	w.around = span{w.line(f.Pos()), w.line(f.End())}
	if isWaiter(f.Name.Name) {
		w.noteWaiter(f)
	}
	if w.isDouble(f) {
		w.enter(triage.KindDouble, f.Body, f.Pos())
	}
	if !w.test || !testFunc.MatchString(f.Name.Name) || f.Recv != nil {
		w.enter(triage.KindCall, f.Body, f.Pos())
	}
	w.walk(f.Body)
}

// unique tells apart the functions that may share a name: init and _.
func (w *walker) unique(name string) string {
	w.names[name]++
	if n := w.names[name]; n > 1 {
		return fmt.Sprintf("%s#%d", name, n)
	}
	return name
}

// funcName is the function as Go's traces have it, without type arguments.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t, star := ast.Unparen(f.Recv.List[0].Type), false
	if s, ok := t.(*ast.StarExpr); ok {
		t, star = ast.Unparen(s.X), true
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	name := "?"
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	if star {
		name = "(*" + name + ")"
	}
	return name + "." + f.Name.Name
}

// isDouble reports whether a declared function is a test double: a method of a
// type that test code declares, or anything in a file of doubles.
func (w *walker) isDouble(f *ast.FuncDecl) bool {
	if w.mock {
		return true
	}
	if !w.test || f.Recv == nil {
		return false
	}
	obj := w.info.Defs[f.Name]
	if obj == nil {
		return false
	}
	recv := obj.Type().(*types.Signature).Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	named, ok := recv.(*types.Named)
	return ok && strings.HasSuffix(w.fset.PositionFor(named.Obj().Pos(), false).Filename, "_test.go")
}

// literal visits a function literal as a function of its own.
func (w *walker) literal(l *ast.FuncLit) {
	fn, closures, loops := w.fn, w.closures+1, w.loops
	w.fn, w.closures, w.loops = w.closureName(closures), 0, 0
	w.depth++
	switch w.usages[l] {
	case started:
		w.enter(triage.KindStart, l.Body, l.Pos())
	case kept:
		if w.takesT(l.Type) {
			break
		}
		if w.test {
			w.enter(triage.KindDouble, l.Body, l.Pos())
		} else {
			w.enter(triage.KindCall, l.Body, l.Pos())
		}
	}
	w.walk(l.Body)
	w.depth--
	w.fn, w.closures, w.loops = fn, closures, loops
}

// closureName numbers the literals of a function as Go does.
func (w *walker) closureName(n int) string {
	if w.depth > 0 {
		return fmt.Sprintf("%s.%d", w.fn, n)
	}
	return fmt.Sprintf("%s.func%d", w.fn, n)
}

// takesT reports whether a literal is the body of a test: its first parameter
// is a *testing.T, B or F.
func (w *walker) takesT(t *ast.FuncType) bool {
	if len(t.Params.List) == 0 {
		return false
	}
	p, ok := w.info.TypeOf(t.Params.List[0].Type).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := p.Elem().(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "testing"
}

// enter puts a lag point first into a body; that of a double is deferred, so
// that it runs after the body and its other defers.
func (w *walker) enter(k triage.Kind, b *ast.BlockStmt, pos token.Pos) {
	verb := " "
	if k == triage.KindDouble {
		verb = " defer "
	}
	n := w.add(k, pos, w.fn, w.test, w.around)
	w.insert(n, b.Lbrace+1, entering, verb+w.call("P", n)+");")
}

// open puts a lag point at the start of a block or clause.
func (w *walker) open(k triage.Kind, at, pos token.Pos) {
	n := w.add(k, pos, w.fn, w.test, w.around)
	w.insert(n, at, entering, " "+w.call("P", n)+");")
}

// after puts a lag point behind a statement.
func (w *walker) after(k triage.Kind, s ast.Stmt) {
	n := w.add(k, s.Pos(), w.fn, w.test, w.around)
	w.insert(n, s.End(), following, "; "+w.call("P", n)+")")
}

// before puts a lag point, or the defer of one, in front of a statement.
func (w *walker) before(k triage.Kind, at token.Pos, s ast.Stmt, verb string) {
	n := w.add(k, s.Pos(), w.fn, w.test, w.around)
	w.insert(n, at, preceding, verb+w.call("P", n)+"); ")
}

// wrap puts a call of the runtime around an expression.
func (w *walker) wrap(k triage.Kind, e ast.Expr, pos token.Pos, fn string) {
	n := w.add(k, pos, w.fn, w.test, w.around)
	w.insert(n, e.Pos(), opening, w.call(fn, n)+", ")
	w.insert(n, e.End(), closing, ")")
}

func (w *walker) walk(n ast.Node) { ast.Inspect(n, w.visit) }

func (w *walker) visit(n ast.Node) bool {
	switch y := n.(type) {
	case *ast.FuncLit:
		w.literal(y)
		return false
	case *ast.BlockStmt:
		if !isSwitchBody(y) {
			w.list(y.List)
		}
	case *ast.CaseClause:
		w.list(y.Body)
	case *ast.CommClause:
		w.commClause(y)
	case *ast.ForStmt:
		return w.loop(y, y.Init, y.Cond, y.Post, y.Body)
	case *ast.RangeStmt:
		w.rangeStmt(y)
		return w.loop(y, y.Key, y.Value, y.X, y.Body)
	case *ast.GoStmt:
		w.goStmt(y)
	case *ast.DeferStmt:
		w.mark(y.Call.Fun, direct)
	case *ast.CallExpr:
		w.callExpr(y)
	case *ast.KeyValueExpr:
		w.field(y)
	case *ast.AssignStmt:
		w.assignment(y)
	case *ast.ValueSpec:
		w.variable(y)
	}
	return true
}

// loop visits the parts of a loop one level deeper. It answers false: the parts
// are done.
func (w *walker) loop(_ ast.Stmt, parts ...ast.Node) bool {
	w.loops++
	for _, p := range parts {
		if p != nil && !isNil(p) {
			w.walk(p)
		}
	}
	w.loops--
	return false
}

// isNil reports whether an interface holds a nil node.
func isNil(n ast.Node) bool {
	switch y := n.(type) {
	case ast.Expr:
		return y == nil
	case ast.Stmt:
		return y == nil
	}
	return false
}

func isSwitchBody(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[0].(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// mark notes what becomes of an expression if it is a function literal.
func (w *walker) mark(e ast.Expr, u usage) bool {
	l, ok := ast.Unparen(e).(*ast.FuncLit)
	if ok {
		w.usages[l] = u
	}
	return ok
}
