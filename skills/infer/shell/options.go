package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// options reads the loop over a script's options into its arguments.
type options struct {
	args *arguments
}

// cases reads the items of a loop's case.
func (r *options) cases(l *loop) bool {
	patterns := false // one came before, which may shadow the items behind it
	stays := false    // the first argument that is no option ends the loop
	line := r.args.line
	for _, item := range reachable(l.items) {
		labels, ok := labelsOf(item)
		if !ok {
			return false
		}
		e, understood := effectOf(item, l, r.args.script)
		switch {
		case labels.kind == isTerminator:
			line.terminator = understood && !patterns && e.breaks && e.shifts == 1 && len(e.sets) == 0
			patterns = patterns || !line.terminator // it is not to be sent, nor found further down
		case !understood:
			return false
		case labels.kind == isPattern:
			patterns = true
			stays = stays || labels.any && e.breaks
			if !r.pattern(labels, e) {
				return false
			}
		case patterns || !r.option(labels, e):
			return false
		}
	}
	// Positionals among the options are read in another way behind "--".
	line.terminator = line.terminator && len(line.positionals) == 0
	line.inLoop = !line.terminator
	r.args.consumed = !line.terminator && !stays
	return true
}

// pattern reads an item for all arguments but the options before it.
func (r *options) pattern(l labels, e *effect) bool {
	set := slices.IndexFunc(e.sets, func(s setting) bool { return s.from == here })
	switch {
	case e.touched > 0:
		return false
	case !l.any: // it refuses or ignores an unknown option
		return set < 0 && (e.exits || e.mayExit || !e.breaks && e.shifts == 1)
	case e.breaks:
		return e.shifts == 0 && len(e.sets) == 0
	case set < 0:
		return e.exits || e.mayExit || e.shifts == 1
	case e.exits || e.shifts != 1 || len(e.sets) != 1:
		return false
	}
	s := e.sets[set]
	if s.stripped || !s.plain {
		return false
	}
	p := argument{Argument: cli.Argument{Name: strings.ToLower(s.variable), Variable: s.variable, List: s.appended}, index: 1}
	if !p.List {
		if text := r.args.variables[s.variable]; text != "" {
			p.Default = text
		}
		r.args.fromPlace[s.variable] = p.index
	}
	r.args.line.positionals = append(r.args.line.positionals, p)
	return true
}

// option reads an item of options of one meaning.
func (r *options) option(l labels, e *effect) bool {
	from := behind
	if l.kind == isJoined {
		from = here
	}
	o := cli.Argument{Flag: longest(l.flags), Name: nameOf(longest(l.flags)), Kind: cli.Switch}
	value := slices.IndexFunc(e.sets, func(s setting) bool { return s.from == from })
	switch {
	case l.kind == isJoined:
		if value < 0 || e.touched > 0 || e.shifts != 1 || e.exits || e.breaks || !e.sets[value].stripped {
			return false
		}
		o.Kind, o.Form = cli.Value, cli.Joined
	case e.touched == 0 && slices.ContainsFunc(l.flags, e.helps):
		return true
	case e.touched > 0:
		if o.Kind, o.Form = cli.Value, cli.Apart; e.shifts != 2 || e.exits || e.breaks {
			return false
		}
	case e.breaks || e.shifts != 1 && !e.exits:
		return false
	}
	switch {
	case value >= 0:
		o.Variable, o.List = e.sets[value].variable, e.sets[value].appended
	case len(e.sets) > 0 && o.Kind == cli.Switch:
		o.Variable = e.sets[0].variable
	}
	return r.add(o)
}

// helps reports whether an option with this effect only tells a person something.
func (e *effect) helps(name string) bool {
	return isHelp(name) || (name == "-h" || name == "-V") && (e.exits || e.mayExit)
}

func longest(flags []string) string {
	return slices.MaxFunc(flags, func(a, b string) int { return len(a) - len(b) })
}

// nameOf returns the name of an option's property: "dry_run" of "--dry-run".
func nameOf(name string) string {
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
}

// add adds an option; the forms "--name VALUE" and "--name=VALUE" are one.
func (r *options) add(o cli.Argument) bool {
	if len(o.Name) == 1 && len(o.Variable) > 1 {
		o.Name = strings.ToLower(o.Variable)
	}
	line := r.args.line
	i := slices.IndexFunc(line.options, func(known argument) bool { return known.Flag == o.Flag })
	switch {
	case i < 0:
		line.options = append(line.options, argument{Argument: o})
		return len(line.options) <= maxOptions
	case o.Kind == cli.Switch || line.options[i].Kind == cli.Switch || line.options[i].Form == o.Form:
		return false
	case o.Form == cli.Apart:
		line.options[i].Argument = o
	}
	return true
}

// getopts reads while getopts OPTSTRING NAME; do case $NAME in … Source: the
// Bash reference manual, "Bourne Shell Builtins", getopts.
func (r *options) getopts(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	words := cond.Cmd.(*syntax.CallExpr).Args
	if !plain(cond) || len(words) < 3 || len(words) > 4 || r.args.shifted > 0 {
		return false
	}
	if name, exp, ok := bare(words[len(words)-1]); len(words) == 4 && (!ok || exp != nil || name != "@") {
		return false
	}
	letters, _, _ := literal(words[1])
	variable, _, _ := literal(words[2])
	l := &loop{aliases: map[string]bool{variable: true}, value: "OPTARG"}
	takes := takesValue(letters)
	if takes == nil || !l.body(body) || !r.args.startLoop() {
		return false
	}
	seen := map[string]bool{}
	for _, item := range l.items {
		letter, ok := letterOf(item, takes, seen)
		if !ok {
			return false
		}
		if letter == "" {
			continue
		}
		e, ok := effectOf(item, l, r.args.script)
		if !ok || takes[letter] != (e.touched > 0) || !r.option(labels{flags: []string{"-" + letter}}, e) {
			return false
		}
	}
	r.args.line.terminator, r.args.getopts = true, true
	return true
}

// takesValue returns the letters of getopts, and whether each takes a value. It
// is nil if one is no letter or digit.
func takesValue(letters string) map[string]bool {
	takes := map[string]bool{}
	for letters = strings.TrimPrefix(letters, ":"); letters != ""; {
		letter, rest := letters[:1], letters[1:]
		if letter == "?" { // which getopts sets for faults too
			letters = rest
			continue
		}
		if _, twice := takes[letter]; twice || !optionText.MatchString("-"+letter) {
			return nil
		}
		letters, takes[letter] = strings.CutPrefix(rest, ":")
	}
	return takes
}

// letterOf returns the letter of an item, and "" of an item for faults. An item never
// gets the letters that were seen before.
func letterOf(item *syntax.CaseItem, takes, seen map[string]bool) (letter string, ok bool) {
	for _, word := range item.Patterns {
		text, glob, ok := literal(word)
		switch {
		case !ok || item.Op != syntax.Break:
			return "", false
		case glob && (text == "*" || text == "?"), text == "?", text == ":", text == "[?]":
			seen["*"] = seen["*"] || glob
			continue
		case glob || len(text) != 1 || seen["*"] || seen[text]:
			return "", false
		}
		seen[text] = true
		if _, known := takes[text]; known && letter == "" {
			letter = text
		}
	}
	return letter, true
}
