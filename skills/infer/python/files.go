package python

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// Files returns the arguments that name files or folders, by their property: those
// whose type is a path or a file, and those that the script opens or looks up.
func (c *CommandLine) Files() map[string]File { return c.files }

// Fallbacks returns the defaults of arguments that are texts or paths, by property.
func (c *CommandLine) Fallbacks() map[string]string {
	all := map[string]string{}
	c.top.each(func(arg *argument) {
		if arg.kind != "store" || arg.nargs != "" && arg.nargs != "?" {
			return
		}
		switch v := arg.fallback.(type) {
		case string:
			all[arg.property.name] = v
		case unknown:
			if v.path != "" {
				all[arg.property.name] = v.path
			}
		}
	})
	return all
}

func (l *level) each(do func(*argument)) {
	for _, arg := range l.arguments {
		do(arg)
	}
	for _, below := range l.commands {
		below.each(do)
	}
}

var (
	// opened matches a call that takes an argument for a file, with the text after it.
	opened = regexp.MustCompile(`\b(?:open|Path|read_csv|read_excel|read_json|loadtxt|os\.path\.\w+|os\.(?:listdir|walk|scandir|stat|makedirs|mkdir)|glob)\(\s*(\w+(?:\.\w+)?)\s*([,)][^\n]{0,24})`)
	// pathMethod matches a method of a path.
	pathMethod = regexp.MustCompile(`\b(?:Path\(\s*)?(\w+(?:\.\w+)?)\s*\)?\.(exists|is_file|is_dir|read_text|read_bytes|write_text|write_bytes|mkdir|iterdir|rglob|suffix|parent|resolve)\b`)
	// openers and pathMethods are the words of which a match of each has one.
	openers     = []string{"open(", "Path(", "read_csv(", "read_excel(", "read_json(", "loadtxt(", "os.", "glob("}
	pathMethods = []string{".exists", ".is_file", ".is_dir", ".read_text", ".read_bytes", ".write_text", ".write_bytes", ".mkdir", ".iterdir", ".rglob", ".suffix", ".parent", ".resolve"}
	// writeMode matches the mode of a file opened for writing.
	writeMode = regexp.MustCompile(`^,\s*(?:mode\s*=\s*)?["'][rbt]*[wax+]`)
)

// passages yields the matches of a pattern in the lines around those that have one
// of the words. To match the whole source took two thirds of the time of [Read].
func passages(source []byte, pattern *regexp.Regexp, words []string) iter.Seq[[][]byte] {
	const before, after = 1, 2 // lines that a match may reach to
	return func(yield func([][]byte) bool) {
		lines := bytes.SplitAfter(source, []byte("\n"))
		var passage []byte
		last := -1 // line of the passage
		for i, line := range lines {
			has := func(word string) bool { return bytes.Contains(line, []byte(word)) }
			switch {
			case slices.ContainsFunc(words, has):
				if last < i {
					passage = bytes.Join(lines[max(i-before, 0):i], nil)
				}
				last = i + after
			case i > last:
				continue
			}
			if passage = append(passage, line...); i < min(last, len(lines)-1) {
				continue
			}
			for _, match := range pattern.FindAllSubmatch(passage, -1) {
				if !yield(match) {
					return
				}
			}
		}
	}
}

// look finds the uses of arguments as files in the script, by the names that it has
// for them: args.name in argparse, and name in click and typer.
func (c *CommandLine) look(source []byte) {
	used := map[string]File{}
	see := func(name string, written bool) {
		f := used[name]
		// A plain name may be another function's, which says less.
		f.Written, f.Read = f.Written || written, f.Read || !written || c.top.dialect == clickDialect
		used[name] = f
	}
	name := func(seen []byte) string {
		_, member, dotted := strings.Cut(string(seen), ".")
		switch {
		case dotted && c.top.dialect == argparseDialect:
			return member
		case !dotted && c.top.dialect == clickDialect:
			return string(seen)
		}
		return ""
	}
	for part := range passages(source, opened, openers) {
		see(name(part[1]), writeMode.Match(part[2]))
	}
	for part := range passages(source, pathMethod, pathMethods) {
		see(name(part[1]), strings.HasPrefix(string(part[2]), "write") || string(part[2]) == "mkdir")
	}
	c.files = map[string]File{}
	c.top.each(func(arg *argument) {
		f, found := used[arg.dest]
		switch {
		case !arg.takesValue() || arg.typ == typeInteger || arg.typ == typeNumber || arg.typ == typeJSON:
			return
		case arg.file == noFile && !found:
			return
		case arg.file == writesFile:
			f.Written = true
		case arg.file == readsFile:
			f.Read = true
		}
		c.files[arg.property.name] = f
	})
}
