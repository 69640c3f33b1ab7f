package python

import (
	"math"
	"slices"
)

// assemble puts a level's command line together: options, and last the
// positional arguments.
func (w *writer) assemble() ([]string, error) {
	// An option that is closed ends one that is open.
	slices.SortStableFunc(w.options, func(a, b written) int {
		switch {
		case a.open == b.open:
			return 0
		case a.open:
			return -1
		}
		return 1
	})
	var argv, words []string
	for _, option := range w.options {
		argv = append(argv, option.tokens...)
	}
	if err := w.distributes(); err != nil {
		return nil, err
	}
	var first *argument // with a value
	for _, word := range w.words {
		if first == nil && len(word.values) > 0 {
			first = word.arg
		}
		words = append(words, word.values...)
	}
	hangs := len(w.options) > 0 && w.options[len(w.options)-1].open
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
// expression: each takes as many as it can and leaves the rest what they need.
func (w *writer) distributes() error {
	if w.level.dialect == clickDialect {
		return w.clickDistributes()
	}
	var counts []int
	var spans []span
	for _, word := range w.words {
		counts = append(counts, len(word.values))
		spans = append(spans, word.arg.span())
	}
	if w.level.chooser != nil { // the last of them
		counts = append(counts, min(len(w.below), 1))
		spans = append(spans, span{1, math.MaxInt32})
	}
	got := distribute(counts, spans)
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

// distribute does what ArgumentParser._match_arguments_partial does: as many
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
		case len(word.values) == 0:
			missing = word.arg.property.name
		case missing != "":
			return fault(word.arg.property.name, "can only be given with %q", missing)
		}
	}
	return nil
}
