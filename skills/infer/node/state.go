package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// Bounds of an evaluation.
const (
	baseSteps    = 20_000 // and some for each byte of the source
	stepsPerByte = 8
	maxCalls     = 16      // calls inside each other
	maxRepeats   = 64      // calls of one function
	maxText      = 1 << 16 // bytes of one text that is put together
	maxItems     = 1024    // of one list
	maxNested    = 8       // objects inside each other that are looked through
)

// An evaluator follows a program as far as its values are known. Where they are not, it
// follows both branches.
type evaluator struct {
	found   *js.Record
	globals *js.Scope

	steps  int // that are left
	calls  int // inside each other
	nested int // objects inside each other
	unsure int // conditions around the statement
	under  int // those of them that compare an argument with a text

	closures  []*js.Closure // that were created, and may not have been called
	called    map[*syntax.Function]int
	busy      map[*syntax.Function]bool
	returns   []js.Value // of the function that is being evaluated
	local     string     // a module of the program's own that it imports; "" for none
	localLine int32
	end       ending
}

// An ending says whether, and how, a program has ended.
type ending struct {
	mayReturn bool // an active function may have returned before the statement
	mayEnd    bool // the program may have ended before it, and well
	trying    int  // try statements around the statement
	refused   bool // the program fails, whatever the other words are
}

// fail notes that the program fails in a statement under some conditions.
func (e *ending) fail(unsure int) {
	e.refused = e.refused || unsure == 0 && !e.mayReturn && !e.mayEnd
}

// newEvaluator returns the evaluator of a source of some size. First is the text of the
// first argument; "" for any.
func newEvaluator(size int, first string) *evaluator {
	return &evaluator{
		found: &js.Record{Argv: js.NewWordList(first)}, globals: js.NewScope(nil, 0), steps: baseSteps + stepsPerByte*size,
		called: map[*syntax.Function]int{}, busy: map[*syntax.Function]bool{},
	}
}

// charge counts a step, and reports whether the evaluation may go on.
func (e *evaluator) charge() bool {
	if e.steps--; e.steps == 0 {
		e.found.Doubt(0, "the source needs too many steps to be understood")
	}
	return e.steps > 0
}

func (e *evaluator) closure(fn *syntax.Function, s *js.Scope) *js.Closure {
	c := &js.Closure{Function: fn, Scope: s}
	if len(e.closures) < MaxSource {
		e.closures = append(e.closures, c)
	}
	return c
}

// use notes that an argument is used. Under a condition that says nothing.
func (e *evaluator) use(v js.Value) {
	if g, ok := v.(js.Given); ok && e.unsure == 0 {
		g.Used = true
	}
}

// tested notes that the program asks whether an argument is given.
func tested(v js.Value) {
	if g, ok := v.(js.Given); ok {
		g.Tested = true
	}
}

// join returns the value of an expression that has one of two.
func join(a, b js.Value) js.Value {
	if _, ok := a.(js.Given); !ok {
		if _, ok = b.(js.Given); ok {
			a, b = b, a
		}
	}
	switch x := a.(type) {
	case js.Given:
		return joinGiven(x, b)
	case js.Never:
		return b
	case js.Present:
		if y, ok := b.(js.Present); ok {
			x.Option.Merge(y.Option)
			return x
		}
	case js.Words:
		if y, ok := b.(*js.Array); ok && !y.Open || b == (js.Never{}) { // where there are none
			return x
		}
	case *js.Object:
		if b == (js.Undefined{}) || b == js.Value(x) || b == (js.Never{}) {
			return x
		}
	case js.Undefined:
		if o, ok := b.(*js.Object); ok {
			return o
		}
	}
	if b == (js.Never{}) || js.IsConstant(a) && a == b {
		return a
	}
	return js.Unknown{}
}

// joinGiven returns the value of an argument that has another value elsewhere: its
// default, as far as that is one.
func joinGiven(x js.Given, b js.Value) js.Value {
	x.Tested = true
	y, ok := b.(js.Given)
	switch {
	case !ok:
		if !x.Derived {
			x.SetDefault(b)
		}
		return x
	case x.Argument == y.Argument:
		return js.Given{Argument: x.Argument, Derived: x.Derived || y.Derived}
	}
	y.Tested = true
	return js.Unknown{}
}

// equal compares two values. It reports false where that is not known.
func equal(left, right js.Value) (is, known bool) {
	tested(left)
	tested(right)
	if isProgram(left) || isProgram(right) {
		return true, true // it is run, not imported
	}
	for _, pair := range [][2]js.Value{{left, right}, {right, left}} {
		g, isGiven := pair[0].(js.Given)
		if text, isText := pair[1].(string); isGiven && isText {
			g.Compare(text)
		}
		l, isLength := pair[0].(js.Length)
		if n, isNumber := pair[1].(float64); isLength && isNumber && l.List.First != "" && int(n)+l.From < 1 {
			return false, true
		}
	}
	if !js.IsConstant(left) || !js.IsConstant(right) {
		return false, false
	}
	return left == right || js.IsNone(left) && js.IsNone(right), true
}

func isProgram(v js.Value) bool {
	return v == js.Reference("require.main") || v == js.Reference("import.meta.main") || v == js.Reference("module")
}

// nameValue names an argument by the variable that it is assigned to.
func nameValue(name string, v js.Value, line int32) {
	switch v := v.(type) {
	case js.Given:
		if v.Flag == "" && !v.Named && name != "_" {
			v.Name, v.Named, v.Line = name, true, max(line, v.Line)
		}
	case js.Words:
		if v.From > 0 && v.List.Rest == nil && v.List.RestName == "" {
			v.List.RestName = name
		}
	}
}
