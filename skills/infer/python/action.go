package python

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// suppress is the value of argparse.SUPPRESS.
const suppress = "==SUPPRESS=="

// A valueType is the type of an argument's value.
type valueType int

const (
	typeString valueType = iota
	typePath
	typeInteger
	typeNumber
	typeBool     // bool("") is False, and of any other text True
	typeJSON     // json.loads
	typeTruth    // true or false, in letters
	typeFunction // any other; its argument is text
)

// An action is one argument of a parser, declared by add_argument.
type action struct {
	line     int
	flags    []string // nil for a positional argument
	dest     string
	kind     string // action=, "boolean" for BooleanOptionalAction, "custom" for a class of the file
	typ      valueType
	given    value  // type=
	nargs    string // "", "?", "*", "+", "...", or a number
	constant value
	fallback value // the default; nil where none was given
	choices  value // nil where there are none
	required bool
	help     string
	metavar  value
	hidden   bool     // help=SUPPRESS
	off      string   // the flag that turns it off
	truths   []string // how true and false are written for a function of the file
	file     fileUse
}

// takesValue reports whether something follows the flag.
func (a *action) takesValue() bool {
	switch a.kind {
	case "store", "append", "extend", "custom":
		return true
	}
	return false
}

func (a *action) positional() bool { return len(a.flags) == 0 }

func isFlag(name string) bool { return strings.HasPrefix(name, "-") }

// negate adds --no-foo to the flags of a BooleanOptionalAction.
func (a *action) negate() {
	if a.kind != "boolean" {
		return
	}
	var flags []string
	for _, flag := range a.flags {
		flags = append(flags, flag)
		if name, ok := strings.CutPrefix(flag, "--"); ok {
			flags = append(flags, "--no-"+name)
			a.off = cmp.Or(a.off, "--no-"+name)
		}
	}
	a.flags = flags
}

// setName takes the flags, or the name of a positional argument.
func (a *action) setName(args *arguments) string {
	dest, given := args.get(-1, "dest")
	if given {
		text, ok := dest.(string)
		if !ok {
			return "has a dest that is computed"
		}
		a.dest = text
	}
	var names []string
	for _, v := range args.positional {
		text, ok := v.(string)
		if !ok || text == "" {
			return "has flags that are computed"
		}
		names = append(names, text)
	}
	switch {
	case len(names) == 0:
	case len(names) == 1 && !isFlag(names[0]):
		if given {
			return "has a dest and a name"
		}
		a.dest = names[0]
	case slices.ContainsFunc(names, func(name string) bool { return !isFlag(name) }):
		return "mixes flags and names"
	default:
		a.flags = names
		if a.dest == "" {
			a.dest = strings.ReplaceAll(strings.TrimLeft(a.longest(), "-"), "-", "_")
		}
	}
	if a.dest == "" {
		return "has no name"
	}
	return ""
}

// longest returns the flag that names the value: the first long one, or the
// first.
func (a *action) longest() string {
	for _, flag := range a.flags {
		if strings.HasPrefix(flag, "--") {
			return flag
		}
	}
	return a.flags[0]
}

// settings takes the action, the type, the number of values and the choices.
func (a *action) settings(args *arguments) string {
	if problem := a.setKind(args.named("action", "store")); problem != "" {
		return problem
	}
	var ok bool
	if a.nargs, ok = nargsOf(args.named("nargs", none{})); !ok {
		return "has nargs that are computed"
	}
	if a.nargs != "" && !a.takesValue() {
		return "has nargs, which its action does not take"
	}
	a.given = args.named("type", none{})
	a.typ = typeOf(a.given)
	a.file = fileUseOf(a.given)
	a.constant = args.named("const", nil)
	if v, given := args.get(-1, "choices"); given && !isNone(v) {
		a.choices = v
	}
	a.required = args.named("required", false) == true
	if a.positional() {
		if _, given := args.get(-1, "required"); given {
			return "is positional and says whether it is required"
		}
		if !a.takesValue() {
			return "is positional and takes no value"
		}
		a.required = a.nargs != "?" && a.nargs != "*" && a.nargs != "..."
	}
	return ""
}

func (a *action) setKind(v value) string {
	switch v := v.(type) {
	case string:
		a.kind = v
	case reference:
		if v != "argparse.BooleanOptionalAction" {
			return "has an action that is not known"
		}
		a.kind = "boolean"
	case *class:
		if v.members["__init__"] != nil || len(v.ancestors) != 1 || v.ancestors[0] != "argparse.Action" {
			return "has an action that is not known"
		}
		a.kind = "custom"
	default:
		return "has an action that is computed"
	}
	switch a.kind {
	case "help", "version":
		a.hidden = true
	case "store", "store_const", "store_true", "store_false", "append", "append_const", "extend", "count", "boolean", "custom":
	default:
		return "has an action that is not known"
	}
	return ""
}

func nargsOf(v value) (string, bool) {
	switch v := v.(type) {
	case none:
		return "", true
	case int64:
		return strconv.FormatInt(v, 10), v > 0 && v <= maxArguments
	case string:
		switch v {
		case "?", "*", "+", "...":
			return v, true
		}
	}
	return "", false
}

func typeOf(v value) valueType {
	switch v {
	case none{}, reference("builtins.str"):
		return typeString
	case reference("builtins.int"):
		return typeInteger
	case reference("builtins.float"):
		return typeNumber
	case reference("builtins.bool"):
		return typeBool
	case reference("json.loads"):
		return typeJSON
	case reference("pathlib.Path"), reference("pathlib.PurePath"):
		return typePath
	}
	return typeFunction
}

func (a *action) describe(args *arguments) {
	a.metavar = args.named("metavar", none{})
	switch help := args.named("help", none{}).(type) {
	case string:
		a.help = help
		a.hidden = a.hidden || help == suppress
	case unknown:
		a.help = help.prefix
	}
	if a.help == suppress {
		a.help = ""
	}
}

// A fileUse is the use of a file that an argument's type implies.
type fileUse int

const (
	noFile fileUse = iota
	namesFile
	readsFile
	writesFile
)

func fileUseOf(v value) fileUse {
	name, _ := v.(reference)
	call, called := v.(*libraryCall)
	if called {
		name = call.name
	}
	switch name {
	case "pathlib.Path", "pathlib.PurePath", "click.Path":
		return namesFile
	case "builtins.open", "click.File", "argparse.FileType":
		if called {
			mode, _ := call.get(0, "mode")
			return writes(mode)
		}
		return readsFile
	}
	return noFile
}

// writes returns the use of a file opened in this mode.
func writes(mode value) fileUse {
	if text, ok := mode.(string); ok && strings.ContainsAny(text, "wax+") {
		return writesFile
	}
	return readsFile
}
