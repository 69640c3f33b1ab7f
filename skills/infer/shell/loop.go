package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A loop is one over the script's arguments, with one case.
type loop struct {
	aliases map[string]bool // variables that hold the argument at hand
	before  int             // arguments that are shifted before the case
	after   int             // and behind it
	each    bool            // it is "for x in "$@"", which takes one a time
	forever bool            // only a break ends it
	value   string          // the variable that has an option's value, with getopts
	items   []*syntax.CaseItem
}

// loop reads a while loop that has to do with the arguments.
func (r *reader) loop(stmt *syntax.Stmt, c *syntax.WhileClause) bool {
	if r.looped || c.Until || len(c.Cond) != 1 || stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 {
		return false
	}
	cond := c.Cond[0]
	if command(cond.Cmd) == "getopts" {
		return r.getoptsLoop(cond, c.Do)
	}
	l := &loop{aliases: map[string]bool{"1": true}}
	switch r.condition(cond) {
	case whileCount:
	case whileText:
		r.line.notEmpty = true
	case forever:
		l.forever = true
	default:
		return false
	}
	return l.body(c.Do) && r.startLoop() && r.cases(l)
}

// The conditions of loops that are known.
type condition int

const (
	unknown    condition = iota
	whileCount           // an argument is left
	whileText            // the next one is not empty
	forever
)

func (r *reader) condition(stmt *syntax.Stmt) condition {
	if stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 {
		return unknown
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		switch command(c) {
		case "true", ":":
			return forever
		case "[", "test":
			return testedBy(tested(c))
		}
	case *syntax.TestClause:
		return testedIn(c.X)
	case *syntax.ArithmCmd:
		if b, ok := c.X.(*syntax.BinaryArithm); ok {
			x, _ := b.X.(*syntax.Word)
			y, _ := b.Y.(*syntax.Word)
			return compared(x, arithmetic(b.Op), y)
		}
		if word, ok := c.X.(*syntax.Word); ok {
			return compared(word, "-gt", zero())
		}
	}
	return unknown
}

func zero() *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "0"}}}
}

func testedBy(words []*syntax.Word) condition {
	switch len(words) {
	case 2:
		operator, _, _ := literal(words[0])
		return filled(operator, words[1])
	case 3:
		operator, _, _ := literal(words[1])
		if first, _, ok := literal(words[0]); ok && first == "!" && operator == "-z" {
			return filled("-n", words[2])
		}
		return compared(words[0], operator, words[2])
	}
	return unknown
}

func testedIn(test syntax.TestExpr) condition {
	switch t := test.(type) {
	case *syntax.UnaryTest:
		if inner, ok := t.X.(*syntax.UnaryTest); ok && t.Op == syntax.TsNot && inner.Op == syntax.TsEmpStr {
			word, _ := inner.X.(*syntax.Word)
			return filled("-n", word)
		}
		word, _ := t.X.(*syntax.Word)
		return filled(t.Op.String(), word)
	case *syntax.BinaryTest:
		x, _ := t.X.(*syntax.Word)
		y, _ := t.Y.(*syntax.Word)
		return compared(x, t.Op.String(), y)
	}
	return unknown
}

func filled(operator string, word *syntax.Word) condition {
	if name, _, ok := bare(word); ok && operator == "-n" && name == "1" {
		return whileText
	}
	return unknown
}

func compared(x *syntax.Word, operator string, y *syntax.Word) condition {
	name, exp, ok := bare(x)
	text, _, isLiteral := literal(y)
	switch {
	case x == nil || y == nil || !ok || !isLiteral:
	case name == "#" && exp == nil && (text == "0" && slices.Contains([]string{"-gt", "-ne", "!=", ">"}, operator) || text == "1" && operator == "-ge"):
		return whileCount
	case name == "1" && text == "" && operator == "!=":
		return whileText
	}
	return unknown
}

// body finds the case of a loop, and what is shifted around it.
func (l *loop) body(stmts []*syntax.Stmt) bool {
	for _, stmt := range stmts {
		if stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 {
			return false
		}
		switch c := stmt.Cmd.(type) {
		case *syntax.CaseClause:
			name, _, ok := bare(c.Word)
			if !ok || l.items != nil || !l.aliases[name] || len(c.Items) == 0 {
				return false
			}
			l.items = c.Items
		case *syntax.DeclClause:
			if !l.alias(c.Args) {
				return false
			}
		case *syntax.CallExpr:
			switch {
			case len(c.Args) == 0 && l.alias(c.Assigns):
			case command(c) == "shift" && l.shift(c):
			default:
				return false
			}
		default:
			return false
		}
	}
	return l.items != nil
}

// alias reads key="$1" before the case.
func (l *loop) alias(assigns []*syntax.Assign) bool {
	for _, a := range assigns {
		name, exp, ok := bare(a.Value)
		if !ok || exp != nil || name != "1" || a.Name == nil || a.Append || a.Index != nil || l.before > 0 || l.items != nil || l.each || l.value != "" {
			return false
		}
		l.aliases[a.Name.Value] = true
	}
	return true
}

func (l *loop) shift(call *syntax.CallExpr) bool {
	n, behind, ok := shiftBy(call)
	if !ok || behind || n != 1 || l.value != "" {
		return false
	}
	switch {
	case l.each:
		return l.items != nil
	case l.items == nil:
		l.before++
		delete(l.aliases, "1") // it is another argument from here on
	default:
		l.after++
	}
	return l.before+l.after <= 1
}

// startLoop settles what was read before the loop: what was shifted is there
// first, and nothing else has been taken.
func (r *reader) startLoop() bool {
	r.looped = true
	for _, p := range r.places {
		switch {
		case p.index <= r.shifted:
			p.required = true
			p.fallback = ""
			r.line.leading = append(r.line.leading, p)
		case p.name != "":
			return false
		}
	}
	r.places = nil
	careful := map[int]string{}
	for variable, at := range r.fromPlace {
		r.fromPlace[variable] = -at
		if r.careful[at] != "" {
			careful[-at] = r.careful[at]
		}
	}
	r.careful = careful
	slices.SortFunc(r.line.leading, func(a, b positional) int { return a.index - b.index })
	for i, p := range r.line.leading {
		if p.index != i+1 || p.rest {
			return false
		}
	}
	return len(r.line.leading) == r.shifted
}

// iterate reads a loop over "$@": of options where it has a case, else of all
// that is left.
func (r *reader) iterate(c *syntax.ForClause, variable string) bool {
	l := &loop{aliases: map[string]bool{variable: true}, each: true}
	if !l.body(c.Do) {
		for _, stmt := range c.Do {
			if places, ok := uses(stmt); !ok || len(places) > 0 || upsets(stmt) {
				return false
			}
		}
		r.fromPlace[variable] = all
		for _, stmt := range c.Do {
			if !r.compares(stmt) {
				return false
			}
		}
		name := strings.ToLower(variable)
		if len(name) < 3 {
			name = "args"
		}
		return r.add(1, positional{name: name, rest: true})
	}
	return !r.looped && r.shifted == 0 && r.startLoop() && r.cases(l)
}

// cases reads the items of a loop's case.
func (r *reader) cases(l *loop) bool {
	patterns := false // a pattern was there, which may shadow what follows
	ends := l.each
	for _, item := range reachable(l.items) {
		labels, ok := labelsOf(item)
		if !ok {
			return false
		}
		e := &effect{loop: l, reader: r, shifts: l.before}
		understood := e.all(item.Stmts) && e.settle()
		switch {
		case labels.kind == isTerminator:
			r.line.terminator = understood && !patterns && e.breaks && e.shifts == 1 && len(e.sets) == 0
			patterns = patterns || !r.line.terminator // it is not to be sent, nor found further down
			continue
		case !understood:
			return false
		case labels.kind == isPattern:
			patterns = true
			ends = ends || labels.any && e.breaks
			if !r.pattern(labels, e) {
				return false
			}
		case patterns || !r.option(labels, e):
			return false
		}
	}
	if l.forever && !ends {
		return false
	}
	return r.endLoop(l)
}

// reachable returns the items up to the first that matches everything.
func reachable(items []*syntax.CaseItem) []*syntax.CaseItem {
	last := slices.IndexFunc(items, func(item *syntax.CaseItem) bool {
		return slices.ContainsFunc(item.Patterns, func(word *syntax.Word) bool {
			text, glob, ok := literal(word)
			return ok && glob && text == "*"
		})
	})
	if last < 0 {
		return items
	}
	return items[:last+1]
}

// endLoop settles what a loop leaves.
func (r *reader) endLoop(l *loop) bool {
	if l.each || len(r.line.positionals) > 0 { // what is behind "--" is not read as these are
		r.line.terminator = false
	}
	if !r.line.terminator {
		r.line.inLoop = true
	}
	r.shifted = 0
	r.consumed = l.each || !r.line.terminator && !r.breaksAtFirst(l)
	return len(r.line.options) <= maxOptions && r.unambiguous()
}

// breaksAtFirst reports whether the first argument that is no option ends the
// loop and stays.
func (r *reader) breaksAtFirst(l *loop) bool {
	for _, item := range l.items {
		if labels, ok := labelsOf(item); ok && labels.any {
			e := &effect{loop: l, reader: r, shifts: l.before}
			return e.all(item.Stmts) && e.breaks && e.shifts == 0
		}
	}
	return false
}

// unambiguous reports whether no two options share a flag or a name.
func (r *reader) unambiguous() bool {
	flags, names := map[string]bool{}, map[string]bool{}
	for _, o := range r.line.options {
		if names[o.name] {
			return false
		}
		names[o.name] = true
		flags[o.flag] = true
	}
	return len(flags) == len(r.line.options)
}
