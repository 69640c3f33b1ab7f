package node

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/library"
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
	maxUnroll    = 128     // rounds of a loop
	maxNested    = 8       // objects inside each other that are looked through
)

// A state holds the progress of an evaluation.
type state struct {
	steps   int
	calls   int
	nested  int // objects inside each other
	unsure  int // conditions around the statement
	globals *js.Scope
	*js.Record
	libraries *library.Set

	closures  []*js.Closure // that were created, and may not have been called
	counters  map[*syntax.Function]*js.Counter
	returns   []js.Value            // of the function that is being evaluated
	stack     []bool                // for each function that is being evaluated, whether it is the program's own
	refuses   map[*syntax.Node]bool // chains of if that end the program where none holds
	local     string                // a module of the program's own that it imports; "" for none
	localLine int32
}

// charge counts a step, and reports whether the evaluation may go on.
func (e *state) charge() bool {
	if e.steps--; e.steps == 0 {
		e.Doubt(0, "the source needs too many steps to be understood")
	}
	return e.steps > 0
}

// Conditional reports whether the statement may not be reached.
func (e *state) Conditional() bool { return e.unsure > 0 }

// inMain reports whether the function that is evaluated is the program's own.
func (e *state) inMain() bool {
	return len(e.stack) == 0 || !slices.Contains(e.stack, false)
}

func (e *state) closure(fn *syntax.Function, s *js.Scope) *js.Closure {
	c := e.bound(fn, s, s.This)
	if len(e.closures) < MaxSource {
		e.closures = append(e.closures, c)
	}
	return c
}

// bound returns a function with its scope and its this.
func (e *state) bound(fn *syntax.Function, s *js.Scope, this js.Value) *js.Closure {
	if e.counters[fn] == nil {
		e.counters[fn] = &js.Counter{}
	}
	return &js.Closure{Function: fn, Counter: e.counters[fn], Scope: s, This: this}
}

// tested notes that the program asks whether an argument is given.
func (e *state) tested(v js.Value) {
	switch v := v.(type) {
	case js.Given:
		v.Argument.Tested = true
	}
}

// use notes that an argument is used. Under a condition that says nothing.
func (e *state) use(v js.Value) {
	switch v := v.(type) {
	case js.Given:
		if v.Argument != nil {
			v.Argument.Used, v.Argument.Touched = v.Argument.Used || e.unsure == 0, true
		}
	}
}

// join returns the value of an expression that has one of two.
func (e *state) join(a, b js.Value) js.Value {
	if g, ok := b.(js.Given); ok {
		if _, also := a.(js.Given); !also {
			a, b = g, a
		}
	}
	switch x := a.(type) {
	case js.Given:
		switch y := b.(type) {
		case js.Given:
			if x.Argument == y.Argument {
				return js.Given{Argument: x.Argument, Derived: x.Derived || y.Derived}
			}
			x.Argument.Tested, y.Argument.Tested = true, true
			return js.Unknown{}
		default:
			x.Argument.Tested = true
			if !x.Derived {
				x.Argument.SetDefault(b)
			}
			return x
		}
	case js.Never:
		return b
	}
	if b == (js.Never{}) {
		return a
	}
	switch x := a.(type) {
	case js.Present:
		if y, ok := b.(js.Present); ok {
			x.Option.Merge(y.Option)
			return x
		}
		return js.Unknown{}
	case js.Position:
		return js.Unknown{}
	case *js.Object:
		if b == (js.Undefined{}) || b == js.Value(x) {
			return a
		}
		return js.Unknown{}
	case js.Words:
		if y, ok := b.(*js.Array); ok && !y.Open { // where there are none
			return x
		}
		return js.Unknown{}
	case *js.Array:
		if y, ok := b.(js.Words); ok && !x.Open {
			return y
		}
		return js.Unknown{}
	case js.Method:
		return js.Unknown{}
	}
	if js.IsConstant(a) && js.IsConstant(b) && a == b {
		return a
	}
	if o, ok := b.(*js.Object); ok && a == (js.Undefined{}) {
		return o
	}
	return js.Unknown{}
}

// equal compares two constants.
func (e *state) equal(left, right js.Value) (is, known bool) {
	if r, ok := left.(js.Reference); ok && (r == "require.main" || r == "import.meta.main" || r == "module") {
		return true, true // the program is run, not imported
	}
	if r, ok := right.(js.Reference); ok && (r == "require.main" || r == "module") {
		return true, true
	}
	if g, ok := left.(js.Given); ok {
		g.Tested = true
	}
	if g, ok := right.(js.Given); ok {
		g.Tested = true
	}
	if !js.IsConstant(left) || !js.IsConstant(right) {
		return false, false
	}
	return left == right || js.IsNone(left) && js.IsNone(right), true
}
