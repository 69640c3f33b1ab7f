package python

import (
	"cmp"
	"slices"
	"strings"
)

// A space is a list of words with places of their own: the script's arguments, or those
// that are left of them without the options.
type space int

const (
	allWords space = iota
	restWords
	spaces
)

// A vector is a list of the script's words from a place on. The place of the first
// argument is 1; sys.argv begins at 0.
type vector struct {
	space space
	from  int
	flags bool // it has only the options
	typ   valueType
	other bool // where it is empty, another list has its place
}

// An element is the word at a place.
type element struct {
	space space
	at    int
}

// A domain holds the texts that a word can be where a path was followed. A missing one
// holds all.
type domain []string

// A count is the length of a vector.
type count vector

// A flagTest is whether an option was given.
type flagTest struct{ option *wordOption }

// A vague value may be one of several lists of words. It cannot be used.
type vague struct{}

func comesFromWords(v value) bool {
	switch v.(type) {
	case vector, element, count, vague:
		return true
	}
	return false
}

// A wordPlace is an argument that a script finds by its place.
type wordPlace struct {
	line     int
	names    wordNames
	typ      valueType
	tried    valueType // a number that the script makes of it, if it can
	file     fileUse
	fallback value
	several  bool               // fallback has more than one value
	list     bool               // it is all words from here on
	joined   bool               // they are put together as one text
	data     bool               // it is more than compared
	under    map[element]domain // the texts of earlier words on the ways on which it was read
}

// A wordOption is an argument that a script finds by its flag.
type wordOption struct {
	line     int
	flags    []string
	names    wordNames
	stripped bool // it is gone from the words that are counted
}

// wordNames are names for an argument, of which the first is best.
type wordNames struct{ variable, weak string }

// add adds the name of a variable.
func (n *wordNames) add(variable string) {
	name := strings.Trim(strings.ToLower(variable), "_")
	if len(name) < 3 || slices.Contains([]string{"arg", "args", "argv", "argument", "arguments", "param", "val", "value", "tmp", "temp", "item", "self", "cls", "raw", "result", "res", "ret", "data", "sys_args", "remaining", "rest", "positional", "pos"}, name) {
		n.weak = cmp.Or(n.weak, name)
		return
	}
	n.variable = cmp.Or(n.variable, name)
}

// wordArgs are the arguments of a call.
type wordArgs struct {
	line       int
	nodes      []*node
	positional []value
	keywords   map[string]value
	opaque     bool // others are spread that are not known
}

// A wordLayout is the order of the words of a script without a parser.
type wordLayout struct {
	dashed bool // a word that begins with a dash would be an option
	filled bool // options follow all positional arguments
}

// numberType returns the type that a function makes of a text.
func numberType(function string) valueType {
	switch function {
	case "int":
		return typeInteger
	case "float":
		return typeNumber
	case "Path", "pathlib.Path":
		return typePath
	}
	return typeString
}

// maxInlined bounds the depth of calls of functions that get arguments.
const maxInlined = 8
