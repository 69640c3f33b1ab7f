package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// mentions reports whether a name occurs in the module.
func (m *Module) mentions(name string) bool {
	return slices.ContainsFunc(m.tokens, func(tok syntax.Token) bool {
		return tok.Kind == syntax.NameToken && tok.Text == name || tok.Kind == syntax.StringToken && len(tok.Text) == len(name)+2 && strings.Contains(tok.Text, name)
	})
}

// library returns why the module may leave its command line to others: a library that
// reads it, or code that is not here.
func (m *Module) library() *note {
	for at, tok := range m.tokens {
		before, next := m.tokens.text(at-1), m.tokens.text(at+1)
		switch {
		case tok.Kind == syntax.NameToken && tok.Text == "orig_argv", tok.Kind == syntax.NameToken && tok.Text == "exec" && next == "(" && before != ".", tok.Text == "execfile" && next == "(":
			return noteOn(tok.Line, tok.Text+" may read the arguments")
		}
	}
	imported := map[string]string{}
	var why *note
	each(m.body, func(s *syntax.Stmt) {
		for _, as := range s.Imports {
			module, _, _ := strings.Cut(strings.TrimLeft(as.Path, "."), ".")
			imported[as.Name] = as.Path
			if module != "fileinput" && parsesCommandLines(as.Path) && !runsNothing(module, m) && why == nil {
				why = noteOn(s.Line, "what "+module+" reads of the arguments is not known")
			}
			if module == "fileinput" && why == nil {
				why = noteOn(s.Line, "fileinput reads the files that are named")
			}
		}
	})
	if why != nil {
		return why
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
func (m *Module) foreignMain(imported map[string]string) *note {
	for at, tok := range m.tokens {
		if tok.Kind != syntax.NameToken || m.tokens.text(at+1) != "(" {
			continue
		}
		path, own := imported[tok.Text]
		if m.tokens.text(at-1) == "." {
			path, own = imported[m.tokens.text(at-2)]
		}
		if own && startsProgram(tok.Text) && !isStandard(path) {
			return noteOn(tok.Line, "the function "+tok.Text+" of another file may read the arguments")
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

// ReadsInput reports whether the module reads standard input.
func (m *Module) ReadsInput() bool {
	for at, tok := range m.tokens {
		next, before := m.tokens.text(at+1), m.tokens.text(at-1)
		switch {
		case tok.Kind == syntax.NameToken && tok.Text == "stdin":
			method := m.tokens.text(at + 2)
			read := next != "=" && (next != "." || !slices.Contains([]string{"isatty", "close", "reconfigure", "write", "flush"}, method))
			if read && (before == "." && m.tokens.text(at-2) == "sys" || before == "import" || before == ",") {
				return true
			}
		case tok.Kind == syntax.NameToken && (tok.Text == "input" || tok.Text == "raw_input") && next == "(" && before != "." && before != "def":
			return true
		case tok.Kind == syntax.StringToken && strings.Contains(tok.Text, "/dev/stdin"):
			return true
		case tok.Kind == syntax.NameToken && tok.Text == "open" && next == "(" && m.tokens.text(at+2) == "0":
			return true
		}
	}
	return false
}

// usage returns the texts of the module that may have a usage: those that are printed
// together with the word, the docstring, and the comment at the top.
func (m *Module) usage() []string {
	texts := m.printed()
	if doc := syntax.Docstring(m.body); doc != "" {
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

// printed returns texts with the word "usage", each with those in the lines below it.
func (m *Module) printed() []string {
	var texts []string
	last := -10
	for at := 0; at < len(m.tokens); at++ {
		line := m.tokens[at].Line
		text, after := m.textAt(at)
		at = after
		starts := strings.Contains(strings.ToLower(text), "usage:")
		switch {
		case starts && line > last:
			texts = append(texts, text+"\n")
		case text != "" && len(texts) > 0 && line <= last+2:
			texts[len(texts)-1] += text + "\n"
		default:
			continue
		}
		last = line + strings.Count(text, "\n")
	}
	return texts
}

// textAt returns the text of a string that begins at a token, "" for another, and its
// last token. The fields of an f-string are ellipses.
func (m *Module) textAt(at int) (text string, last int) {
	switch m.tokens[at].Kind {
	case syntax.StringToken:
		text, _ = syntax.Literal(&m.tokens[at]).Value.(string)
	case syntax.FormatToken:
		for at++; at < len(m.tokens)-1 && m.tokens[at].Kind != syntax.QuotesToken; at++ {
			if m.tokens[at].Kind == syntax.TextToken {
				text += strings.ReplaceAll(m.tokens[at].Text, `\n`, "\n")
			} else if m.tokens[at].Text == "{" {
				text += "…"
			}
		}
	}
	return text, at
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
