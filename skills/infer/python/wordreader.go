package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/fileuse"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A count is the length of an argvector.
type count argvector

// maxPlaces bounds the places of words that are told apart.
const maxPlaces = 64

// A wordReader notes the use that a script makes of the words of sys.argv: what an
// evaluator reads at a place, counts, and looks for.
type wordReader struct {
	problem  *note
	compared []string  // texts that the first argument is compared with
	first    string    // the text of the first argument, for one command; "" is any
	path     *wordPath // the ways to the current statement
	ends     *wordPath // the ways on which an exit ended the script well; nil is none
	places   map[word]*wordPlace
	options  []*wordOption
	vectors  map[argvector]wordNames // of the variables with all words from a place on
	asked    int                     // conditions on the arguments that were met
	trying   int                     // handlers around the statement that go on
	counted  int                     // the first line that does more with their number than compare it
}

// A wordPlace is an argument that a script finds by its place.
type wordPlace struct {
	line     int
	names    wordNames
	typ      valueType
	tried    valueType // a number that the script makes of it, if it can
	file     fileUse
	fallback value
	several  bool              // fallback has more than one value
	list     bool              // it is all words from here on
	joined   bool              // they are put together as one text
	flags    []string          // that it is compared with
	under    map[word][]string // the texts of earlier words on the ways on which it was read
	typed    map[word][]string // and on those on which its type or its default was seen
}

// A wordOption is an argument that a script finds by its flag.
type wordOption struct {
	line  int
	flags []string
	names wordNames
}

// wordNames are names for an argument, of which the first is best.
type wordNames struct{ variable, weak string }

func newWordReader(first string) *wordReader {
	w := &wordReader{first: first, path: &wordPath{most: unlimited, texts: map[word][]string{}}, places: map[word]*wordPlace{}, vectors: map[argvector]wordNames{}}
	if first != "" {
		w.path.limit(1, unlimited)
		w.place(1, 0)
	}
	return w
}

// add adds the name of a variable.
func (n *wordNames) add(variable string) {
	name := strings.Trim(strings.ToLower(variable), "_")
	if len(name) < 3 || slices.Contains([]string{"arg", "args", "argv", "argument", "arguments", "param", "val", "value", "tmp", "temp", "item", "self", "cls", "raw", "result", "res", "ret", "data", "sys_args", "remaining", "rest", "positional", "pos"}, name) {
		n.weak = cmp.Or(n.weak, name)
		return
	}
	n.variable = cmp.Or(n.variable, name)
}

// fail says why the arguments are not known; the first reason counts.
func (w *wordReader) fail(line int, text string) {
	if w.problem == nil {
		w.problem = noteOn(line, text)
	}
}

// place returns the argument at a place.
func (w *wordReader) place(at word, line int) *wordPlace {
	if w.places[at] == nil {
		w.places[at] = &wordPlace{line: line}
	}
	return w.places[at]
}

// at returns the word at a place. The script fails without it.
func (w *wordReader) at(index value, from argvector, line int) value {
	i, ok := index.(int64)
	at := word(from) + word(min(i, maxPlaces+1))
	switch {
	case !ok || i < 0 || at > maxPlaces:
		w.fail(line, "it reads an argument at a place that is computed")
	case at > 0:
		noteTexts(&w.place(at, line).under, w.path, at)
		w.path.limit(int(at), unlimited)
		return at
	}
	return unknown{}
}

// list notes that the script takes all words from a place on.
func (w *wordReader) list(v argvector, joined bool, line int) value {
	if v == 0 {
		w.fail(line, "it passes its arguments on")
		return unknown{}
	}
	place := w.place(word(v), line)
	place.list, place.joined = true, joined
	return word(v)
}

// find notes an option that is looked for by "in".
func (w *wordReader) find(flag value, line int) value {
	text, _ := flag.(string)
	if !isFlag(text) || text == "-" || text == "--" {
		w.fail(line, "it looks for a word among its arguments")
		return unknown{}
	}
	return w.option1(line, text)
}

// option1 returns the option of a flag.
func (w *wordReader) option1(line int, flag string) *wordOption {
	at := slices.IndexFunc(w.options, func(o *wordOption) bool { return slices.Contains(o.flags, flag) })
	if at >= 0 {
		return w.options[at]
	}
	o := &wordOption{line: line, flags: []string{flag}}
	if w.options = append(w.options, o); len(w.options) > maxArguments {
		w.fail(line, "it has too many options")
	}
	return o
}

// named notes that a variable has a value that comes from the command line.
func (w *wordReader) named(v value, variable string) {
	switch v := v.(type) {
	case word:
		w.place(v, 0).names.add(variable)
	case argvector:
		names := w.vectors[v]
		names.add(variable)
		w.vectors[v] = names
	case *wordOption:
		v.names.add(variable)
	}
}

// spend gives values to code that is not known.
func (w *wordReader) spend(line int, values ...value) {
	for _, v := range values {
		switch v.(type) {
		case argvector:
			w.fail(line, "it passes its arguments on")
		case count:
			w.counted = cmp.Or(w.counted, line)
		}
	}
}

// merged returns the value of a variable that has one of two. A constant beside an
// argument is its default.
func (w *wordReader) merged(a, b value) value {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		switch v := pair[0].(type) {
		case word:
			noteTexts(&w.place(v, 0).typed, w.path, v)
			return w.place(v, 0).defaulted(v, pair[1])
		case argvector:
			if _, list := pair[1].(*sequence); !list {
				w.fail(0, "which arguments a variable has depends on a condition")
			}
			return v
		}
	}
	return unknown{}
}

// defaulted notes the default of an argument and returns its value.
func (place *wordPlace) defaulted(v word, other value) value {
	switch other.(type) {
	case string, int64, float64, bool:
		if place.several = place.several || place.fallback != nil && place.fallback != other; !place.several {
			place.fallback = other
		}
	case syntax.None:
	case unknown:
		place.several = true
	default:
		return unknown{}
	}
	return v
}

// noteTexts adds the texts of words before one on a path.
func noteTexts(under *map[word][]string, p *wordPath, at word) {
	if *under == nil {
		*under = map[word][]string{}
	}
	for other, texts := range p.texts {
		if other < at {
			(*under)[other] = append((*under)[other], texts...)
		}
	}
}

// depends reports whether an argument was read, or has its type, for some texts of an
// earlier word alone: for the others it may be anything.
func (place *wordPlace) depends(final *wordPath) bool {
	for _, under := range []map[word][]string{place.under, place.typed} {
		for at, texts := range under {
			if all, closed := final.texts[at]; !closed || slices.ContainsFunc(all, func(text string) bool { return !slices.Contains(texts, text) }) {
				return true
			}
		}
	}
	return false
}

// convert evaluates a function of a word whose result is the same argument.
func (w *wordReader) convert(name reference, a *arguments) (value, bool) {
	v, ok := a.first().(word)
	if !ok {
		return nil, false
	}
	place := w.place(v, a.line)
	switch name {
	case "builtins.int", "builtins.float":
		noteTexts(&place.typed, w.path, v)
		typ := map[reference]valueType{"builtins.int": typeInteger, "builtins.float": typeNumber}[name]
		if len(a.positional) > 1 { // int(x, 16)
		} else if w.trying > 0 {
			place.tried = typ
		} else if place.typ == typeString {
			place.typ = typ
		}
		return v, true
	case "pathlib.Path", "builtins.Path":
		if place.typ == typeString {
			place.typ = typePath
		}
		place.file = max(place.file, namesFile)
		return v, true
	case "os.path.abspath", "os.path.expanduser", "os.path.realpath", "os.path.normpath", "os.path.expandvars":
		place.file = max(place.file, namesFile)
		return v, true
	case "builtins.str":
		return v, true
	case "builtins.open", "io.open":
		mode, _ := a.get(1, "mode")
		text, _ := mode.(string)
		place.file = max(place.file, readsFile)
		if strings.ContainsAny(text, "wax+") {
			place.file = writesFile
		}
	case "os.path.exists", "os.path.isfile", "os.path.isdir", "os.listdir", "os.walk":
		place.file = max(place.file, readsFile)
	}
	return nil, false
}

// method evaluates a method of a word.
func (w *wordReader) method(v word, name string, line int) value {
	place := w.place(v, line)
	switch name {
	case "strip", "lower", "upper", "rstrip", "lstrip", "expanduser", "resolve", "absolute", "casefold", "title", "capitalize":
		return v
	}
	if fileuse.IsPathMethod(name) {
		place.file = max(place.file, readsFile)
		if strings.HasPrefix(name, "write") || name == "mkdir" {
			place.file = writesFile
		}
	}
	return unknown{}
}

// stringsOf returns values that are all texts, else nil.
func stringsOf(values []value) []string {
	var texts []string
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// leaves reports whether a function ends the script.
func leaves(name reference) bool {
	switch name {
	case "sys.exit", "builtins.exit", "builtins.quit", "os._exit", "builtins.SystemExit":
		return true
	}
	return false
}

// exit ends the path. One that ends well counts.
func (w *wordReader) exit(a *arguments) {
	code := value(syntax.None{})
	if len(a.positional) > 0 {
		code = a.positional[0]
	}
	text, _ := code.(unknown)
	if _, message := code.(string); !message && text.prefix == "" && (code == int64(0) || !isNumber(code)) && !w.path.ended {
		w.ends = w.ends.join(w.path.clone())
	}
	w.path.ended = true
}

func isNumber(v value) bool {
	_, is := v.(int64)
	return is
}

// isOfWords reports whether a value is of the script's words.
func isOfWords(v value) bool {
	switch v.(type) {
	case argvector, word, count:
		return true
	}
	return false
}

// eitherOf returns the value of a variable that has one of two. The script's
// arguments with a caller's instead are the script's arguments.
func (w *wordReader) eitherOf(a, b value) value {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		v, _ := pair[0].(unknown)
		if _, is := pair[1].(argvector); is && (isNone(pair[0]) || v.parameter) {
			return pair[1]
		}
	}
	if a == b {
		return a
	}
	return w.merged(a, b)
}

// unpack returns the words of an argvector for the parts of a target: "a, *rest".
func (w *wordReader) unpack(v argvector, target *syntax.Node) []value {
	var items []value
	last := len(target.Kids) - 1
	for at, kid := range target.Kids {
		if kid.Kind == syntax.Star && at == last {
			return append(items, v+argvector(at))
		} else if kid.Kind == syntax.Star {
			w.fail(target.Line, "it unpacks its arguments from both ends")
		}
		items = append(items, w.at(int64(at), v, target.Line))
	}
	w.path.limit(0, int(v)+last)
	return items
}

// setAttribute notes a value that an object takes.
func (w *wordReader) setAttribute(before value, target *syntax.Node, v value) {
	if before == argvector(0) {
		w.fail(target.Line, "it sets sys.argv")
	}
	w.named(v, target.Name)
	w.spend(target.Line, v)
}
