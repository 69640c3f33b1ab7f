package python

// A frame is one execution of a function's body.
type frame struct {
	scope  *scope
	result value  // of return; nil without one
	ended  bool   // by return, raise or sys.exit
	jumped string // "break" or "continue"
}

// run executes statements.
func (i *interp) run(body []*stmt, f *frame) {
	for _, s := range body {
		if f.ended || f.jumped != "" || !i.charge(1) {
			return
		}
		i.execute(s, f)
	}
}

// runMaybe executes statements of which a run may leave out any.
func (i *interp) runMaybe(body []*stmt, f *frame) {
	i.unsure++
	ended := f.ended
	i.run(body, f)
	f.ended, f.jumped = ended, ""
	i.unsure--
}

func (i *interp) execute(s *stmt, f *frame) {
	switch s.kind {
	case sExpr:
		i.eval(s.value, f.scope)
		f.ended = f.ended || i.unsure == 0 && endsProgram(s.value)
	case sAssign:
		v := i.eval(s.value, f.scope)
		for _, target := range s.targets {
			i.bind(target, v, f.scope)
		}
	case sAugment:
		right, target := i.eval(s.value, f.scope), s.targets[0]
		i.bind(target, i.operate(s.name, i.eval(target, f.scope), right), f.scope)
	case sReturn:
		i.giveBack(s, f)
	case sRaise:
		i.eval(s.value, f.scope)
		f.ended = true
	case sJump:
		f.jumped = s.name
	case sImport:
		i.imports(s, f.scope)
	case sDef:
		s.function.scope = f.scope
		i.assign(f.scope, s.function.name, i.decorated(s.function, f.scope))
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
	switch dotted(n.kids[0]) {
	case "exit", "quit", "sys.exit":
		return true
	}
	return false
}

// giveBack executes a return. Of several returns, those of None are for errors.
func (i *interp) giveBack(s *stmt, f *frame) {
	var v value = none{}
	if s.value != nil {
		v = i.eval(s.value, f.scope)
	}
	switch {
	case f.result == nil || isNone(f.result):
		f.result = v
	case !isNone(v) && v != f.result:
		f.result = unknown{}
	}
	f.ended = true
}

// block executes a statement with blocks.
func (i *interp) block(s *stmt, f *frame) {
	switch s.kind {
	case sIf:
		is, known := truth(i.eval(s.value, f.scope))
		switch {
		case !known:
			i.runMaybe(s.body, f)
			i.runMaybe(s.other, f)
		case is:
			i.run(s.body, f)
		default:
			i.run(s.other, f)
		}
	case sFor:
		i.loop(s, f)
	case sTry:
		i.run(s.body, f)
		for _, handler := range s.handlers {
			i.runMaybe(handler, f)
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
	case sMaybe:
		i.eval(s.value, f.scope)
		for _, body := range s.handlers {
			i.runMaybe(body, f)
		}
	}
}

// loop goes through a list that is known, and once through the body of any other
// loop, which may happen.
func (i *interp) loop(s *stmt, f *frame) {
	items, ok := iterable(i.eval(s.value, f.scope))
	if !ok || len(items) > maxUnroll {
		i.bind(s.targets[0], unknown{}, f.scope)
		i.runMaybe(s.body, f)
		i.run(s.other, f)
		return
	}
	for _, item := range items {
		i.bind(s.targets[0], item, f.scope)
		i.run(s.body, f)
		jumped := f.jumped
		f.jumped = ""
		if jumped == "break" && i.unsure == 0 {
			break
		}
		if f.ended {
			return
		}
	}
	i.run(s.other, f)
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
	case *parser:
		o.setAttribute(name, v, line)
	case *action:
		switch name {
		case "required":
			o.required = v == true
		case "completer", "help", "metavar":
		default:
			i.stray = &Note{line, "the attribute " + name + " of an argument is set"}
		}
	case *subparsers:
		if name == "required" {
			o.required = v == true
		}
	}
}

func (i *interp) imports(s *stmt, scope *scope) {
	for _, name := range s.imports {
		if name.name != "*" {
			scope.vars[name.name] = wellKnown(name.path)
			continue
		}
		if name.path == "argparse" {
			for _, exported := range argparseNames {
				scope.vars[exported] = wellKnown("argparse." + exported)
			}
		}
	}
}

// argparseNames are those of argparse.__all__ that matter here.
var argparseNames = [...]string{"ArgumentParser", "BooleanOptionalAction", "SUPPRESS", "REMAINDER", "OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE", "FileType", "Namespace", "Action"}

// decorated returns the command that decorators make of a function, or the
// function.
func (i *interp) decorated(fn *function, s *scope) value {
	if len(fn.decorators) > 0 {
		if command := i.decorate(fn, s); command != nil {
			return command
		}
	}
	return fn
}

func (i *interp) defineClass(c *class, s *scope) {
	c.members, c.parents = map[string]value{}, nil
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
