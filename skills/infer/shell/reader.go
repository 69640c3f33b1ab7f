package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// A reader goes through the steps of a script once. Its methods are false where
// a use of the arguments is not understood.
type reader struct {
	args    *arguments
	options *options
	ended   bool // the script ends before the next statement
	mayEnd  bool // it may have ended well before
	refused bool // it fails
}

// newReader returns a reader of a script. First is the text of its first argument; ""
// for any.
func newReader(s *script, usage usagetext.Text, first string) *reader {
	args := newArguments(s)
	args.usage, args.first = usage, first
	return &reader{args: args, options: &options{args: args}}
}

// read returns the command line that the steps accept, or nil.
func (r *reader) read(steps []step) *declaration {
	if !r.run(steps) {
		return nil
	}
	return r.args.finish()
}

// run reads steps up to the end of the script.
func (r *reader) run(steps []step) bool {
	for _, s := range steps {
		if s.sealed {
			if uses, ok := uses(s.stmt); !ok || len(uses) > 0 || upsets(s.stmt) {
				return false
			}
			r.args.require(s.stmt)
			for _, a := range assignments(s.stmt) {
				r.args.set(a)
			}
			continue
		}
		if !r.step(s.stmt) {
			return false
		}
		if fails := r.args.script.fails(s.stmt); fails || command(s.stmt.Cmd) == "exit" {
			r.ended, r.refused = true, r.refused || fails && !r.mayEnd
		}
		if r.ended {
			break
		}
	}
	return true
}

func (r *reader) step(stmt *syntax.Stmt) bool {
	if body, known := r.args.branch(stmt); known {
		return r.run(r.args.script.flatten(body, 0, false))
	}
	r.mayEnd = r.mayEnd || stmt.Cmd != nil && containsOutside(stmt.Cmd, endsWell)
	if assigns := assignments(stmt); assigns != nil {
		return r.assignAll(assigns)
	}
	switch c := stmt.Cmd.(type) {
	case nil, *syntax.FuncDecl:
		return true
	case *syntax.WhileClause:
		if readsArguments(c) {
			return r.loop(stmt, c)
		}
	case *syntax.ForClause:
		if over, ok := overArguments(c); ok {
			return r.iterate(c, over)
		}
	case *syntax.CallExpr:
		switch command(c) {
		case "shift":
			return r.shift(stmt, c)
		case "set":
			r.args.unset = r.args.unset || setsUnset(c)
		}
	case *syntax.BinaryCmd:
		if call, ok := c.X.Cmd.(*syntax.CallExpr); ok && c.Op == syntax.OrStmt && command(call) == "shift" && (command(c.Y.Cmd) == "true" || command(c.Y.Cmd) == ":") {
			return r.shift(stmt, call)
		}
	case *syntax.CaseClause:
		return r.other(c.Word) && r.other(stmt)
	}
	r.args.require(stmt)
	return r.other(stmt)
}

// readsArguments reports whether a while loop uses the script's arguments to go on.
func readsArguments(loop *syntax.WhileClause) bool {
	return upsets(loop) || slices.ContainsFunc(loop.Cond, func(stmt *syntax.Stmt) bool {
		places, ok := uses(stmt)
		return !ok || len(places) > 0
	})
}

// overArguments returns the variable of a loop over "$@".
func overArguments(loop *syntax.ForClause) (variable string, ok bool) {
	words, ok := loop.Loop.(*syntax.WordIter)
	if !ok || loop.Select {
		return "", false
	}
	if !words.InPos.IsValid() {
		return words.Name.Value, true
	}
	if len(words.Items) != 1 {
		return "", false
	}
	name, exp, ok := bare(words.Items[0])
	return words.Name.Value, ok && exp == nil && name == "@"
}

func setsUnset(call *syntax.CallExpr) bool {
	return slices.ContainsFunc(call.Args[1:], func(word *syntax.Word) bool {
		text, _, _ := literal(word)
		return text == "nounset" || strings.HasPrefix(text, "-") && strings.Contains(text, "u")
	})
}

// loop reads a while loop over the arguments.
func (r *reader) loop(stmt *syntax.Stmt, c *syntax.WhileClause) bool {
	if r.args.looped || c.Until || len(c.Cond) != 1 || !plain(stmt) {
		return false
	}
	cond := c.Cond[0]
	if command(cond.Cmd) == "getopts" {
		return r.options.getopts(cond, c.Do)
	}
	l := &loop{aliases: map[string]bool{"1": true}}
	return argumentsLeft(cond) && l.body(c.Do) && r.args.startLoop() && r.options.cases(l)
}

// iterate reads a loop over "$@", all arguments that are left.
func (r *reader) iterate(c *syntax.ForClause, variable string) bool {
	r.args.fromPlace[variable] = all
	for _, stmt := range c.Do {
		if places, ok := uses(stmt); !ok || len(places) > 0 || upsets(stmt) || !r.args.compares(stmt) {
			return false
		}
	}
	name := strings.ToLower(variable)
	if len(name) < 3 {
		name = "args"
	}
	return r.args.add(1, cli.Argument{Name: name, List: true})
}

// shift reads a command shift.
func (r *reader) shift(stmt *syntax.Stmt, call *syntax.CallExpr) bool {
	n, behind, ok := shiftBy(call)
	switch {
	case !ok || stmt.Negated || stmt.Background || behind != r.args.getopts:
		return false
	case behind:
		r.args.getopts, r.args.consumed = false, false
		return true
	}
	if r.args.first != "" && r.args.chosen == nil && n == 1 && !r.args.consumed {
		r.args.leave()
		return true
	}
	r.args.shifted += n
	return !r.args.consumed
}

func (r *reader) assignAll(assigns []*syntax.Assign) bool {
	return !slices.ContainsFunc(assigns, func(a *syntax.Assign) bool { return upsets(a) || !r.assign(a) })
}

func (r *reader) assign(a *syntax.Assign) bool {
	if a.Name == nil || a.Naked {
		places, ok := uses(a)
		return ok && len(places) == 0
	}
	variable := a.Name.Value
	if name, exp, ok := bare(a.Value); ok && place(name) > 0 && !a.Append && a.Index == nil {
		return place(name) != all && r.args.take(place(name), variable, exp)
	}
	if a.Array != nil && len(a.Array.Elems) == 1 && !a.Append {
		if name, exp, ok := bare(a.Array.Elems[0].Value); ok && place(name) == all && exp == nil {
			return r.args.add(1, cli.Argument{Name: strings.ToLower(variable), List: true})
		}
	}
	r.args.set(a)
	return r.other(a)
}

// other reads any other node: it may refer to single places, and must not compare
// them with an option.
func (r *reader) other(node syntax.Node) bool {
	if !r.args.compares(node) || upsets(node) {
		return false
	}
	places, ok := uses(node)
	if !ok || slices.Contains(places, all) {
		return false
	}
	slices.Sort(places)
	always := r.args.unset && !contains(node, isBranch)
	for _, at := range slices.Compact(places) {
		if !r.args.add(at, cli.Argument{Required: always && !defaulted(node, at)}) {
			return false
		}
	}
	return true
}

// isBranch reports whether some parts of a node may not run.
func isBranch(node syntax.Node) bool {
	switch node.(type) {
	case *syntax.IfClause, *syntax.CaseClause, *syntax.WhileClause, *syntax.ForClause, *syntax.BinaryCmd:
		return true
	}
	return false
}

// defaulted reports whether a node has "${1:-…}" or "${1-…}" of a place.
func defaulted(node syntax.Node, at int) bool {
	return contains(node, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		return ok && p.Param != nil && place(p.Param.Value) == at && p.Exp != nil
	})
}
