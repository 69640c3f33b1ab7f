package python

import (
	"slices"
)

// byTruth divides by whether a value is true.
func (w *wordReader) byTruth(v value) (yes, no *wordPath) {
	yes, no = w.path.clone(), w.path.clone()
	switch v := v.(type) {
	case argvector:
		return w.atLeast(int(v))
	case count:
		return w.atLeast(int(v))
	case word: // it may have a default
		if w.path.least < int(v) {
			return w.atLeast(int(v))
		}
	case *wordOption:
		w.asked++
	default:
		if is, known := truth(v); known && !mayChange(v) {
			yes.ended, no.ended = yes.ended || !is, no.ended || is
		}
	}
	return yes, no
}

// mayChange reports whether a list or a dict is empty, or was changed by a method: others
// may add to it as well.
func mayChange(v value) bool {
	items, collection := itemsOf(v)
	return collection && (len(items) == 0 || isUnknown(items[0]))
}

// atLeast divides by a number of arguments.
func (w *wordReader) atLeast(n int) (yes, no *wordPath) {
	yes, no = w.path.clone(), w.path.clone()
	w.asked++
	yes.limit(n, unlimited)
	no.limit(0, n-1)
	return yes, no
}

// opposites are comparisons and their negations.
var opposites = map[string]string{"!=": "==", "is not": "is", "not in": "in", "<": ">=", "<=": ">"}

// compare divides by a comparison of a value that comes from the command line; ok is
// false for another.
func (w *wordReader) compare(op string, a, b value, line int) (yes, no *wordPath, ok bool) {
	if opposite, is := opposites[op]; is {
		no, yes, ok = w.compare(opposite, a, b, line)
		return yes, no, ok
	}
	if _, is := b.(count); is && op != "in" {
		mirrored := map[string]string{">": "<", ">=": "<=", "==": "=="}
		return w.compare(mirrored[op], b, a, line)
	}
	switch x := a.(type) {
	case count:
		yes, no = w.byCount(op, int(x), b, line)
		return yes, no, true
	case word, argvector, *wordOption:
		if isNone(b) && op != "in" {
			no, yes = w.byTruth(a)
			return yes, no, true
		}
	}
	if v, is := b.(argvector); is && op == "in" && v >= 0 {
		yes, no = w.byTruth(w.find(a, line))
		return yes, no, true
	}
	if v, is := a.(word); is && (op == "==" || op == "in") {
		return w.byText(v, b, op == "in")
	}
	return nil, nil, false
}

// byCount divides by a comparison of the length of an argvector.
func (w *wordReader) byCount(op string, from int, b value, line int) (yes, no *wordPath) {
	n, ok := b.(int64)
	if !ok || op == "in" || n > maxPlaces || n < -maxPlaces {
		w.fail(line, "it counts its arguments in a way that is not known")
		return w.path.clone(), w.path.clone()
	}
	switch at := int(n) + from - 1; op { // the number of arguments
	case ">":
		return w.atLeast(at + 1)
	case ">=":
		return w.atLeast(at)
	default:
		yes, no = w.atLeast(at)
		yes.limit(0, at)
		if w.path.least == at {
			no = w.path.clone()
			no.limit(at+1, unlimited)
		} else if w.path.most > at {
			no = w.path.clone()
		}
		return yes, no
	}
}

// byText divides by the text of a word; ok is false where the texts are not known.
func (w *wordReader) byText(v word, b value, among bool) (yes, no *wordPath, ok bool) {
	yes, no = w.path.clone(), w.path.clone()
	items := []value{b}
	if among {
		items, _ = itemsOf(b)
	}
	texts := stringsOf(items)
	if w.asked++; len(texts) == 0 || len(texts) > maxUnroll {
		return nil, nil, false
	}
	if v == 1 {
		w.compared = append(w.compared, texts...)
	}
	if v == 1 && w.first != "" {
		is := slices.Contains(texts, w.first)
		yes.ended, no.ended = yes.ended || !is, no.ended || is
		return yes, no, true
	}
	place := w.place(v, 0)
	for _, text := range texts {
		if isFlag(text) && !slices.Contains([]string{"-", "-h", "--help", "-help", "-V", "--version", "-?"}, text) {
			place.flags = append(place.flags, text)
		}
	}
	if w.path.least < int(v) && !place.several { // it may be absent, and have its default
		if fallback, _ := place.fallback.(string); place.fallback != nil && slices.Contains(texts, fallback) {
			no.limit(int(v), unlimited)
		} else {
			yes.limit(int(v), unlimited)
		}
	}
	yes.restrict(v, slices.Clone(texts))
	no.exclude(v, texts)
	return yes, no, true
}
