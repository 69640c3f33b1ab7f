package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A ValueError says which property's value no command line can express.
type ValueError struct {
	Property string
	Message  string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%q %s", e.Property, e.Message) }

func fault(property, format string, args ...any) error {
	return &ValueError{property, fmt.Sprintf(format, args...)}
}

// maxArgv is how many arguments one call may have.
const maxArgv = 10_000

// Argv returns the command line, without the interpreter and the script, that
// gives the script these arguments: values of encoding/json, with [json.Number]
// or float64 for numbers. An argument that is null counts as absent. The error is
// a [*ValueError] where a value is of the wrong type or cannot be expressed.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	for _, name := range sortedNames(args) {
		if c.byName[name] == nil {
			return nil, fault(name, "is not an argument of the script")
		}
	}
	path, err := c.path(args)
	if err != nil {
		return nil, err
	}
	if err := c.belong(args, path); err != nil {
		return nil, err
	}
	var argv []string
	for at, l := range path {
		w := &writer{level: l, args: args, below: path[at+1:], path: path}
		part, err := w.write()
		if err != nil {
			return nil, err
		}
		argv = append(argv, part...)
		if at+1 < len(path) {
			name := path[at+1].name
			argv = append(argv, name[strings.LastIndexByte(name, ' ')+1:])
		}
	}
	if len(argv) > maxArgv {
		return nil, fmt.Errorf("the command line has %d arguments, of at most %d", len(argv), maxArgv)
	}
	return argv, ambiguous(path, argv)
}

func sortedNames(args map[string]any) []string {
	var names []string
	for name, v := range args {
		if v != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// path returns the levels that the arguments choose.
func (c *CommandLine) path(args map[string]any) ([]*level, error) {
	path := []*level{c.top}
	for l := c.top; l.chooser != nil; {
		v := args[l.chooser.name]
		if v == nil {
			if l.must {
				return nil, fault(l.chooser.name, "is required")
			}
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

// belong refuses arguments of commands that are not chosen, and arguments that
// are missing.
func (c *CommandLine) belong(args map[string]any, path []*level) error {
	used := map[string]bool{}
	for _, l := range path {
		if l.chooser != nil {
			used[l.chooser.name] = true
		}
		for _, arg := range l.arguments {
			used[arg.property.name] = true
			if arg.required && args[arg.property.name] == nil {
				return fault(arg.property.name, "is required%s", forCommand(l))
			}
		}
	}
	for _, name := range sortedNames(args) {
		if !used[name] {
			return fault(name, "is not an argument of %s", chosenCommand(path))
		}
	}
	return nil
}

func forCommand(l *level) string {
	if l.name == "" {
		return ""
	}
	return fmt.Sprintf(" for the command %q", l.name)
}

func chosenCommand(path []*level) string {
	if name := path[len(path)-1].name; name != "" {
		return fmt.Sprintf("the command %q", name)
	}
	return "the script without a command"
}

// A writer makes the command line of one level.
type writer struct {
	level   *level
	args    map[string]any
	path    []*level
	below   []*level
	given   []*argument
	options []written
	words   []word // of positional arguments
}

// written is an option as it is written, perhaps several times.
type written struct {
	arg    *argument
	tokens []string
	open   bool // the last takes as many values as follow
}

// A word is a positional argument with its values.
type word struct {
	arg    *argument
	values []string
}

func (w *writer) write() ([]string, error) {
	for _, arg := range w.level.arguments {
		v := w.args[arg.property.name]
		if v == nil || w.writtenBelow(arg) {
			if arg.positional() {
				w.words = append(w.words, word{arg, nil})
			}
			continue
		}
		if err := w.argument(arg, v); err != nil {
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
// value, or its default, would replace what is given here.
func (w *writer) writtenBelow(arg *argument) bool {
	for _, l := range w.below {
		if slices.ContainsFunc(l.arguments, func(a *argument) bool { return a.property == arg.property }) {
			return true
		}
	}
	return false
}

// overridden refuses what a command below would replace by its own default.
func (w *writer) overridden() error {
	if w.level.dialect != argparseDialect {
		return nil
	}
	for _, arg := range w.given {
		for _, l := range w.below {
			for _, other := range l.arguments {
				if other.dest == arg.dest && other.fallback != suppress && !arg.required {
					return fault(arg.property.name, "cannot be given with the command %q, which sets it itself; give %q", l.name, other.property.name)
				}
			}
		}
	}
	return nil
}

func (w *writer) exclusive() error {
	for _, m := range w.level.mutexes {
		var given []string
		var names []string
		for _, arg := range m.members {
			names = append(names, arg.property.name)
			if slices.Contains(w.given, arg) {
				given = append(given, arg.property.name)
			}
		}
		if len(given) > 1 {
			return fault(given[1], "cannot be given together with %q", given[0])
		}
		if m.required && len(given) == 1 {
			for _, arg := range m.members {
				if arg.property.name == given[0] && arg.isDefault(w.args[given[0]]) {
					return fault(given[0], "is the script's default, which it takes for absent; one of %s is required", strings.Join(names, ", "))
				}
			}
		}
		if m.required && len(given) == 0 {
			return fault(names[0], "is required, or one of the others of its group: %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// isDefault reports whether Python has the same object for a value and for the
// default. argparse takes such an argument of a group for absent.
func (a *argument) isDefault(v any) bool {
	if !a.takesValue() || a.nargs != "" && a.nargs != "?" {
		return false
	}
	if on, is := v.(bool); is && (a.typ == typeBool || a.typ == typeTruth) {
		return a.fallback == on
	}
	n, err := wholeNumber(v)
	const least, most = -5, 256 // integers that CPython has once
	return a.typ == typeInteger && err == nil && n.IsInt64() && a.fallback == n.Int64() && n.Int64() >= least && n.Int64() <= most
}

// argument writes one argument.
func (w *writer) argument(arg *argument, v any) error {
	name := arg.property.name
	if !arg.takesValue() {
		return w.flag(arg, v)
	}
	if arg.positional() {
		values, err := w.positionalValues(arg, v)
		if err != nil {
			return err
		}
		w.given = append(w.given, arg)
		w.words = append(w.words, word{arg, values})
		return nil
	}
	if arg.kind != "append" && !(arg.kind == "extend" && arg.nargs == "") {
		return w.option(arg, v)
	}
	list, ok := v.([]any)
	if !ok {
		return fault(name, "must be an array")
	}
	for _, item := range list {
		if err := w.option(arg, item); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) put(arg *argument, tokens ...string) {
	w.append(arg, false, tokens)
}

// leaveOpen writes an option that would take what follows too.
func (w *writer) leaveOpen(arg *argument, tokens ...string) { w.append(arg, true, tokens) }

func (w *writer) append(arg *argument, open bool, tokens []string) {
	last := len(w.options) - 1
	if last < 0 || w.options[last].arg != arg {
		w.given = append(w.given, arg)
		w.options = append(w.options, written{arg, tokens, open})
		return
	}
	w.options[last].tokens = append(w.options[last].tokens, tokens...)
	w.options[last].open = open
}

// flag writes an option without a value.
func (w *writer) flag(arg *argument, v any) error {
	name, spelling := arg.property.name, arg.longest()
	if arg.kind == "count" {
		n, err := wholeNumber(v)
		if err != nil || !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxCount {
			return fault(name, "must be an integer from 0 to %d", maxCount)
		}
		for range n.Int64() {
			w.put(arg, spelling)
		}
		return nil
	}
	on, ok := v.(bool)
	if !ok {
		return fault(name, "must be true or false")
	}
	switch {
	case arg.kind == "store_false" && !arg.flagged:
		if !on {
			w.put(arg, spelling)
		} else if arg.fallback == false {
			return fault(name, "cannot be true: the script has no option for it")
		}
	case arg.kind == "boolean":
		negative, ok := arg.negative()
		if !on && !ok {
			return fault(name, "cannot be false: the script has no option for it")
		}
		if !on {
			spelling = negative
		}
		w.put(arg, spelling)
	case on:
		w.put(arg, spelling)
	case arg.kind == "store_true" && arg.fallback == true:
		return fault(name, "cannot be false: the script has no option for it")
	}
	return nil
}

// negative returns the flag that turns a BooleanOptionalAction off.
func (a *argument) negative() (string, bool) {
	if a.off != "" {
		return a.off, true
	}
	for _, flag := range a.flags {
		if name, ok := strings.CutPrefix(flag, "--"); ok {
			return "--no-" + name, true
		}
	}
	return "", false
}

// option writes an option with what it takes.
func (w *writer) option(arg *argument, v any) error {
	spelling, name := arg.longest(), arg.property.name
	switch arg.nargs {
	case "":
		text, err := arg.text(v)
		if err != nil {
			return err
		}
		w.put(arg, w.level.dialect.with(spelling, text)...)
		return nil
	case "?":
		if v == true && arg.alone() {
			w.leaveOpen(arg, spelling)
			return nil
		}
		text, err := arg.text(v)
		if err != nil {
			return err
		}
		w.put(arg, spelling+"="+text)
		return nil
	}
	texts, err := arg.texts(v)
	if err != nil {
		return err
	}
	if len(texts) == 1 && arg.nargs != "..." {
		w.put(arg, w.level.dialect.with(spelling, texts[0])...)
		return nil
	}
	for _, text := range texts {
		if w.level.dialect == argparseDialect && w.looksLikeOption(text) {
			return fault(name, "cannot hold %q beside other values: the script would take it for an option", text)
		}
		if err := w.readable(arg, text); err != nil {
			return err
		}
	}
	tokens := append([]string{spelling}, texts...)
	if _, err := strconv.Atoi(arg.nargs); err == nil {
		w.put(arg, tokens...)
		return nil
	}
	if arg.nargs == "..." {
		return fault(name, "takes all that follows, which cannot be written")
	}
	w.leaveOpen(arg, tokens...)
	return nil
}

// with writes a flag with its value, whatever it starts with.
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

func (w *writer) positionalValues(arg *argument, v any) ([]string, error) {
	var values []string
	if arg.nargs == "" || arg.nargs == "?" {
		text, err := arg.text(v)
		if err != nil {
			return nil, err
		}
		values = []string{text}
	} else {
		texts, err := arg.texts(v)
		if err != nil {
			return nil, err
		}
		values = texts
	}
	for _, text := range values {
		if err := w.readable(arg, text); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// texts returns the values of an array.
func (a *argument) texts(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fault(a.property.name, "must be an array")
	}
	n, err := strconv.Atoi(a.nargs)
	switch {
	case err == nil && len(list) != n:
		return nil, fault(a.property.name, "must have %d items, not %d", n, len(list))
	case a.nargs == "+" && len(list) == 0:
		return nil, fault(a.property.name, "must have an item")
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if texts[i], err = a.text(item); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// text returns one value as it is written.
func (a *argument) text(v any) (string, error) {
	text, err := a.render(v)
	switch {
	case err != nil:
		return "", fault(a.property.name, "%v", err)
	case strings.IndexByte(text, 0) >= 0:
		return "", fault(a.property.name, "cannot hold a NUL")
	case text == "--":
		return "", fault(a.property.name, `cannot be "--", which ends the options`)
	}
	return text, nil
}

var (
	errString  = errors.New("must be a string")
	errInteger = errors.New("must be an integer")
	errNumber  = errors.New("must be a number")
	errBoolean = errors.New("must be true or false")
)

func (a *argument) render(v any) (string, error) {
	switch a.typ {
	case typeInteger:
		n, err := wholeNumber(v)
		if err != nil {
			return "", errInteger
		}
		return n.String(), nil
	case typeNumber:
		return decimal(v)
	case typeBool:
		on, ok := v.(bool)
		if !ok {
			return "", errBoolean
		}
		if on {
			return "True", nil
		}
		return "", nil
	case typeTruth:
		on, ok := v.(bool)
		if !ok {
			return "", errBoolean
		}
		if a.truths != nil {
			if on {
				return a.truths[0], nil
			}
			return a.truths[1], nil
		}
		return strconv.FormatBool(on), nil
	case typeJSON:
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return "", fmt.Errorf("cannot be written as JSON: %w", err)
		}
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	text, ok := v.(string)
	if !ok {
		return "", errString
	}
	return text, nil
}

// maxDigits bounds numbers: Python refuses integers of more than 4300 digits.
const maxDigits = 400

func rational(v any) (*big.Rat, bool) {
	var text string
	switch n := v.(type) {
	case json.Number:
		text = n.String()
	case float64:
		text = strconv.FormatFloat(n, 'g', -1, 64)
	case int64:
		text = strconv.FormatInt(n, 10)
	case int:
		text = strconv.Itoa(n)
	default:
		return nil, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxDigits || n < -maxDigits {
			return nil, false
		}
	}
	if len(text) > maxDigits || !json.Valid([]byte(text)) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// wholeNumber returns an integer, however JSON writes it: 5, 5.0, 5e0.
func wholeNumber(v any) (*big.Int, error) {
	r, ok := rational(v)
	if !ok || !r.IsInt() {
		return nil, errInteger
	}
	return r.Num(), nil
}

// decimal returns a number without an exponent: argparse takes -1e5 for an
// option.
func decimal(v any) (string, error) {
	r, ok := rational(v)
	if !ok {
		return "", errNumber
	}
	if r.IsInt() {
		return r.Num().String(), nil
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64), nil
}
