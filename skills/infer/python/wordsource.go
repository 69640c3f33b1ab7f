package python

import (
	"slices"
	"strings"
)

// mentions reports whether a name occurs in the module.
func (m *Module) mentions(name string) bool {
	return slices.ContainsFunc(m.tokens, func(tok token) bool {
		return tok.kind == tokName && tok.text == name || tok.kind == tokString && len(tok.text) == len(name)+2 && strings.Contains(tok.text, name)
	})
}

// library returns why the module may leave its command line to others: a library that
// reads it, or code that is not here.
func (m *Module) library() *Note {
	for at, tok := range m.tokens {
		before, next := m.tokens.text(at-1), m.tokens.text(at+1)
		switch {
		case tok.kind == tokName && (tok.text == "import" || tok.text == "from"):
		case tok.kind == tokName && tok.text == "orig_argv", tok.kind == tokName && tok.text == "exec" && next == "(" && before != ".", tok.text == "execfile" && next == "(":
			return &Note{tok.line, tok.text + " may read the arguments"}
		}
	}
	imported := map[string]string{}
	var note *Note
	each(m.body, func(s *stmt) {
		for _, as := range s.imports {
			module, _, _ := strings.Cut(strings.TrimLeft(as.path, "."), ".")
			imported[as.name] = as.path
			if module != "fileinput" && parsesCommandLines(as.path) && !runsNothing(module, m) && note == nil {
				note = &Note{s.line, "what " + module + " reads of the arguments is not known"}
			}
			if module == "fileinput" && note == nil {
				note = &Note{s.line, "fileinput reads the files that are named"}
			}
		}
	})
	if note != nil {
		return note
	}
	return m.foreignMain(imported)
}

// runsNothing reports whether a library for tests, or a parser, is imported and not run.
func runsNothing(module string, m *Module) bool {
	switch module {
	case "unittest", "doctest", "pytest":
		return !m.mentions("main") || !slices.ContainsFunc(m.body, tested)
	case "argparse":
		return !m.mentions("ArgumentParser")
	}
	return false
}

// foreignMain returns a note where the module calls a function of another file by
// which programs start.
func (m *Module) foreignMain(imported map[string]string) *Note {
	for at, tok := range m.tokens {
		if tok.kind != tokName || m.tokens.text(at+1) != "(" {
			continue
		}
		path, own := imported[tok.text]
		if m.tokens.text(at-1) == "." {
			path, own = imported[m.tokens.text(at-2)]
		}
		if own && startsProgram(tok.text) && !isStandard(path) {
			return &Note{tok.line, "the function " + tok.text + " of another file may read the arguments"}
		}
	}
	return nil
}

// startsProgram reports whether programs are started with functions of this name.
func startsProgram(name string) bool {
	if strings.HasSuffix(name, "Error") {
		return false
	}
	name = strings.ReplaceAll(strings.ToLower(name), "target", "")
	return name == "main" || name == "cli" || name == "entrypoint" || name == "entry_point" || name == "run_cli" || name == "execute_from_command_line" ||
		strings.Contains(name, "arg") && (strings.Contains(name, "parse") || strings.Contains(name, "get")) || strings.HasSuffix(name, "_main") || strings.HasPrefix(name, "main_") || strings.Contains(name, "cmdline") || strings.Contains(name, "commandline") || strings.Contains(name, "command_line") || strings.Contains(name, "parse_opt") || strings.Contains(name, "parseopt") || name == "parse_cli" || name == "parse_options" || name == "parse_command_line"
}

// isStandard reports whether a module of Python's own library is meant, of which no
// function named main reads the arguments by itself here.
func isStandard(path string) bool {
	module, _, _ := strings.Cut(path, ".")
	return slices.Contains([]string{"asyncio", "threading", "inspect", "typing", "functools", "json", "os", "re", "shlex", "subprocess"}, module)
}

// each visits statements and those in their blocks, without the bodies of functions
// that were not parsed.
func each(body []*stmt, visit func(*stmt)) {
	for _, s := range body {
		visit(s)
		for _, c := range s.clauses {
			each(c.body, visit)
		}
		if s.function != nil {
			each(s.function.block(), visit)
		}
		if s.class != nil {
			each(s.class.body, visit)
		}
	}
}

// readsInput reports whether the module reads standard input.
func (m *Module) readsInput() bool {
	for at, tok := range m.tokens {
		next, before := m.tokens.text(at+1), m.tokens.text(at-1)
		switch {
		case tok.kind == tokName && tok.text == "stdin":
			if next != "=" && next != "." || next == "." && m.tokens.text(at+2) != "isatty" && m.tokens.text(at+2) != "close" && m.tokens.text(at+2) != "reconfigure" && m.tokens.text(at+2) != "write" && m.tokens.text(at+2) != "flush" {
				if before == "." && m.tokens.text(at-2) == "sys" || before == "import" || before == "," {
					return true
				}
			}
		case tok.kind == tokName && (tok.text == "input" || tok.text == "raw_input") && next == "(" && before != "." && before != "def":
			return true
		case tok.kind == tokString && strings.Contains(tok.text, "/dev/stdin"):
			return true
		case tok.kind == tokName && tok.text == "open" && next == "(" && m.tokens.text(at+2) == "0":
			return true
		}
	}
	return false
}

// usage returns the texts of the module that may have a usage: those that are printed
// together with the word, the docstring, and the comment at the top.
func (m *Module) usage() []string {
	texts := m.printed()
	if doc := docstring(m.body); doc != "" {
		texts = append(texts, doc)
	}
	var b strings.Builder
	for line := range strings.Lines(string(m.source[:min(len(m.source), 8<<10)])) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		b.WriteString(strings.TrimPrefix(strings.TrimLeft(line, "#"), " "))
	}
	return append(texts, b.String())
}

// printed returns texts with the word "usage" and those in the lines below them.
func (m *Module) printed() []string {
	var texts []string
	var b strings.Builder
	last := -10
	flush := func() {
		if b.Len() > 0 {
			texts = append(texts, b.String())
		}
		b.Reset()
	}
	for at := 0; at < len(m.tokens); at++ {
		tok := &m.tokens[at]
		text, line := "", tok.line
		switch tok.kind {
		case tokString:
			text, _ = literal(tok).value.(string)
		case tokFormat:
			for at++; at < len(m.tokens) && m.tokens[at].kind != tokQuotes && m.tokens[at].kind != tokEnd; at++ {
				if m.tokens[at].kind == tokText {
					text += strings.ReplaceAll(m.tokens[at].text, `\n`, "\n")
				} else if m.tokens[at].text == "{" {
					text += "…"
				}
			}
		default:
			continue
		}
		starts := strings.Contains(strings.ToLower(text), "usage:")
		if b.Len() > 0 && line > last+2 || starts && line > last {
			flush()
		}
		if starts || b.Len() > 0 {
			b.WriteString(text + "\n")
			last = line + strings.Count(text, "\n")
		}
	}
	flush()
	return texts
}

// comment returns the comment at the end of a line.
func (m *Module) comment(line int) string {
	if m.lines == nil {
		m.lines = strings.Split(string(m.source), "\n")
	}
	if line < 1 || line > len(m.lines) {
		return ""
	}
	code, comment, ok := strings.Cut(m.lines[line-1], " # ")
	if !ok || strings.Count(code, `"`)%2 == 1 || strings.Count(code, "'")%2 == 1 || strings.HasPrefix(comment, "type:") || strings.HasPrefix(comment, "noqa") || strings.HasPrefix(comment, "pylint") || len(comment) > 200 {
		return ""
	}
	return strings.TrimSpace(comment)
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
