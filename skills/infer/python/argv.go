package python

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxArgv is how many arguments one call may have.
const maxArgv = 10_000

// Argv returns the command line, without the interpreter and the script, that
// gives the script these arguments: values of encoding/json, with [json.Number]
// or float64 for numbers. An argument that is null counts as absent. The error is
// a [*ValueError] where a value is of the wrong type or cannot be expressed.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	for _, name := range givenNames(args) {
		if c.byName[name] == nil {
			return nil, fault(name, "is not an argument of the script")
		}
	}
	path, err := c.path(args)
	if err != nil {
		return nil, err
	}
	if err := checkNames(args, path); err != nil {
		return nil, err
	}
	var argv []string
	for at, l := range path {
		if at > 0 {
			argv = append(argv, l.name[strings.LastIndexByte(l.name, ' ')+1:])
		}
		w := &writer{level: l, args: args, below: path[at+1:], path: path}
		part, err := w.write()
		if err != nil {
			return nil, err
		}
		argv = append(argv, part...)
	}
	if len(argv) > maxArgv {
		return nil, fmt.Errorf("the command line has %d arguments, of at most %d", len(argv), maxArgv)
	}
	return argv, ambiguous(path, argv)
}

// givenNames returns the names of the arguments that are not null, sorted.
func givenNames(args map[string]any) []string {
	names := slices.Sorted(maps.Keys(args))
	return slices.DeleteFunc(names, func(name string) bool { return args[name] == nil })
}

// path returns the levels that the arguments choose.
func (c *CommandLine) path(args map[string]any) ([]*level, error) {
	path := []*level{c.top}
	for l := c.top; l.chooser != nil; {
		v := args[l.chooser.name]
		if v == nil && l.must {
			return nil, fault(l.chooser.name, "is required")
		}
		if v == nil {
			break
		}
		name, ok := v.(string)
		at := slices.IndexFunc(l.commands, func(c *level) bool { return c.name == strings.TrimSpace(l.name+" "+name) })
		if !ok || at < 0 {
			return nil, fault(l.chooser.name, "must be the name of a command")
		}
		l = l.commands[at]
		path = append(path, l)
	}
	return path, nil
}

// checkNames refuses arguments of commands that are not chosen, and arguments
// that are missing.
func checkNames(args map[string]any, path []*level) error {
	used := map[string]bool{}
	for _, l := range path {
		if l.chooser != nil {
			used[l.chooser.name] = true
		}
		for _, arg := range l.arguments {
			name := arg.property.name
			used[name] = true
			switch {
			case !arg.required || args[name] != nil:
			case l.name == "":
				return fault(name, "is required")
			default:
				return fault(name, "is required for the command %q", l.name)
			}
		}
	}
	chosen := "the script without a command"
	if name := path[len(path)-1].name; name != "" {
		chosen = fmt.Sprintf("the command %q", name)
	}
	for _, name := range givenNames(args) {
		if !used[name] {
			return fault(name, "is not an argument of %s", chosen)
		}
	}
	return nil
}

// A writer makes the command line of one level.
type writer struct {
	level   *level
	args    map[string]any
	path    []*level
	below   []*level
	options []written
	words   []word // of positional arguments
}

// written is an option on the command line, perhaps several times.
type written struct {
	arg    *argument
	tokens []string
	open   bool // the last takes all values that follow
}

// A word is a positional argument with its values.
type word struct {
	arg    *argument
	values []string
}

// write returns the command line of the level.
func (w *writer) write() ([]string, error) {
	for _, arg := range w.level.arguments {
		v := w.args[arg.property.name]
		absent := v == nil || w.writtenBelow(arg)
		var err error
		switch {
		case absent && arg.positional():
			w.words = append(w.words, word{arg, nil})
		case absent:
		case arg.positional():
			err = w.positional(arg, v)
		default:
			err = w.argument(arg, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.exclusive(); err != nil {
		return nil, err
	}
	if err := w.overridden(); err != nil {
		return nil, err
	}
	return w.assemble()
}

// writtenBelow reports whether a command below takes the same property: its
// value, or its default, would replace the value of this level.
func (w *writer) writtenBelow(arg *argument) bool {
	for _, l := range w.below {
		if slices.ContainsFunc(l.arguments, func(a *argument) bool { return a.property == arg.property }) {
			return true
		}
	}
	return false
}

// overridden refuses options that a command below would replace by its own default.
func (w *writer) overridden() error {
	if w.level.dialect != argparseDialect {
		return nil
	}
	for _, option := range w.options {
		for _, l := range w.below {
			for _, other := range l.arguments {
				if other.dest == option.arg.dest && other.fallback != suppress && !option.arg.required {
					return fault(option.arg.property.name, "cannot be given with the command %q, which sets it itself; give %q", l.name, other.property.name)
				}
			}
		}
	}
	return nil
}

// exclusive checks the groups of which one argument may be given.
func (w *writer) exclusive() error {
	for _, m := range w.level.mutexes {
		var given, names []string
		for _, arg := range m.members {
			names = append(names, arg.property.name)
			if slices.ContainsFunc(w.options, func(o written) bool { return o.arg == arg }) || slices.ContainsFunc(w.words, func(word word) bool { return word.arg == arg && word.values != nil }) {
				given = append(given, arg.property.name)
			}
		}
		if len(given) > 1 {
			return fault(given[1], "cannot be given together with %q", given[0])
		}
		if m.required && len(given) == 0 {
			return fault(names[0], "is required, or one of the others of its group: %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// put writes an option, which is open where it would take the values that follow.
func (w *writer) put(arg *argument, open bool, tokens ...string) {
	last := len(w.options) - 1
	if last < 0 || w.options[last].arg != arg {
		w.options = append(w.options, written{arg, tokens, open})
		return
	}
	w.options[last].tokens = append(w.options[last].tokens, tokens...)
	w.options[last].open = open
}

// argument writes an option with its value, or its values.
func (w *writer) argument(arg *argument, v any) error {
	if !arg.takesValue() {
		return w.flag(arg, v)
	}
	if arg.kind != "append" && (arg.kind != "extend" || arg.nargs != "") {
		return w.option(arg, v)
	}
	list, ok := v.([]any)
	if !ok {
		return fault(arg.property.name, "must be an array")
	}
	for _, item := range list {
		if err := w.option(arg, item); err != nil {
			return err
		}
	}
	return nil
}

// flag writes an option without a value.
func (w *writer) flag(arg *argument, v any) error {
	name, flag := arg.property.name, arg.longest()
	on, ok := v.(bool)
	switch {
	case arg.kind == "count":
		n, ok := wholeNumber(v)
		if !ok || !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxCount {
			return fault(name, "must be an integer from 0 to %d", maxCount)
		}
		for range n.Int64() {
			w.put(arg, false, flag)
		}
	case !ok:
		return fault(name, "must be true or false")
	case arg.kind == "boolean" && !on:
		if arg.off == "" {
			return fault(name, "cannot be false: the script has no option for it")
		}
		w.put(arg, false, arg.off)
	case arg.kind == "store_false" && !arg.flagged:
		if !on {
			w.put(arg, false, flag)
		} else if arg.fallback == false {
			return fault(name, "cannot be true: the script has no option for it")
		}
	case on:
		w.put(arg, false, flag)
	case arg.kind == "store_true" && arg.fallback == true:
		return fault(name, "cannot be false: the script has no option for it")
	}
	return nil
}

// option writes an option with one value, or with the values of an array.
func (w *writer) option(arg *argument, v any) error {
	flag := arg.longest()
	switch {
	case arg.nargs == "?" && v == true && arg.alone():
		w.put(arg, true, flag)
		return nil
	case arg.nargs == "" || arg.nargs == "?":
		text, err := arg.text(v)
		if err == nil {
			w.put(arg, false, w.level.dialect.with(flag, text)...)
		}
		return err
	}
	texts, err := arg.texts(v)
	if err != nil {
		return err
	}
	span := arg.span()
	switch {
	case arg.nargs == "...":
		return fault(arg.property.name, "takes all that follows, which cannot be written")
	case len(texts) == 1:
		w.put(arg, false, w.level.dialect.with(flag, texts[0])...)
		return nil
	}
	for _, text := range texts {
		if w.level.dialect == argparseDialect && w.looksLikeOption(text) {
			return fault(arg.property.name, "cannot hold %q beside other values: the script would take it for an option", text)
		}
		if err := w.readable(arg, text); err != nil {
			return err
		}
	}
	w.put(arg, span.least != span.most, append([]string{flag}, texts...)...)
	return nil
}

// with writes a flag with its value, which may start with anything.
func (d dialect) with(flag, text string) []string {
	if d == clickDialect && !strings.HasPrefix(flag, "--") {
		return []string{flag, text} // of -f=x, click takes the = for a part of the value
	}
	return []string{flag + "=" + text}
}

// negativeNumber is what argparse takes for a number, where no option looks like
// one (ArgumentParser._negative_number_matcher).
var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

func (w *writer) looksLikeOption(text string) bool {
	if !isFlag(text) {
		return false
	}
	for _, l := range w.path {
		for flag := range l.parser.flags {
			if negativeNumber.MatchString(flag) {
				return true
			}
		}
	}
	return !negativeNumber.MatchString(text)
}

// readable refuses what argparse would take for the name of a file to read.
func (w *writer) readable(arg *argument, text string) error {
	for _, l := range w.path {
		if text != "" && strings.ContainsRune(l.parser.fromFile, rune(text[0])) {
			return fault(arg.property.name, "cannot start with %q, which names a file to the script", text[:1])
		}
	}
	return nil
}

// positional takes the values of a positional argument.
func (w *writer) positional(arg *argument, v any) error {
	values := make([]string, 1)
	var err error
	if arg.nargs == "" || arg.nargs == "?" {
		values[0], err = arg.text(v)
	} else {
		values, err = arg.texts(v)
	}
	for _, text := range values {
		if err == nil {
			err = w.readable(arg, text)
		}
	}
	w.words = append(w.words, word{arg, values})
	return err
}

// ambiguous refuses a command line with an option of a sub-command that a level
// above takes for the start of several of its own. argparse gives up there.
func ambiguous(path []*level, argv []string) error {
	options := argv
	if end := slices.Index(argv, "--"); end >= 0 {
		options = argv[:end]
	}
	for _, l := range path {
		for _, token := range options {
			name, _, _ := strings.Cut(token, "=")
			if l.dialect != argparseDialect || !strings.HasPrefix(name, "--") || l.parser.flags[name] != nil {
				continue
			}
			begun := 0
			for flag := range l.parser.flags {
				if strings.HasPrefix(flag, name) {
					begun++
				}
			}
			if begun > 1 {
				return fault(ownerOf(name, path), "cannot be given: the script takes %s for several of its options", name)
			}
		}
	}
	return nil
}

// ownerOf returns the property that a flag belongs to.
func ownerOf(flag string, path []*level) string {
	for _, l := range path {
		for _, arg := range l.arguments {
			if slices.Contains(arg.flags, flag) {
				return arg.property.name
			}
		}
	}
	return flag
}
