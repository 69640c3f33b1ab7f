package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// An ArgumentError is a value that cannot be passed to the script.
type ArgumentError struct {
	Name    string // of the property
	Message string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("%q %s", e.Name, e.Message) }

func fault(name, format string, args ...any) error {
	return &ArgumentError{name, fmt.Sprintf(format, args...)}
}

// maxArgv is the maximum number of words of one call.
const maxArgv = 10_000

// Argv returns the words of the command line, without the interpreter and the script,
// that give the script these arguments: values of encoding/json, with [json.Number] or
// float64 for numbers. An argument that is null counts as absent. The error is an
// [*ArgumentError] where a value is missing, unknown or of a wrong type, or cannot be
// expressed.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	path, err := c.path(args)
	if err != nil {
		return nil, err
	}
	if err := c.check(args, path); err != nil {
		return nil, err
	}
	var argv []string
	for at, l := range path {
		words, err := (&writer{level: l, args: args, below: path[at+1:]}).write()
		if err != nil {
			return nil, err
		}
		if at > 0 {
			argv = append(argv, l.Name)
		}
		argv = append(argv, words...)
	}
	if len(argv) > maxArgv {
		return nil, fmt.Errorf("the command line has %d arguments, of at most %d", len(argv), maxArgv)
	}
	return argv, nil
}

// path returns the levels that the arguments choose.
func (c *CommandLine) path(args map[string]any) ([]*level, error) {
	path := []*level{c.top}
	for l := c.top; l.chooser != nil; path = append(path, l) {
		v := cmp.Or(args[l.chooser.name], l.Default)
		if v == nil && l.Must {
			return nil, fault(l.chooser.name, "is required")
		}
		if v == nil {
			break
		}
		at := slices.IndexFunc(l.below, func(below *level) bool { return below.Name == v })
		if other, ok := v.(string); ok && at < 0 && l.Open && other != "" && other[0] != '-' {
			return append(path, &level{Command: &Command{Name: other}, path: other}), nil
		}
		if at < 0 {
			return nil, fault(l.chooser.name, "must be the name of a command")
		}
		l = l.below[at]
	}
	return path, nil
}

// check refuses arguments of commands that are not chosen, and arguments that are
// missing or exclude each other.
func (c *CommandLine) check(args map[string]any, path []*level) error {
	used := map[*property]bool{}
	for _, l := range path {
		used[l.chooser] = true
		for i, p := range l.properties {
			if used[p] = true; l.Arguments[i].Required && args[p.name] == nil {
				return fault(p.name, "is required%s", forCommand(l))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch p := c.byName[name]; {
		case args[name] == nil:
		case p == nil:
			return fault(name, "is not an argument of the script")
		case !used[p]:
			return fault(name, "is not an argument of the script%s", forCommand(path[len(path)-1]))
		}
	}
	return nil
}

func forCommand(l *level) string {
	if l.path == "" {
		return ""
	}
	return fmt.Sprintf(" for the command %q", l.path)
}

// A writer makes the words of one level.
type writer struct {
	level *level
	args  map[string]any
	below []*level   // the sub-commands that follow
	words [][]string // by argument

	leading, open, options, behind []string
	dashed                         string // the first property with a word behind the options that begins with a dash
}

func (w *writer) write() ([]string, error) {
	for i, a := range w.level.Arguments {
		p := w.level.properties[i]
		v := w.args[p.name]
		if w.readBelow(p) {
			v = nil
		}
		words, err := a.words(w.level, p.name, v)
		if err != nil {
			return nil, err
		}
		w.words = append(w.words, words)
		switch {
		case a.positional():
			err = w.positional(p.name, a, words)
		case len(words) > 0:
			err = w.option(p.name, a, words)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(w.exclusive(), w.gaps()); err != nil {
		return nil, err
	}
	return w.assemble()
}

// readBelow reports whether a sub-command has the same property: its value, or its
// default, would replace the one of this level.
func (w *writer) readBelow(p *property) bool {
	return slices.ContainsFunc(w.below, func(l *level) bool { return slices.Contains(l.properties, p) })
}

// option adds the words of an option. One that takes all words that follow stands before
// the others. A sub-command that sets the same variable would replace its value.
func (w *writer) option(name string, a *Argument, words []string) error {
	for _, l := range w.below {
		for i, other := range l.Arguments {
			if l.Namespace && a.Variable != "" && other.Variable == a.Variable && !a.Required {
				return fault(name, "cannot be given with the command %q, which sets it itself; give %q", l.path, l.properties[i].name)
			}
		}
	}
	if w.level.Namespace && a.open(words) {
		w.open = append(w.open, words...)
	} else {
		w.options = append(w.options, words...)
	}
	return nil
}

// open reports whether the words of an option end with it, or with one of any number of
// values: a word that follows would be one, too.
func (a *Argument) open(words []string) bool {
	return a.Together && (a.Most == 0 || a.Least != a.Most) && words[0] == a.Flag
}

// exclusive refuses arguments that cannot be given together.
func (w *writer) exclusive() error {
	for _, g := range w.level.groups {
		var given, names []string
		for _, a := range g.Members {
			name := w.level.property(a).name
			names = append(names, name)
			if len(w.words[slices.Index(w.level.Arguments, a)]) > 0 {
				given = append(given, name)
			}
		}
		if len(given) > 1 {
			return fault(given[1], "cannot be given together with %q", given[0])
		}
		if g.Required && len(given) == 0 {
			return fault(names[0], "is required, or one of the others of its group: %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// gaps refuses a positional that would take words of one behind it: the script gives each
// as many as it can. In a namespace those that need words keep them, as argparse does.
func (w *writer) gaps() error {
	short, leading := "", ""
	for i, a := range w.level.Arguments {
		if !a.positional() {
			continue
		}
		name, given, least, most := w.level.properties[i].name, len(w.words[i]), 0, 1
		if w.level.Namespace && a.Required {
			least = max(a.Least, 1)
		}
		if most = max(most, a.Most); a.List && a.Most == 0 {
			most = math.MaxInt
		}
		switch {
		case short != "" && given > least:
			return fault(short, "lacks a value: the script would give it one of %q, which comes behind it", name)
		case short == "" && given < most:
			short = name
		}
		if given == 0 && a.Leads {
			leading = name
		}
	}
	if leading != "" && len(w.options) > 0 {
		return fault(leading, "is missing: the script would read an option in its place")
	}
	return nil
}

// assemble puts the words in order.
func (w *writer) assemble() ([]string, error) {
	if w.level.Namespace {
		return w.inNamespace()
	}
	if len(w.below) > 0 {
		return slices.Concat(w.leading, w.behind, w.options), nil
	}
	if w.dashed != "" || w.level.Separate && len(w.behind) > 0 {
		w.options = append(w.options, "--")
	}
	return slices.Concat(w.leading, w.options, w.behind), nil
}

// inNamespace puts options before positionals.
func (w *writer) inNamespace() ([]string, error) {
	hangs := len(w.open) > 0 && len(w.options) == 0 // the last option would take what follows
	options := slices.Concat(w.open, w.options)
	var first *Argument // with a word
	for i, a := range w.level.Arguments {
		if first == nil && a.positional() && len(w.words[i]) > 0 {
			first = a
		}
	}
	switch {
	case first == nil && hangs && len(w.below) > 0:
		return nil, fault(w.level.chooser.name, "cannot be given: the option before it would take the command for one of its values")
	case first == nil || !hangs && w.dashed == "":
	case !first.Rest:
		options = append(options, "--")
	case hangs || strings.HasPrefix(w.behind[0], "-"): // "--" would become one of the rest
		return nil, fault(first.Name, "cannot start with %q: the script would take it for an option or its value", w.behind[0])
	}
	return append(options, w.behind...), nil
}

var digits = lazyregexp.New(`^-?\d{1,400}$`)

var negative = lazyregexp.New(`^-(?:\d+(?:\.\d*)?|\.\d+)$`)

// looksLikeOption reports whether a word of its own would be read as an option.
func (l *level) looksLikeOption(word string) bool {
	return strings.HasPrefix(word, "-") && word != "-" && !(l.Numbers && negative.MatchString(word))
}

// positional adds the words of a positional, of which one that begins with a dash has to
// stand behind "--".
func (w *writer) positional(name string, a *Argument, words []string) error {
	if a.Leads {
		w.leading = append(w.leading, words...)
		return nil
	}
	for _, word := range words {
		switch {
		case !w.level.looksLikeOption(word):
		case !w.level.Terminator || len(w.below) > 0 && !w.level.Namespace:
			return fault(name, "must not begin with -: the script would read it as an option")
		case w.dashed == "":
			w.dashed = name
		}
	}
	w.behind = append(w.behind, words...)
	return nil
}

// words returns the words of an argument.
func (a *Argument) words(l *level, name string, v any) ([]string, error) {
	switch {
	case v == nil:
		return nil, nil
	case a.Kind == Switch:
		return a.switches(name, v)
	case a.Kind == Count:
		n, ok := whole(v)
		if !ok || n < 0 || n > maxCount {
			return nil, fault(name, "must be an integer from 0 to %d", maxCount)
		}
		return slices.Repeat([]string{a.Flag}, n), nil
	case !a.List:
		return a.one(name, v)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fault(name, "must be an array")
	}
	if len(list) < a.Least || a.Most > 0 && len(list) > a.Most {
		return nil, fault(name, "has %d values, which the script does not accept", len(list))
	}
	if a.Together && len(list) != 1 {
		return a.together(l, name, list)
	}
	var words []string
	for _, item := range list {
		one, err := a.one(name, item)
		if err != nil {
			return nil, err
		}
		words = append(words, one...)
	}
	return words, nil
}

// together returns an option with all values behind it.
func (a *Argument) together(l *level, name string, list []any) ([]string, error) {
	words := []string{a.Flag}
	for _, item := range list {
		text, err := a.text(name, item)
		if err == nil && a.Dashes != "" && l.looksLikeOption(text) {
			err = fault(name, "cannot hold %q beside other values: %s", text, a.Dashes)
		}
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}

func (a *Argument) switches(name string, v any) ([]string, error) {
	on, ok := v.(bool)
	switch {
	case !ok:
		return nil, fault(name, "must be true or false")
	case a.Inverse && on:
		return nil, nil
	case a.Inverse:
		return []string{a.Flag}, nil
	case on:
		return []string{a.Flag}, nil
	case a.Off != "":
		return []string{a.Off}, nil
	case a.On || a.Default == true:
		return nil, fault(name, "cannot be false: the script has no option for it")
	}
	return nil, nil
}

// one returns the words of one value.
func (a *Argument) one(name string, v any) ([]string, error) {
	text, err := a.text(name, v)
	switch {
	case err != nil:
		return nil, err
	case a.Dashes != "" && strings.HasPrefix(text, "-") && !(a.Form == Joined && !a.positional()):
		return nil, fault(name, "must not begin with -: %s", a.Dashes)
	case a.Lacks != "" && strings.Contains(text, a.Lacks):
		return nil, fault(name, "must not contain %q: the script would not read all of it", a.Lacks)
	case a.positional():
		return []string{text}, nil
	case a.Form == Joined:
		return []string{a.Flag + "=" + text}, nil
	}
	return []string{a.Flag, text}, nil
}

// text returns a value as the script reads it.
func (a *Argument) text(name string, v any) (string, error) {
	typ := "string"
	if a.Item != nil {
		typ = a.Item.Type
	}
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = decimal(v)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		text = strconv.Itoa(v)
	case bool:
		texts := slices.Concat(a.Truths, []string{"true", "false"})
		text = texts[map[bool]int{true: 0, false: 1}[v]]
	default:
		return "", fault(name, "must be a text, not %T", v)
	}
	n, isWhole := whole(v)
	switch {
	case typ == "integer" && digits.MatchString(text):
	case typ == "integer" && isWhole: // not 3.0
		text = strconv.Itoa(n)
	case typ == "integer":
		return "", fault(name, "must be an integer")
	case typ == "number" && v == any(text):
		return "", fault(name, "must be a number")
	case strings.ContainsRune(text, 0):
		return "", fault(name, "must not contain a NUL character")
	case slices.Contains(a.Not, text):
		return "", fault(name, "cannot be %q: the script would take it for an option", text)
	}
	return text, nil
}

// decimal returns a number without an exponent.
func decimal(n json.Number) string {
	f, err := n.Float64()
	if err != nil || !strings.ContainsAny(n.String(), "eE") {
		return n.String()
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// whole returns a number without a fraction.
func whole(v any) (int, bool) {
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		if err != nil {
			return 0, false
		}
		v = f
	}
	if n, ok := v.(int); ok {
		return n, true
	}
	f, ok := v.(float64)
	return int(f), ok && f == math.Trunc(f) && math.Abs(f) < 1<<53
}
