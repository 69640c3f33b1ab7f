package python

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// assemble puts a level's command line together: options, and last the
// positional arguments.
func (w *writer) assemble() ([]string, error) {
	// An option that is closed ends one that is open.
	slices.SortStableFunc(w.options, func(a, b written) int { return rank(a) - rank(b) })
	var argv []string
	for _, option := range w.options {
		argv = append(argv, option.tokens...)
	}
	if err := w.distributes(); err != nil {
		return nil, err
	}
	words := w.flatten()
	hangs := len(w.options) > 0 && w.options[len(w.options)-1].open
	if len(words) == 0 {
		if hangs && len(w.below) > 0 {
			return nil, fault(w.options[0].arg.property.name, "cannot be given before a command: the script would take the command for one of its values")
		}
		return argv, nil
	}
	if hangs || slices.ContainsFunc(words, isFlag) {
		if first := w.firstWord(); first.arg.nargs == "..." && w.level.dialect == argparseDialect {
			return w.remainder(argv, words, first, hangs)
		}
		argv = append(argv, "--")
	}
	return append(argv, words...), nil
}

func rank(option written) int {
	if option.open {
		return 0
	}
	return 1
}

func (w *writer) flatten() []string {
	var words []string
	for _, word := range w.words {
		words = append(words, word.values...)
	}
	return words
}

func (w *writer) firstWord() word {
	at := slices.IndexFunc(w.words, func(word word) bool { return len(word.values) > 0 })
	return w.words[at]
}

// remainder writes what argparse.REMAINDER takes where nothing comes before it.
// A -- would become one of its values.
func (w *writer) remainder(argv, words []string, first word, hangs bool) ([]string, error) {
	if hangs || isFlag(words[0]) {
		return nil, fault(first.arg.property.name, "cannot start with %q: the script would take it for an option or its value", words[0])
	}
	return append(argv, words...), nil
}

// distributes reports with an error where the script would give values of one
// positional argument to another. argparse matches them like a regular
// expression: each takes as many as it can and leaves the rest what they need.
func (w *writer) distributes() error {
	if w.level.dialect == clickDialect {
		return w.clickDistributes()
	}
	counts, ranges := w.wanted()
	total := 0
	for _, n := range counts {
		total += n
	}
	got := distribute(total, ranges)
	for i, word := range w.words {
		if got[i] != counts[i] {
			return fault(word.arg.property.name, "cannot be told from the other positional arguments; give those before it too")
		}
	}
	if len(w.below) > 0 && got[len(got)-1] == 0 {
		return fault(w.level.chooser.name, "cannot be told from the positional arguments before it")
	}
	return nil
}

// A span is how many values an argument takes.
type span struct{ least, most int }

func (a *action) span() span {
	switch a.nargs {
	case "":
		return span{1, 1}
	case "?":
		return span{0, 1}
	case "*", "...":
		return span{0, math.MaxInt32}
	case "+":
		return span{1, math.MaxInt32}
	}
	n, _ := strconv.Atoi(a.nargs)
	return span{n, n}
}

// wanted returns how many values each positional argument is to get, and may.
// The sub-command is the last of them.
func (w *writer) wanted() ([]int, []span) {
	var counts []int
	var spans []span
	for _, word := range w.words {
		counts = append(counts, len(word.values))
		spans = append(spans, word.arg.span())
	}
	if w.level.chooser != nil {
		spans = append(spans, span{1, math.MaxInt32})
		counts = append(counts, min(len(w.below), 1))
	}
	return counts, spans
}

// distribute does what ArgumentParser._match_arguments_partial does: as many
// arguments as can be satisfied, each greedily.
func distribute(total int, spans []span) []int {
	for n := len(spans); n > 0; n-- {
		if got, ok := greedy(total, spans[:n]); ok {
			return append(got, make([]int, len(spans)-n)...)
		}
	}
	return make([]int, len(spans))
}

func greedy(total int, spans []span) ([]int, bool) {
	need := 0
	for _, s := range spans {
		need += s.least
	}
	got := make([]int, len(spans))
	for i, s := range spans {
		need -= s.least
		got[i] = min(s.most, total-need)
		if got[i] < s.least {
			return nil, false
		}
		total -= got[i]
	}
	return got, true
}

// ambiguous refuses a command line with an option of a sub-command that a level
// above takes for the start of several of its own. argparse gives up there.
func ambiguous(path []*level, argv []string) error {
	for _, l := range path {
		if l.dialect != argparseDialect {
			return nil
		}
		for _, token := range argv {
			if token == "--" {
				break
			}
			if name, _, _ := strings.Cut(token, "="); strings.HasPrefix(name, "--") && l.isPrefixOfSeveral(name) {
				return fault(l.owner(name, path), "cannot be given: the script takes %s for several of its options", name)
			}
		}
	}
	return nil
}

func (l *level) isPrefixOfSeveral(name string) bool {
	if l.parser.flags[name] != nil {
		return false
	}
	count := 0
	for flag := range l.parser.flags {
		if strings.HasPrefix(flag, name) {
			count++
		}
	}
	return count > 1
}

// owner returns the property that a flag belongs to.
func (l *level) owner(flag string, path []*level) string {
	for _, other := range path {
		for _, arg := range other.arguments {
			if slices.Contains(arg.flags, flag) {
				return arg.property.name
			}
		}
	}
	return flag
}

// clickDistributes is distributes for click, which fills arguments in order and
// lets only one take any number.
func (w *writer) clickDistributes() error {
	missing := ""
	for _, word := range w.words {
		switch {
		case word.arg.nargs == "*":
			missing = ""
		case len(word.values) == 0:
			missing = word.arg.property.name
		case missing != "":
			return fault(word.arg.property.name, "can only be given with %q", missing)
		}
	}
	return nil
}
