package python

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
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
	typeFunction // any other; its argument is text
)

// An action is one argument of a parser, declared by add_argument.
type action struct {
	line     int
	flags    []string // nil for a positional argument
	dest     string
	kind     string // action=, "boolean" for BooleanOptionalAction, "custom" for a class of the file
	typ      valueType
	nargs    string // "", "?", "*", "+", "...", or a number
	constant value
	fallback value // the default; nil where none was given
	choices  value // nil where there are none
	required bool
	help     string
	hidden   bool   // help=SUPPRESS
	off      string // the flag that turns it off
	file     fileUse
}

// takesValues are the actions of argparse, and whether something follows their flags.
var takesValues = map[string]bool{
	"store": true, "append": true, "extend": true, "custom": true,
	"store_const": false, "store_true": false, "store_false": false, "append_const": false, "count": false, "boolean": false, "help": false, "version": false,
}

// takesValue reports whether something follows the flag.
func (a *action) takesValue() bool { return takesValues[a.kind] }

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
	var ok bool
	if a.dest, ok = dest.(string); given && !ok {
		return "has a dest that is computed"
	}
	var names []string
	for _, v := range args.positional {
		text, _ := v.(string)
		if text == "" {
			return "has flags that are computed"
		}
		names = append(names, text)
	}
	switch {
	case len(names) == 1 && !isFlag(names[0]):
		a.dest = names[0]
	case len(names) > 0:
		a.flags = names
		a.dest = cmp.Or(a.dest, strings.ReplaceAll(strings.TrimLeft(a.longest(), "-"), "-", "_"))
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
	if a.nargs, ok = nargsOf(args.named("nargs", syntax.None{})); !ok {
		return "has nargs that are computed"
	}
	switch {
	case a.kind == "append" && a.nargs != "":
		return "has lists of lists"
	case a.kind == "extend" && a.nargs == "":
		return "has the characters of its values"
	case !a.positional() && a.nargs == "...":
		return "takes all words that follow"
	}
	a.setType(args.named("type", syntax.None{}))
	a.constant = args.named("const", nil)
	if v := args.named("choices", syntax.None{}); !isNone(v) {
		a.choices = v
	}
	required, _ := args.get(-1, "required")
	a.required = required == true
	if a.positional() {
		a.required = a.nargs != "?" && a.nargs != "*" && a.nargs != "..."
	}
	return ""
}

func (a *action) setKind(v value) string {
	a.kind = ""
	switch v := v.(type) {
	case string:
		a.kind = v
	case reference:
		if v == "argparse.BooleanOptionalAction" {
			a.kind = "boolean"
		}
	case *class:
		if v.members["__init__"] == nil && len(v.ancestors) == 1 && v.ancestors[0] == "argparse.Action" {
			a.kind = "custom"
		}
	default:
		return "has an action that is computed"
	}
	if _, known := takesValues[a.kind]; !known {
		return "has an action that is not known"
	}
	a.hidden = a.kind == "help" || a.kind == "version"
	return ""
}

func nargsOf(v value) (string, bool) {
	switch v := v.(type) {
	case syntax.None:
		return "", true
	case int64:
		return strconv.FormatInt(v, 10), v > 0 && v <= maxArguments
	case string:
		return v, v == "?" || v == "*" || v == "+" || v == "..."
	}
	return "", false
}

// A fileUse is the use of a file that an argument's type implies.
type fileUse int

const (
	noFile fileUse = iota
	namesFile
	readsFile // or writes, by its mode
	writesFile
)

// valueTypes are the types of argparse that are known.
var valueTypes = map[reference]struct {
	typ  valueType
	file fileUse
}{
	"builtins.str":   {typ: typeString},
	"builtins.int":   {typ: typeInteger},
	"builtins.float": {typ: typeNumber},
	"builtins.bool":  {typ: typeBool},
	"pathlib.Path":   {typePath, namesFile}, "pathlib.PurePath": {typePath, namesFile},
	"builtins.open": {typeFunction, readsFile}, "argparse.FileType": {typeFunction, readsFile},
}

// setType takes the type of a value, which makes it of a text.
func (a *action) setType(v value) {
	name, _ := v.(reference)
	call, called := v.(*libraryCall)
	if called {
		name = call.name
	}
	known, ok := valueTypes[name]
	a.typ, a.file = known.typ, known.file
	if !ok && !isNone(v) {
		a.typ = typeFunction
	}
	if called && a.file == readsFile {
		mode, _ := call.get(0, "mode")
		if text, _ := mode.(string); strings.ContainsAny(text, "wax+") {
			a.file = writesFile
		}
	}
}

func (a *action) describe(args *arguments) {
	switch help := args.named("help", syntax.None{}).(type) {
	case string:
		a.help = help
	case unknown:
		a.help = help.prefix
	}
	if a.help == suppress {
		a.help, a.hidden = "", true
	}
}

// A span is the number of values that an argument takes.
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

// help returns the help text, "" where it is not known or suppressed.
func (a *arguments) help() string {
	text, _ := a.named("help", syntax.None{}).(string)
	if text == suppress {
		return ""
	}
	return text
}
