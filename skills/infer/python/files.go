package python

import (
	"regexp"
	"strings"
	"unicode/utf8"
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

// writeMode matches the mode of a file opened for writing.
var writeMode = regexp.MustCompile(`^,\s*(?:mode\s*=\s*)?["'][rbt]*[wax+]`)

// A usePattern matches the use of a variable, which may have a dot, at the start of
// s, whose first word has this length. It returns the variable, a text on its use, and
// the length of the match, 0 without one.
type usePattern func(s string, word int) (variable, text string, n int)

// eachMatch calls found for the matches of a pattern in a source, which do not
// overlap. The patterns are functions: as regular expressions they took a quarter
// of the time of [Read].
func eachMatch(source string, match usePattern, found func(variable, text string)) {
	for at := 0; at < len(source); {
		n := wordLength(source[at:])
		if n > 0 && (at == 0 || wordLength(source[at-1:at]) == 0) { // not in the middle of a word, where a match may end
			if variable, text, length := match(source[at:], n); length > 0 {
				found(variable, text)
				n = length
			}
		}
		at += max(n, 1)
	}
}

// matchOpen matches a call that takes a variable for a file, with the text after it:
// open(args.out, "w").
func matchOpen(s string, word int) (variable, after string, n int) {
	n = openerLength(s, word)
	if n == 0 || !strings.HasPrefix(s[n:], "(") {
		return "", "", 0
	}
	n = skipSpace(s, n+1)
	length := variableLength(s[n:])
	variable = s[n : n+length]
	n = skipSpace(s, n+length)
	if length == 0 || n == len(s) || s[n] != ',' && s[n] != ')' {
		return "", "", 0
	}
	end := n + 1
	for range 24 { // characters that have the mode
		r, size := utf8.DecodeRuneInString(s[end:])
		if size == 0 || r == '\n' {
			break
		}
		end += size
	}
	return variable, s[n:end], end
}

// openerLength returns the length of the name of a function that opens or looks up
// files, 0 where s starts with none. The first word of s has n bytes.
func openerLength(s string, n int) int {
	switch s[:n] {
	case "open", "Path", "read_csv", "read_excel", "read_json", "loadtxt", "glob":
		return n
	case "os":
	default:
		return 0
	}
	member, ok := strings.CutPrefix(s[n:], ".")
	if !ok {
		return 0
	}
	m := wordLength(member)
	switch n += 1 + m; member[:m] {
	case "listdir", "walk", "scandir", "stat", "makedirs", "mkdir":
		return n
	case "path":
		if m = wordLength(strings.TrimPrefix(member[m:], ".")); m > 0 && s[n] == '.' {
			return n + 1 + m
		}
	}
	return 0
}

// matchPathMethod matches a method of a path: Path(args.out).exists.
func matchPathMethod(s string, word int) (variable, method string, n int) {
	if strings.HasPrefix(s, "Path(") {
		start := skipSpace(s, len("Path("))
		if variable, method, n = matchMethod(s[start:], wordLength(s[start:])); n > 0 {
			return variable, method, start + n
		}
	}
	return matchMethod(s, word)
}

func matchMethod(s string, word int) (variable, method string, n int) {
	if word == 0 || word == len(s) || strings.IndexByte(".) \t\n\f\r", s[word]) < 0 {
		return "", "", 0 // as most words
	}
	for _, length := range [...]int{variableLength(s), word} {
		n = skipSpace(s, length)
		if strings.HasPrefix(s[n:], ")") {
			n++
		}
		rest, ok := strings.CutPrefix(s[n:], ".")
		if method = rest[:wordLength(rest)]; ok && isPathMethod(method) {
			return s[:length], method, n + 1 + len(method)
		}
	}
	return "", "", 0
}

func isPathMethod(name string) bool {
	switch name {
	case "exists", "is_file", "is_dir", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "iterdir", "rglob", "suffix", "parent", "resolve":
		return true
	}
	return false
}

// variableLength returns the length of a name, or of one with a member, that s
// starts with.
func variableLength(s string) int {
	n := wordLength(s)
	if n > 0 && strings.HasPrefix(s[n:], ".") {
		if member := wordLength(s[n+1:]); member > 0 {
			return n + 1 + member
		}
	}
	return n
}

// wordLength returns the number of ASCII letters, digits and underscores that s
// starts with.
func wordLength(s string) int {
	for i := range len(s) {
		if c := s[i]; c != '_' && !isDigit(c) && (c|0x20 < 'a' || 'z' < c|0x20) {
			return i
		}
	}
	return len(s)
}

// skipSpace returns the index of the first byte from at on that is not white space.
func skipSpace(s string, at int) int {
	for at < len(s) && strings.IndexByte(" \t\n\f\r", s[at]) >= 0 {
		at++
	}
	return at
}

// look finds the uses of arguments as files in the script, by the names that it has
// for them: args.name in argparse, and name in click and typer.
func (c *CommandLine) look(source string) {
	used := map[string]File{}
	see := func(name string, written bool) {
		f := used[name]
		// A plain name may be another function's, which says less.
		f.Written, f.Read = f.Written || written, f.Read || !written || c.top.dialect == clickDialect
		used[name] = f
	}
	name := func(seen string) string {
		_, member, dotted := strings.Cut(seen, ".")
		switch {
		case dotted && c.top.dialect == argparseDialect:
			return member
		case !dotted && c.top.dialect == clickDialect:
			return seen
		}
		return ""
	}
	eachMatch(source, matchOpen, func(variable, rest string) { see(name(variable), writeMode.MatchString(rest)) })
	eachMatch(source, matchPathMethod, func(variable, method string) {
		see(name(variable), strings.HasPrefix(method, "write") || method == "mkdir")
	})
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
