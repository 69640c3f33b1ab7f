package python

import (
	"slices"
	"strings"
)

// A wordCond divides paths by conditions.
type wordCond struct{ *wordEval }

// divide returns the ways of a path on which a condition is true, and the others. The
// path itself has then evaluated the condition.
func (e *wordCond) divide(n *node, p *wordPath) (yes, no *wordPath) {
	switch {
	case p.ended || !e.charge(1+p.size()/16):
		return p.clone(), p.clone()
	case n.kind == nUnary && n.name == "not":
		no, yes = e.divide(n.kids[0], p)
		return yes, no
	case n.kind == nBool:
		return e.divideBoth(n, p)
	case n.kind == nBinary && isComparison(n.name):
		return e.compare(n, p)
	}
	v := e.eval(n, p)
	if is, known := truth(v); known && isFixed(n, p) && itemless(v) {
		v = is
	} else if known {
		v = unknown{}
	}
	return e.byTruth(v, p)
}

func isComparison(op string) bool {
	return slices.Contains([]string{"==", "!=", "<", ">", "<=", ">=", "in", "not in", "is", "is not"}, op)
}

// divideBoth divides by "and" and "or".
func (e *wordCond) divideBoth(n *node, p *wordPath) (yes, no *wordPath) {
	yes, no = e.divide(n.kids[0], p)
	if n.name == "and" {
		both, fails := e.divide(n.kids[1], yes)
		return both, no.join(fails, e.merged)
	}
	holds, neither := e.divide(n.kids[1], no)
	return yes.join(holds, e.merged), neither
}

// byTruth divides by whether a value is true.
func (e *wordCond) byTruth(v value, p *wordPath) (yes, no *wordPath) {
	yes, no = p.clone(), p.clone()
	switch v := v.(type) {
	case vector:
		if !v.flags {
			yes.limit(v.space, v.from, unlimited)
			no.limit(v.space, 0, max(v.from-1, 0))
		}
	case count:
		yes.limit(v.space, v.from, unlimited)
		no.limit(v.space, 0, max(v.from-1, 0))
	case element: // it may have a default
		if p.least[v.space] < v.at {
			yes.limit(v.space, v.at, unlimited)
			no.limit(v.space, 0, v.at-1)
		}
	case flagTest:
		yes.asked++
		no.asked++
	case bool: // of a comparison
		yes.ended, no.ended = !v, v
	}
	return yes, no
}

// compare divides by a comparison.
func (e *wordCond) compare(n *node, p *wordPath) (yes, no *wordPath) {
	left := n.kids[0]
	if left.kind == nBinary && isComparison(left.name) { // 1 < len(args) < 4
		yes, no = e.compare(left, p)
		both, fails := e.compareValues(n.name, e.eval(left.kids[1], yes), e.eval(n.kids[1], yes), yes, n.line)
		return both, no.join(fails, e.merged)
	}
	a, b := e.eval(left, p), e.eval(n.kids[1], p)
	if !comesFromWords(a) && !comesFromWords(b) && !(isFixed(left, p) && isFixed(n.kids[1], p)) {
		return p.clone(), p.clone()
	}
	return e.compareValues(n.name, a, b, p, n.line)
}

func (e *wordCond) compareValues(op string, a, b value, p *wordPath, line int) (yes, no *wordPath) {
	switch op {
	case "!=", "is not", "not in":
		no, yes = e.compareValues(map[string]string{"!=": "==", "is not": "is", "not in": "in"}[op], a, b, p, line)
		return yes, no
	}
	if words, ok := b.(count); ok && op != "in" {
		a, b, op = words, a, map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]+map[bool]string{true: op}[op == "==" || op == "is"]
	}
	if words, ok := a.(count); ok {
		return e.byCount(op, words, b, p, line)
	}
	if op == "in" {
		if v, ok := b.(vector); ok {
			return e.byTruth(e.within(a, v, line), p)
		}
	}
	if absent := isNone(b) && op != "in"; absent && comesFromWords(a) {
		no, yes = e.byTruth(a, p)
		return yes, no
	}
	if word, ok := a.(element); ok {
		return e.byWord(op, word, b, p, line)
	}
	if word, ok := b.(element); ok && op == "==" {
		return e.byWord(op, word, a, p, line)
	}
	if v, ok := a.(vector); ok && op == "==" { // sys.argv[1:] == []
		if seq, ok := b.(*sequence); ok && len(seq.items) == 0 {
			no, yes = e.byTruth(v, p)
			return yes, no
		}
	}
	e.plain(b, line)
	e.plain(a, line)
	if op == "==" || op == "is" {
		if is, known := equal(a, b); known {
			return e.byTruth(is, p)
		}
	}
	return p.clone(), p.clone()
}

// byCount divides by a comparison of the number of words.
func (e *wordCond) byCount(op string, words count, b value, p *wordPath, line int) (yes, no *wordPath) {
	yes, no = p.clone(), p.clone()
	n, ok := b.(int64)
	if seq, in := b.(*sequence); in && op == "in" {
		return e.byCounts(words, seq, p, line)
	}
	if !ok || words.flags || n > maxPlaces || n < -maxPlaces {
		e.fail(line, "it counts its arguments in a way that is not known")
		return yes, no
	}
	at := int(n) + words.from - 1 // the number of arguments
	s := words.space
	switch op {
	case "<":
		yes.limit(s, 0, at-1)
		no.limit(s, at, unlimited)
	case "<=":
		yes.limit(s, 0, at)
		no.limit(s, at+1, unlimited)
	case ">":
		yes.limit(s, at+1, unlimited)
		no.limit(s, 0, at)
	case ">=":
		yes.limit(s, at, unlimited)
		no.limit(s, 0, at-1)
	case "==", "is":
		yes.limit(s, at, at)
		if p.least[s] == at {
			no.limit(s, at+1, unlimited)
		} else if p.most[s] == at {
			no.limit(s, 0, at-1)
		}
	}
	return yes, no
}

// byCounts divides by len(sys.argv) in (2, 3).
func (e *wordCond) byCounts(words count, numbers *sequence, p *wordPath, line int) (yes, no *wordPath) {
	yes, no = &wordPath{ended: true}, p
	for _, n := range numbers.items {
		is, other := e.byCount("==", words, n, no, line)
		yes, no = yes.join(is, e.merged), other
	}
	return yes, no.clone()
}

// byWord divides by the text of a word.
func (e *wordCond) byWord(op string, word element, b value, p *wordPath, line int) (yes, no *wordPath) {
	yes, no = p.clone(), p.clone()
	yes.asked++
	texts := []string(nil)
	if text, ok := b.(string); ok && op == "==" {
		texts = []string{text}
	} else if items, ok := itemsOf(b); ok && op == "in" {
		texts = stringsOf(items)
	}
	if len(texts) == 0 || len(texts) > maxUnroll {
		e.plain(b, line)
		e.place(word, line).data = true
		return yes, no
	}
	if text, ok := e.assumed[word]; ok {
		is := slices.Contains(texts, text)
		yes.ended, no.ended = !is, is
		return yes, no
	}
	if flags := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !isFlag(text) }); len(flags) > 0 {
		e.fixed[word] = strings.Join(flags, " ")
	}
	e.present(word, texts, p, yes, no)
	yes.restrict(word, slices.Clone(texts))
	no.exclude(word, texts)
	return yes, no
}

// present limits a comparison of a word that may be absent to the ways on which it is
// there, by the default that the variable then has.
func (e *wordCond) present(word element, texts []string, p, yes, no *wordPath) {
	place := e.place(word, 0)
	if p.least[word.space] >= word.at || place.several {
		return
	}
	fallback, _ := place.fallback.(string)
	if place.fallback != nil && slices.Contains(texts, fallback) {
		no.limit(word.space, word.at, unlimited)
	} else {
		yes.limit(word.space, word.at, unlimited)
	}
}
