package python

// An interp follows a script as Python would execute it, without executing
// anything: it knows constants, the functions and classes of the file, and
// argparse. Where it cannot tell which way the script goes it follows each way
// and calls what happens there uncertain.
type interp struct {
	prog    string
	globals *scope
	notes   *notes
	steps   int // left
	// spare are the steps left for functions that have nothing to do with
	// argparse; while one of these is followed, aside, the two change places.
	spare int
	aside bool
	calls int // depth of calls
	// unsure counts the conditions around what is executed that are not known.
	unsure int
	parses []parse
	stray  *Note // an add_argument whose parser is not known
}

// A parse is a call of parse_args.
type parse struct {
	parser *parser
	line   int
}

// Bounds of following a script. What is beyond is unknown.
const (
	baseSteps    = 20_000 // and some for each byte of the source
	stepsPerByte = 4
	maxCalls     = 24      // depth of calls of the file's own functions
	maxText      = 1 << 16 // bytes of one text that is put together
	maxItems     = 4096    // of one list
	maxUnroll    = 256     // rounds of a loop
)

type scope struct {
	vars    map[string]value
	outer   *scope
	globals map[string]bool // names declared global
}

func newScope(outer *scope) *scope { return &scope{vars: map[string]value{}, outer: outer} }

// A frame is one execution of a function's body.
type frame struct {
	scope  *scope
	result value // of return; nil where there was none
	ended  bool
	jumped bool // break or continue
}

func (i *interp) charge(n int) bool {
	i.steps -= n
	return i.steps > 0
}

func (i *interp) lookup(s *scope, name string) value {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return reference("builtins." + name)
}

func (i *interp) assign(s *scope, name string, v value) {
	if s.globals[name] {
		s = i.globals
	}
	if i.unsure > 0 {
		v = join(s.vars[name], v)
	}
	s.vars[name] = v
}

// join returns what a variable holds that may have been assigned: what both
// have in common.
func join(before, after value) value {
	if before == nil {
		return after
	}
	if v, ok := before.(unknown); ok && v.parameter {
		if _, is := after.(argvector); is || isNone(after) {
			return after
		}
	}
	if same(before, after) {
		return before
	}
	if isNone(before) {
		if _, is := after.(argvector); is {
			return after
		}
	}
	return unknown{}
}

// same reports whether two values are certainly one.
func same(a, b value) bool {
	switch a := a.(type) {
	case none, bool, int64, float64, string, unknown, reference, argvector, ellipsis:
		return a == b
	case *parser:
		return a == b
	case *group:
		return a == b
	case *subparsers:
		return a == b
	case *function:
		return a == b
	case *class:
		return a == b
	case *instance:
		return a == b
	case *sequence:
		return a == b
	case *mapping:
		return a == b
	}
	return false
}

func (i *interp) run(body []*stmt, f *frame) {
	for _, s := range body {
		if f.ended || f.jumped || !i.charge(1) {
			return
		}
		i.execute(s, f)
	}
}

// maybe runs statements that are executed or not.
func (i *interp) maybe(body []*stmt, f *frame) {
	i.unsure++
	ended := f.ended
	i.run(body, f)
	f.ended, f.jumped = ended, false
	i.unsure--
}

func (i *interp) execute(s *stmt, f *frame) {
	switch s.kind {
	case sExpr:
		i.eval(s.value, f.scope)
		if endsProgram(s.value) && i.unsure == 0 {
			f.ended = true
		}
	case sAssign:
		v := i.eval(s.value, f.scope)
		for _, target := range s.targets {
			i.bind(target, v, f.scope)
		}
	case sAugment:
		i.augment(s, f.scope)
	case sReturn:
		i.giveBack(s, f)
	case sRaise:
		if s.value != nil {
			i.eval(s.value, f.scope)
		}
		f.ended = true
	case sJump:
		f.jumped = s.name != "pass"
	case sImport:
		i.imports(s, f.scope)
	case sDef:
		i.define(s.function, f.scope)
	case sClass:
		i.defineClass(s.class, f.scope)
	case sGlobal:
		if f.scope.globals == nil {
			f.scope.globals = map[string]bool{}
		}
		for _, name := range s.names {
			f.scope.globals[name] = s.name == "global"
		}
	case sOpaque:
		if s.name != "" && i.stray == nil {
			i.stray = &Note{s.line, "a statement that declares arguments could not be read"}
		}
	default:
		i.block(s, f)
	}
}

// endsProgram reports whether an expression is a call of sys.exit or exit.
func endsProgram(n *node) bool {
	if n.kind != nCall {
		return false
	}
	callee := n.kids[0]
	if callee.kind == nName {
		return callee.name == "exit" || callee.name == "quit"
	}
	return callee.kind == nAttribute && callee.name == "exit" && callee.kids[0].kind == nName && callee.kids[0].name == "sys"
}

func (i *interp) giveBack(s *stmt, f *frame) {
	var v value = none{}
	if s.value != nil {
		v = i.eval(s.value, f.scope)
	}
	if f.result != nil {
		v = joinResults(f.result, v)
	}
	f.result = v
	f.ended = true
}

// joinResults is join for a function with several returns: where one gives a
// parser, the others are for errors.
func joinResults(a, b value) value {
	if isNone(a) {
		return b
	}
	if isNone(b) || same(a, b) {
		return a
	}
	return unknown{}
}

// block executes a statement with blocks.
func (i *interp) block(s *stmt, f *frame) {
	switch s.kind {
	case sIf:
		i.condition(s, f)
	case sFor:
		i.loop(s, f)
	case sWhile:
		i.eval(s.value, f.scope)
		i.maybe(s.body, f)
		i.maybe(s.other, f)
	case sTry:
		i.run(s.body, f)
		for _, handler := range s.handlers {
			i.maybe(handler, f)
		}
		i.run(s.other, f)
		i.run(s.final, f)
	case sWith:
		for at, item := range s.items {
			i.eval(item, f.scope)
			if s.targets[at] != nil {
				i.bind(s.targets[at], unknown{}, f.scope)
			}
		}
		i.run(s.body, f)
	case sMatch:
		i.eval(s.value, f.scope)
		for _, body := range s.handlers {
			i.maybe(body, f)
		}
	}
}

func (i *interp) condition(s *stmt, f *frame) {
	is, known := truth(i.eval(s.value, f.scope))
	switch {
	case !known:
		i.maybe(s.body, f)
		i.maybe(s.other, f)
	case is:
		i.run(s.body, f)
	default:
		i.run(s.other, f)
	}
}

// loop goes through a list that is known, and once through the body of any
// other loop, which may happen.
func (i *interp) loop(s *stmt, f *frame) {
	items, ok := iterable(i.eval(s.value, f.scope))
	if !ok || len(items) > maxUnroll {
		i.unsure++
		i.bind(s.targets[0], unknown{}, f.scope)
		i.unsure--
		i.maybe(s.body, f)
		i.run(s.other, f)
		return
	}
	for _, item := range items {
		i.bind(s.targets[0], item, f.scope)
		i.run(s.body, f)
		if f.jumped && i.unsure == 0 && endsLoop(s.body) {
			break
		}
		f.jumped = false
		if f.ended {
			return
		}
	}
	f.jumped = false
	i.run(s.other, f)
}

// endsLoop reports whether a body has a break of its own.
func endsLoop(body []*stmt) bool {
	for _, s := range body {
		if s.kind == sJump && s.name == "break" {
			return true
		}
		if endsLoop(s.body) || endsLoop(s.other) {
			return true
		}
	}
	return false
}

// iterable returns the items that a loop over v goes through.
func iterable(v value) ([]value, bool) {
	switch v := v.(type) {
	case *sequence:
		return v.items, v.open != '{'
	case *mapping:
		return v.keys, true
	}
	return nil, false
}

// bind assigns to a target, which may be a tuple, an attribute or an item.
func (i *interp) bind(target *node, v value, s *scope) {
	switch target.kind {
	case nName:
		i.assign(s, target.name, v)
	case nTuple, nList:
		items, ok := iterable(v)
		for at, kid := range target.kids {
			if ok && len(items) == len(target.kids) && kid.kind != nStar {
				i.bind(kid, items[at], s)
			} else {
				i.bind(kid, unknown{}, s)
			}
		}
	case nStar:
		i.bind(target.kids[0], v, s)
	case nAttribute:
		i.setAttribute(i.eval(target.kids[0], s), target.name, v, target.line)
	case nSubscript:
		m, ok := i.eval(target.kids[0], s).(*mapping)
		if ok && i.unsure == 0 && len(m.keys) < maxItems {
			m.set(i.eval(target.kids[1], s), v)
		}
	}
}

func (i *interp) setAttribute(object value, name string, v value, line int) {
	switch o := object.(type) {
	case *instance:
		if i.unsure > 0 {
			v = join(o.attrs[name], v)
		}
		o.attrs[name] = v
	case *parser:
		o.setAttribute(name, v, line)
	case *action:
		o.setAttribute(name, v)
	case *subparsers:
		if name == "required" {
			o.required = v == true
		}
	}
}

func (i *interp) augment(s *stmt, scope *scope) {
	right := i.eval(s.value, scope)
	target := s.targets[0]
	if target.kind != nName {
		i.bind(target, unknown{}, scope)
		return
	}
	i.assign(scope, target.name, i.operate(s.name, i.lookup(scope, target.name), right))
}

func (i *interp) imports(s *stmt, scope *scope) {
	for _, name := range s.imports {
		if name.name != "*" {
			scope.vars[name.name] = wellKnown(name.path)
			continue
		}
		if name.path == "argparse" {
			for _, exported := range argparseNames {
				scope.vars[exported] = reference("argparse." + exported)
			}
		}
	}
}

// argparseNames are those of argparse.__all__ that matter here.
var argparseNames = [...]string{"ArgumentParser", "BooleanOptionalAction", "SUPPRESS", "REMAINDER", "OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE", "FileType", "Namespace", "Action"}

func (i *interp) define(fn *function, s *scope) {
	fn.scope = s
	if len(fn.decorators) > 0 {
		if command := i.decorate(fn, s); command != nil {
			i.assign(s, fn.name, command)
			return
		}
	}
	i.assign(s, fn.name, fn)
}

// decoratorName returns the last name of a decorator, without its call.
func decoratorName(n *node) (string, bool) {
	if n.kind == nCall {
		n = n.kids[0]
	}
	return n.name, n.kind == nName || n.kind == nAttribute
}

func (i *interp) defineClass(c *class, s *scope) {
	c.members = map[string]value{}
	for _, base := range c.bases {
		if base.kind != nKeyword {
			c.parents = append(c.parents, i.eval(base, s))
		}
	}
	inner := &scope{vars: c.members, outer: s}
	i.run(c.body, &frame{scope: inner})
	for _, member := range c.members {
		if fn, ok := member.(*function); ok && fn.scope == inner {
			fn.scope = s
		}
	}
	i.assign(s, c.name, c)
}
