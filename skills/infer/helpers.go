package infer

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
)

// runCommand matches a file that a command passes to an interpreter, with the
// options between the two.
var runCommand = regexp.MustCompile(`\b(?:node|bun(?:[ \t]+run)?|deno[ \t]+run|python3?(?:\.\d+)?|uv[ \t]+run|bash|sh)((?:[ \t]+-\S*(?:[ \t]+[^-\s./"'\x60$\\]+)?)*)[ \t]+["']?([^\s"'\x60;|&)]*\.(?:py|m?js|cjs|sh|bash))\b`)

// scriptExtensions are the ends of names of which a match of runCommand has one. Most
// lines have none, and are not matched.
var scriptExtensions = []string{".py", ".js", ".mjs", ".cjs", ".sh", ".bash"}

// findRuns returns the files that the instructions run, one a line.
func findRuns(instructions string) string {
	var b strings.Builder
	for line := range strings.Lines(instructions) {
		if !containsAny(line, scriptExtensions) {
			continue
		}
		for _, m := range runCommand.FindAllStringSubmatch(line, -1) {
			if !slices.ContainsFunc(strings.Fields(m[1]), isProgram) {
				b.WriteString(m[2] + "\n")
			}
		}
	}
	return b.String()
}

// isProgram reports whether an option names the program, so that no file does.
func isProgram(option string) bool { return option == "-m" || option == "-c" || option == "-e" }

// The forms in which a script uses another one.
var (
	sourced   = regexp.MustCompile(`(?m)(?:^|[;&|{]|\bthen|\bdo)[ \t]*(?:source|\.)[ \t]+(.*)`)
	shellName = regexp.MustCompile(`[\w.-]+\.(?:sh|bash)\b`)
	imported  = regexp.MustCompile(`(?:\brequire\(|\bfrom|\bimport\(?)\s*["'](\.{1,2}/[^"'\n]+)["']`)
)

// use remembers the files that a script sources or imports. What a shell script
// sources is known by its name alone: the folder is computed. Few lines have the
// words, and only those are matched.
func (f *finder) use(name string, kind Kind, text []byte) {
	has := func(line []byte, words string) bool { return bytes.Contains(line, []byte(words)) }
	for line := range bytes.Lines(text) {
		switch {
		case kind == Bash && (has(line, ".sh") || has(line, ".bash")) && (has(line, "source") || has(line, ". ")):
			if m := sourced.FindSubmatch(line); m != nil {
				for _, name := range shellName.FindAll(m[1], -1) {
					f.used[string(name)] = true
				}
			}
		case kind == Node && has(line, "./"):
			for _, m := range imported.FindAllSubmatch(line, -1) {
				target := path.Join(path.Dir(name), string(m[1]))
				f.used[target] = true
				f.used[strings.TrimSuffix(target, path.Ext(target))] = true
			}
		}
	}
}

// isHelper reports whether other scripts use the script, and nothing says that it
// is run by itself; or whether it was built into another one.
func (f *finder) isHelper(s Script) bool {
	if f.isSource(s) {
		return true
	}
	if f.alone[s.Path] {
		return false
	}
	switch s.Kind {
	case Bash:
		return f.used[path.Base(s.Path)]
	case Node:
		return f.used[s.Path] || f.used[strings.TrimSuffix(s.Path, path.Ext(s.Path))]
	}
	return false
}

// isSource reports whether a TypeScript file has its JavaScript beside it, or in
// a folder for builds.
func (f *finder) isSource(s Script) bool {
	ext := path.Ext(s.Path)
	if ext != ".ts" && ext != ".mts" && ext != ".cts" {
		return false
	}
	stem := strings.TrimSuffix(s.Path, ext)
	dir, base := path.Split(stem)
	stems := []string{stem}
	for _, built := range []string{"dist", "build", "lib", "out"} {
		stems = append(stems, dir+built+"/"+base, strings.Replace("/"+stem, "/src/", "/"+built+"/", 1)[1:])
	}
	return slices.ContainsFunc(f.scripts, func(other Script) bool {
		ext := path.Ext(other.Path)
		return (ext == ".js" || ext == ".mjs" || ext == ".cjs") && slices.Contains(stems, strings.TrimSuffix(other.Path, ext))
	})
}

// installs reports whether a script is a package's own setup.py.
func installs(name string, text []byte) bool {
	return path.Base(name) == "setup.py" && (bytes.Contains(text, []byte("setuptools")) || bytes.Contains(text, []byte("distutils")))
}

// tests reports whether a script is one of tests. One that also does something
// else, as with --self-test, or whose function runs those of a project, is not.
func tests(kind Kind, text []byte, module *python.Module) bool {
	runs := func(call string) bool { return bytes.Contains(text, []byte(call)) }
	return kind == Python && (runs("unittest.main(") || runs("pytest.main(") || runs("doctest.testmod(")) && !module.Runs()
}

// idleGuardEnds matches the last line of a main guard that may do nothing.
var idleGuardEnds = regexp.MustCompile(`^\s+(?:pass\b|\.\.\.|raise\b|print\(|(?:sys\.)?exit\((?:["'\d)]|f["'])|exit\b|\)|["'])|^\)|^fi\b`)

// defines reports whether a script does nothing by itself. Of most that is plain
// from a line; to parse them all would take five times as long as all else here.
func defines(kind Kind, text string, guarded bool, module *python.Module) bool {
	if kind != Python && kind != Bash || len(text) >= maxHead {
		return false
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := len(lines) - 1
	for last > 0 && (strings.TrimSpace(lines[last]) == "" || strings.HasPrefix(lines[last], "#")) {
		last--
	}
	switch {
	case guarded && !idleGuardEnds.MatchString(lines[last]), kind == Python && !guarded && pythonActs(lines), kind == Bash && !guarded && shellActs(lines):
		return false
	case kind == Python:
		return !module.Runs()
	}
	return !shell.Runs([]byte(text))
}

// pythonActs reports whether a line at the top of a module plainly does something.
func pythonActs(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "class ") }) ||
		slices.ContainsFunc(lines, func(line string) bool {
			end := strings.IndexFunc(line, func(r rune) bool { return !inPath(r) || r == '.' || r == '/' })
			if end < 1 {
				return false
			}
			line = strings.TrimRight(line, " \t\r")
			switch word := line[:end]; word {
			case "for", "while", "with":
				return strings.HasSuffix(line, ":")
			case "print", "exit", "quit", "load_dotenv":
				return false
			}
			return line[min(end, len(line)-1)] == '(' && strings.HasSuffix(line, ")")
		})
}

// heredoc matches the beginning of text in a shell script.
var heredoc = regexp.MustCompile(`<<-?\s*['"\\]?(\w+)`)

// shellActs reports whether a line outside of functions is plainly a command that
// does something.
func shellActs(lines []string) bool {
	until := ""
	for _, line := range lines {
		if until != "" {
			if strings.TrimSpace(line) == until {
				until = ""
			}
			continue
		}
		if strings.Contains(line, "<<") {
			if m := heredoc.FindStringSubmatch(line); m != nil {
				until = m[1]
			}
		}
		word, rest, _ := strings.Cut(strings.TrimRight(line, " \t\r"), " ")
		switch word {
		case "function", "if", "then", "else", "elif", "fi", "set", "shopt", "source", "export", "readonly", "declare", "local", "typeset", "return", "exit", "echo", "printf",
			"trap", "true", "umask", "unset", "alias", "case", "esac", "done", "do", "command", "type", "hash", "test", "builtin":
			continue
		}
		plain := strings.IndexFunc(word, func(r rune) bool { return !inPath(r) }) < 0
		if word != "" && plain && word != "." && !strings.HasPrefix(rest, "(") {
			return true
		}
	}
	return false
}
