package python

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// A writer makes the command line of one level.
type writer struct {
	level   *level
	args    map[string]any
	path    []*level
	below   []*level
	options []written
	words   []written // positional arguments, those without values too
}

// A written argument is one with what stands for it on the command line.
type written struct {
	arg    *argument
	tokens []string
	open   bool // an option of which the last takes all values that follow
}

// write returns the command line of the level.
func (w *writer) write() ([]string, error) {
	for _, arg := range w.level.arguments {
		v := w.args[arg.property.name]
		if w.writtenBelow(arg) {
			v = nil
		}
		var err error
		switch {
		case arg.positional():
			err = w.positional(arg, v)
		case v == nil:
		case !arg.takesValue():
			err = w.flag(arg, v)
		case arg.kind == "append" || arg.kind == "extend" && arg.nargs == "":
			err = w.repeated(arg, v)
		default:
			err = w.option(arg, v)
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
	if err := w.distributes(); err != nil {
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
			if slices.ContainsFunc(slices.Concat(w.options, w.words), func(o written) bool { return o.arg == arg && o.tokens != nil }) {
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

// flag writes an option without a value.
func (w *writer) flag(arg *argument, v any) error {
	name := arg.property.name
	if arg.kind == "count" {
		n, ok := wholeNumber(v)
		if !ok || !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxCount {
			return fault(name, "must be an integer from 0 to %d", maxCount)
		}
		for range n.Int64() {
			w.put(arg, false, arg.longest())
		}
		return nil
	}
	on, ok := v.(bool)
	if !ok {
		return fault(name, "must be true or false")
	}
	flags := map[bool]string{true: arg.longest(), false: arg.off}
	if arg.kind == "store_false" && !arg.flagged {
		flags = map[bool]string{false: arg.longest()}
	}
	switch flag := flags[on]; {
	case flag != "":
		w.put(arg, false, flag)
	case arg.kind == "boolean", (arg.kind == "store_true" || arg.kind == "store_false" && !arg.flagged) && arg.fallback == !on:
		return fault(name, "cannot be %t: the script has no option for it", on)
	}
	return nil
}

// repeated writes an option once for each item of an array.
func (w *writer) repeated(arg *argument, v any) error {
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

// option writes an option with one value, or with the values of an array.
func (w *writer) option(arg *argument, v any) error {
	flag := arg.longest()
	if arg.nargs == "?" && v == true && arg.alone() {
		w.put(arg, true, flag)
		return nil
	}
	texts, err := arg.texts(v)
	switch span := arg.span(); {
	case err != nil:
		return err
	case arg.nargs == "...":
		return fault(arg.property.name, "takes all that follows, which cannot be written")
	case len(texts) == 1:
		w.put(arg, false, arg.with(w.level.dialect, flag, texts[0])...)
	default:
		for _, text := range texts {
			if w.level.dialect == argparseDialect && w.looksLikeOption(text) {
				return fault(arg.property.name, "cannot hold %q beside other values: the script would take it for an option", text)
			}
			if err := w.readable(arg, text); err != nil {
				return err
			}
		}
		w.put(arg, span.least != span.most, append([]string{flag}, texts...)...)
	}
	return nil
}

// with writes a flag with its value, which may start with anything.
func (a *action) with(d dialect, flag, text string) []string {
	if d == wordsDialect {
		return []string{flag, text}
	}
	if d == clickDialect && !strings.HasPrefix(flag, "--") {
		return []string{flag, text} // of -f=x, click takes the = for a part of the value
	}
	return []string{flag + "=" + text}
}

// ordered puts the words of a script without a parser in order.
func (w *writer) ordered(layout *wordLayout) ([]string, error) {
	var words, options []string
	missing := ""
	for _, word := range w.words {
		if len(word.tokens) == 0 {
			missing = cmp.Or(missing, word.arg.property.name)
		}
		for _, text := range word.tokens {
			if err := w.fits(word.arg, text, layout); err != nil {
				return nil, err
			}
		}
		words = append(words, word.tokens...)
	}
	for _, option := range w.options {
		options = append(options, option.tokens...)
		if layout.filled && missing != "" {
			return nil, fault(option.arg.property.name, "can only be given with %q", missing)
		}
	}
	return append(words, options...), nil
}

// fits refuses a word that the script would take for an option.
func (w *writer) fits(arg *argument, text string, layout *wordLayout) error {
	_, known := w.level.parser.flags[text]
	if arg.choices == nil && (known) {
		return fault(arg.property.name, "cannot be %q: the script would take it for an option", text)
	}
	return nil
}

// negativeNumber matches a value that argparse takes for a number, where no option looks like
// one (ArgumentParser._negative_number_matcher).
var negativeNumber = lazyregexp.New(`^-\d+$|^-\d*\.\d+$`)

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

// readable refuses a value that argparse would take for the name of a file to read.
func (w *writer) readable(arg *argument, text string) error {
	for _, l := range w.path {
		if text != "" && strings.ContainsRune(l.parser.fromFile, rune(text[0])) {
			return fault(arg.property.name, "cannot start with %q, which names a file to the script", text[:1])
		}
	}
	return nil
}

// positional takes the values of a positional argument, of which there are none for
// nil.
func (w *writer) positional(arg *argument, v any) error {
	if v == nil {
		w.words = append(w.words, written{arg: arg})
		return nil
	}
	values, err := arg.texts(v)
	if err != nil {
		return err
	}
	for _, text := range values {
		if err := w.readable(arg, text); err != nil {
			return err
		}
	}
	w.words = append(w.words, written{arg: arg, tokens: values})
	return nil
}

// assemble puts a level's command line together: options, and last the
// positional arguments.
func (w *writer) assemble() ([]string, error) {
	if layout := w.level.parser.words; layout != nil {
		return w.ordered(layout)
	}
	var argv, words []string
	hangs := false // the last option would take what follows
	for _, open := range []bool{true, false} {
		for _, option := range w.options {
			if option.open == open {
				argv, hangs = append(argv, option.tokens...), open
			}
		}
	}
	var first *argument // with a value
	for _, word := range w.words {
		if words = append(words, word.tokens...); first == nil && len(words) > 0 {
			first = word.arg
		}
	}
	switch {
	case first == nil && hangs && len(w.below) > 0:
		return nil, fault(w.options[0].arg.property.name, "cannot be given before a command: the script would take the command for one of its values")
	case first == nil || !hangs && !slices.ContainsFunc(words, isFlag):
	case first.nargs != "..." || w.level.dialect != argparseDialect:
		argv = append(argv, "--")
	case hangs || isFlag(words[0]): // -- would become one of the remainder's values
		return nil, fault(first.property.name, "cannot start with %q: the script would take it for an option or its value", words[0])
	}
	return append(argv, words...), nil
}

// distributes reports with an error where the script would give values of one
// positional argument to another. argparse matches them like a regular
// expression: each takes as many as it can and leaves the others their minimum.
func (w *writer) distributes() error {
	if w.level.dialect != argparseDialect {
		return w.clickDistributes()
	}
	var counts []int
	var spans []span
	for _, word := range w.words {
		counts, spans = append(counts, len(word.tokens)), append(spans, word.arg.span())
	}
	if w.level.chooser != nil { // the last of them
		counts, spans = append(counts, min(len(w.below), 1)), append(spans, span{1, math.MaxInt32})
	}
	got := distribute(counts, spans)
	for i, word := range w.words {
		if got[i] != counts[i] {
			return fault(word.arg.property.name, "cannot be told from the other positional arguments; give those before it too")
		}
	}
	if len(w.below) > 0 && got[len(w.words)] == 0 {
		return fault(w.level.chooser.name, "cannot be told from the positional arguments before it")
	}
	return nil
}

// distribute follows ArgumentParser._match_arguments_partial: it satisfies as many
// arguments as can be satisfied, each greedily.
func distribute(counts []int, spans []span) []int {
	total, need := 0, 0
	for i, s := range spans {
		total += counts[i]
		need += s.least
	}
	for n := len(spans); n > 0 && need > total; n-- {
		need -= spans[n-1].least
		spans = spans[:n-1]
	}
	got := make([]int, len(counts))
	for i, s := range spans {
		need -= s.least
		got[i] = min(s.most, total-need)
		total -= got[i]
	}
	return got
}

// clickDistributes is distributes for click, which fills arguments in order and
// lets only one take any number.
func (w *writer) clickDistributes() error {
	missing := ""
	for _, word := range w.words {
		switch {
		case word.arg.nargs == "*":
			missing = ""
		case len(word.tokens) == 0:
			missing = word.arg.property.name
		case missing != "":
			return fault(word.arg.property.name, "can only be given with %q", missing)
		}
	}
	return nil
}
