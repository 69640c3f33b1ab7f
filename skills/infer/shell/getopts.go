package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// getoptsLoop reads while getopts OPTSTRING NAME; do case $NAME in … Source: the
// Bash reference manual, "Bourne Shell Builtins", getopts.
func (r *reader) getoptsLoop(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	call := cond.Cmd.(*syntax.CallExpr)
	if cond.Negated || len(cond.Redirs) > 0 || len(call.Args) < 3 || len(call.Args) > 4 || r.shifted > 0 {
		return false
	}
	if len(call.Args) == 4 {
		if name, exp, ok := bare(call.Args[3]); !ok || exp != nil || name != "@" {
			return false
		}
	}
	letters, _, isLetters := literal(call.Args[1])
	variable, _, isVariable := literal(call.Args[2])
	l := &loop{aliases: map[string]bool{variable: true}, value: "OPTARG"}
	if !isLetters || !isVariable || !l.body(body) || !r.startLoop() {
		return false
	}
	takes := letterKinds(letters)
	seen := map[string]bool{}
	for _, item := range l.items {
		if !r.letterItem(item, l, takes, seen) {
			return false
		}
	}
	r.line.terminator, r.getopts = true, true
	return takes != nil && r.unambiguous()
}

// letterKinds returns the letters of getopts, and whether each takes a value; nil
// where there are others than letters and digits.
func letterKinds(letters string) map[string]bool {
	letters = strings.TrimPrefix(letters, ":")
	takes := map[string]bool{}
	for i := 0; i < len(letters); i++ {
		letter := letters[i : i+1]
		if _, twice := takes[letter]; twice || !optionText.MatchString("-"+letter) {
			return nil
		}
		takes[letter] = false
		if strings.HasPrefix(letters[i+1:], ":") {
			takes[letter] = true
			i++
		}
	}
	return takes
}

// letterItem reads one item of the case of getopts.
func (r *reader) letterItem(item *syntax.CaseItem, l *loop, takes, seen map[string]bool) bool {
	var letter string
	for _, word := range item.Patterns {
		text, glob, ok := literal(word)
		switch {
		case !ok || item.Op != syntax.Break:
			return false
		case glob && (text == "*" || text == "?"), text == "?", text == ":":
			seen["*"] = seen["*"] || glob
			continue // it is for faults, which are never made
		case glob || len(text) != 1 || seen["*"] || seen[text]:
			return false
		}
		seen[text] = true
		if _, ok := takes[text]; ok && letter == "" {
			letter = text
		}
	}
	if letter == "" {
		return true
	}
	e := &effect{loop: l, reader: r}
	if !e.all(item.Stmts) || !e.settle() {
		return false
	}
	return r.letter(letter, takes[letter], e)
}

func (r *reader) letter(letter string, takes bool, e *effect) bool {
	o := option{flag: "-" + letter, name: letter}
	if takes {
		o.kind = next
	}
	if !takes && (letter == "h" || letter == "?" || letter == "V") && (e.exits || e.mayExit) {
		return true
	}
	if takes != (e.touched > 0) { // what is declared is not what is used
		return false
	}
	for _, s := range e.sets {
		if takes == (s.from == behind) {
			o.variable, o.repeated = s.variable, takes && s.appended
			break
		}
	}
	return r.addOption(o, nil)
}
