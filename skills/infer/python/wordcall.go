package python

import (
	"slices"
	"strings"
)

// list notes that the script takes all words from the place of a vector on.
func (r *wordRecord) list(v vector, joined bool, line int) value {
	if v.from == 0 || v.flags {
		r.fail(line, "it passes its arguments on")
		return unknown{}
	}
	word := element{v.space, v.from}
	at := r.place(word, line)
	at.list, at.joined, at.data = true, joined, true
	if v.typ != typeString {
		at.typ = v.typ
	}
	return word
}

// convert evaluates a function of one value, which is still the same argument.
func (r *wordRecord) convert(name string, a *wordArgs) (value, bool) {
	if len(a.positional) == 0 || a.opaque {
		return nil, false
	}
	v, ok := a.positional[0].(element)
	if !ok {
		return nil, false
	}
	switch name {
	case "int", "float", "Path", "pathlib.Path", "pathlib.PurePath", "decimal.Decimal":
		typ := numberType(name)
		if len(a.positional) > 1 && typ == typeInteger { // int(x, 16)
			typ = typeString
		}
		r.typed(v, typ)
		if typ == typePath || strings.HasPrefix(name, "pathlib.") {
			r.touches(v, namesFile)
		}
		return v, true
	case "os.path.abspath", "os.path.expanduser", "os.path.realpath", "os.path.normpath", "os.path.expandvars":
		r.touches(v, namesFile)
		return v, true
	case "str":
		return v, true
	case "open", "io.open", "codecs.open":
		r.opened(v, a)
	case "os.path.exists", "os.path.isfile", "os.path.isdir", "os.listdir", "os.walk":
		r.touches(v, readsFile)
	}
	return nil, false
}

// opened notes a file that the script opens, by the mode.
func (r *wordRecord) opened(v value, a *wordArgs) {
	mode := a.keywords["mode"]
	if len(a.positional) > 1 {
		mode = a.positional[1]
	}
	use := readsFile
	if text, _ := mode.(string); strings.ContainsAny(text, "wax+") {
		use = writesFile
	}
	r.touches(v, use)
}

// wordMethod evaluates a method of a word.
func (r *wordRecord) wordMethod(v element, name string, a *wordArgs) value {
	switch name {
	case "strip", "lower", "upper", "rstrip", "lstrip", "expanduser", "resolve", "absolute", "casefold", "title", "capitalize":
		return v
	case "read_text", "read_bytes", "exists", "is_file", "is_dir", "iterdir", "glob", "rglob":
		r.touches(v, readsFile)
	case "write_text", "write_bytes", "mkdir":
		r.touches(v, writesFile)
	}
	r.place(v, a.line).data = true
	return unknown{}
}

// takesList reports whether a function goes through a list of values.
func takesList(name reference) bool {
	return slices.Contains([]reference{"builtins.sum", "builtins.sorted", "builtins.max", "builtins.min", "builtins.enumerate", "builtins.zip", "builtins.reversed", "builtins.any", "builtins.all"}, name)
}

// leaves reports whether a function ends the script.
func leaves(name reference) bool {
	return slices.Contains([]reference{"sys.exit", "builtins.exit", "builtins.quit", "os._exit", "builtins.SystemExit"}, name)
}

// harmless reports whether a function only shows what it is given.
func harmless(name reference) bool {
	last := name.last()
	return name == "builtins.print" || name == "builtins.repr" || name == "pprint.pprint" ||
		slices.Contains([]string{"debug", "info", "warning", "error", "log"}, last) && (strings.HasPrefix(string(name), "logging.") || strings.HasPrefix(string(name), "builtins.logg") || strings.HasPrefix(string(name), "builtins.log."))
}

// parsesCommandLines reports whether a function, or a module that a script imports, may
// read the command line by itself.
func parsesCommandLines(path string) bool {
	module, rest, _ := strings.Cut(path, ".")
	switch module {
	case "argparse", "optparse", "getopt", "click", "typer", "fire", "docopt", "docopt_ng", "absl", "gflags", "tap", "tyro", "configargparse", "plac", "cliff", "cement", "clize", "cyclopts",
		"simple_parsing", "jsonargparse", "hydra", "defopt", "argh", "asyncclick", "rich_click", "cloup", "cleo", "arguably", "datargs", "begin", "baker", "aaargh", "runpy", "fileinput", "unittest", "pytest", "doctest",
		"argcomplete", "tensorflow_app", "invoke", "doit", "django", "manage", "pip", "twisted", "wsgiref_cli", "radicli", "confz", "typed_argparse", "dataclass_click", "mininterface", "duty", "IPython":
		return true
	case "tensorflow", "tf":
		return strings.Contains(rest, "app")
	}
	return false
}
