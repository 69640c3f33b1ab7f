package cli

import (
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
		words, err := (&writer{level: l, args: args, last: at == len(path)-1}).write()
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
		v := args[l.chooser.name]
		if v == nil && l.Must {
			return nil, fault(l.chooser.name, "is required")
		}
		if v == nil {
			break
		}
		at := slices.IndexFunc(l.below, func(below *level) bool { return below.Name == v })
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
		if err := l.exclusive(args); err != nil {
			return err
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

// exclusive refuses options that cannot be given together.
func (l *level) exclusive(args map[string]any) error {
	given := func(i int) bool { v := args[l.properties[i].name]; return v != nil && v != false }
	for i, a := range l.Arguments {
		for j, other := range l.Arguments {
			if slices.Contains(a.Excludes, other.Flag) && given(i) && given(j) {
				return fault(l.properties[i].name, "cannot be given together with %q", l.properties[j].name)
			}
		}
	}
	return nil
}

// A writer makes the words of one level.
type writer struct {
	level                    *level
	args                     map[string]any
	last                     bool // no sub-command follows
	leading, options, behind []string
	dashed                   string // the first property with a word behind the options that begins with a dash
}

func (w *writer) write() ([]string, error) {
	missing, leading := "", ""
	for i, a := range w.level.Arguments {
		name := w.level.properties[i].name
		words, err := a.words(name, w.args[name])
		switch {
		case err != nil:
			return nil, err
		case !a.positional():
			w.options = append(w.options, words...)
			continue
		case len(words) == 0:
			if missing = name; a.Leads {
				leading = name
			}
			continue
		case missing != "":
			return nil, fault(missing, "is missing: it comes before %q, which is given", name)
		}
		if err := w.positional(name, a, words); err != nil {
			return nil, err
		}
	}
	if leading != "" && len(w.options) > 0 {
		return nil, fault(leading, "is missing: the script would read an option in its place")
	}
	if w.level.First && w.dashed == "" || !w.last {
		return slices.Concat(w.leading, w.behind, w.options), nil
	}
	if w.dashed != "" || w.level.Separate && len(w.behind) > 0 {
		w.options = append(w.options, "--")
	}
	return slices.Concat(w.leading, w.options, w.behind), nil
}

var negative = lazyregexp.New(`^-(?:\d+(?:\.\d*)?|\.\d+)$`)

// positional adds the words of a positional, of which one that begins with a dash has to
// stand behind "--".
func (w *writer) positional(name string, a *Argument, words []string) error {
	if a.Leads {
		w.leading = append(w.leading, words...)
		return nil
	}
	for _, word := range words {
		switch {
		case !strings.HasPrefix(word, "-") || word == "-" || w.level.Numbers && negative.MatchString(word):
		case !w.level.Terminator || !w.last:
			return fault(name, "must not begin with -: the script would read it as an option")
		case w.dashed == "":
			w.dashed = name
		}
	}
	w.behind = append(w.behind, words...)
	return nil
}

// words returns the words of an argument.
func (a *Argument) words(name string, v any) ([]string, error) {
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
	case a.Alone && v == true:
		return []string{a.Flag}, nil
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
	case a.Default == true:
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
	case a.Form == Glued && text == "":
		return nil, fault(name, "must not be empty")
	case a.Form == Glued:
		return []string{a.Flag + text}, nil
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
		text = v.String()
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		text = strconv.FormatBool(v)
	default:
		return "", fault(name, "must be a text, not %T", v)
	}
	if n, ok := whole(v); ok && typ == "integer" { // not 3.0
		text = strconv.Itoa(n)
	} else if typ == "integer" {
		return "", fault(name, "must be an integer")
	}
	if strings.ContainsRune(text, 0) {
		return "", fault(name, "must not contain a NUL character")
	}
	return text, nil
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
	f, ok := v.(float64)
	return int(f), ok && f == math.Trunc(f) && math.Abs(f) < 1<<53
}
