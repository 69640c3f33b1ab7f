package python

import (
	"slices"
)

// maxPlaces bounds the places of words that are told apart.
const maxPlaces = 64

// A wordRecord is the use that a script makes of its arguments, as far as it was followed.
type wordRecord struct {
	steps      int
	problem    *Note
	places     map[element]*wordPlace
	options    []*wordOption
	lists      map[element]wordNames // of the variables with all words from a place on
	ends       []*wordPath           // the ways on which the script ended well
	fixed      map[element]string    // options that are looked for at a place
	dashed     bool                  // a word that begins with a dash is taken for an option
	skipped    bool                  // the script looks for options that were not named
	visited    map[*function]bool
	assumed    map[element]string // the texts of words, for one command
	trying     int                // handlers around the statement that go on
	dispatches bool               // which function it calls depends on a word
	counted    int                // the first line that does more with their number than compare it; 0 is none
}

func newWordRecord(size int) *wordRecord {
	return &wordRecord{steps: baseSteps + stepsPerByte*size, places: map[element]*wordPlace{}, lists: map[element]wordNames{}, fixed: map[element]string{}, visited: map[*function]bool{}}
}

// fail says why the arguments are not known; the first reason counts.
func (r *wordRecord) fail(line int, text string) {
	if r.problem == nil {
		r.problem = &Note{line, text}
	}
}

func (r *wordRecord) charge(n int) bool {
	if r.steps -= n; r.steps <= 0 {
		r.fail(0, "the script is too long to follow")
	}
	return r.problem == nil
}

// place returns the argument at a place.
func (r *wordRecord) place(e element, line int) *wordPlace {
	if e.at > maxPlaces {
		r.fail(line, "it reads too many arguments")
	}
	at := r.places[e]
	if at == nil {
		at = &wordPlace{line: line}
		r.places[e] = at
	}
	return at
}

// option returns the option of some flags, which are one.
func (r *wordRecord) option(line int, flags ...string) *wordOption {
	found := &wordOption{line: line}
	has := func(o *wordOption) bool {
		return slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(o.flags, flag) })
	}
	if at := slices.IndexFunc(r.options, has); at >= 0 {
		found = r.options[at]
	} else if r.options = append(r.options, found); len(r.options) > maxArguments {
		r.fail(line, "it has too many options")
	}
	for _, o := range slices.Clone(r.options) {
		if o != found && has(o) {
			r.unite(found, o)
		}
	}
	for _, flag := range flags {
		if !slices.Contains(found.flags, flag) {
			found.flags = append(found.flags, flag)
		}
	}
	return found
}

// unite makes one option of two.
func (r *wordRecord) unite(a, b *wordOption) *wordOption {
	if a == b {
		return a
	}
	a.flags = append(a.flags, b.flags...)
	a.stripped = a.stripped || b.stripped
	r.options = slices.DeleteFunc(r.options, func(o *wordOption) bool { return o == b })
	return a
}

// used notes what a value that comes from the command line is used for.
func (r *wordRecord) used(v value, variable string) {
	switch v := v.(type) {
	case element:
		at := r.place(v, 0)
		at.names.add(variable)
	case vector:
		names := r.lists[element{v.space, v.from}]
		names.add(variable)
		r.lists[element{v.space, v.from}] = names
	case flagTest:
		v.option.names.add(variable)
	}
}

// typed notes that a value is made a number.
func (r *wordRecord) typed(v value, typ valueType) {
	if r.trying > 0 && (typ == typeInteger || typ == typeNumber) {
		if word, ok := v.(element); ok {
			r.place(word, 0).tried = typ
		}
		return
	}
	if word, ok := v.(element); ok {
		if at := r.place(word, 0); at.typ == typeString {
			at.typ = typ
		}
	}
}

// touches notes that a value names a file.
func (r *wordRecord) touches(v value, use fileUse) {
	if word, ok := v.(element); ok {
		at := r.place(word, 0)
		at.file = max(at.file, use)
	}
}

// merged returns the value of a variable that has one of two. A constant beside an
// argument is its default.
func (r *wordRecord) merged(a, b value) value {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		switch v := pair[0].(type) {
		case element:
			at := r.place(v, 0)
			return r.defaulted(v, pair[1], &at.fallback, &at.several)
		case vector:
			if _, list := pair[1].(*sequence); list || isNone(pair[1]) {
				return v
			}
			return vague{}
		}
	}
	return unknown{}
}

// defaulted notes the default of an argument and returns its value.
func (r *wordRecord) defaulted(v, other value, fallback *value, several *bool) value {
	switch other.(type) {
	case string, int64, float64, bool:
		if *several = *several || *fallback != nil && *fallback != other; !*several {
			*fallback = other
		}
	case none:
	case unknown:
		*several = true
	default:
		return unknown{}
	}
	return v
}

// known refuses a value that may be one of several.
func (r *wordRecord) known(v value, line int) value {
	if v == (vague{}) {
		r.fail(line, "which arguments a variable has depends on a condition")
	}
	return v
}

// perhaps returns the word at an index of a vector, which may be absent: a slice is
// shorter then.
func (r *wordRecord) perhaps(v vector, index int64, line int) value {
	word := element{v.space, v.from + int(index)}
	r.place(word, line)
	r.typed(word, v.typ)
	return word
}
