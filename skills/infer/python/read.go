// Package python reads the command line of a Python script from its source,
// without running it: the arguments that are declared with argparse, click or
// typer. It makes a JSON Schema of them, and of arguments that fit the schema the
// exact command line.
//
// It evaluates constants, loops over lists of them, and calls of the script's own
// functions that declare arguments. It leaves out an argument that it cannot know,
// or finds no command line at all, and says why.
//
// Start with [Read].
package python

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Script is the result of reading a Python script.
type Script struct {
	// Doc is the module's docstring without its indentation.
	Doc string
	// CommandLine is nil where the script declares none, or one that cannot be
	// known without running it; then a note says why.
	CommandLine *CommandLine
	// Notes tell of the parts that are not known, in the order of their lines.
	Notes []Note
}

// Read reads the source of the script with this file name, which stands in help
// texts for %(prog)s. It takes time and memory in proportion to the source, and
// never fails: notes tell of faults in the source.
func Read(name string, source []byte) *Script { return NewModule(source).Read(name) }

// Read is like the function [Read]. It is called once: evaluation writes to the
// module's functions.
func (m *Module) Read(name string) *Script {
	s := &Script{}
	told := &notes{}
	body, err := m.parse()
	if err != nil {
		told.add(0, "the source cannot be read: %v", err)
		s.Notes = told.all
		return s
	}
	findRelevant(body, m.functions, m.tokens)
	s.Doc = docstring(body)
	s.CommandLine = commandLine(name, s.Doc, len(m.source), body, told)
	if s.CommandLine != nil {
		s.CommandLine.look(m.tokens)
	}
	s.Notes = told.sorted()
	return s
}

// commandLine follows a module and returns the command line that it reads.
func commandLine(name, doc string, size int, body []*stmt, told *notes) *CommandLine {
	e := newTypeReader(name, size, told)
	e.globals.vars["__name__"] = "__main__"
	e.globals.vars["__file__"] = unknown{}
	e.globals.vars["__doc__"] = none{}
	if len(body) > 0 && docstring(body[:1]) != "" {
		e.globals.vars["__doc__"] = body[0].value.value
	}
	e.run(body, &frame{scope: e.globals})
	if len(e.parses) == 0 && e.stray == nil {
		e.runUncalled(body)
	}
	p := e.chosen()
	if p == nil {
		return nil
	}
	p.description = cmp.Or(p.description, doc)
	return newCommandLine(p, told)
}

// runUncalled follows each function of a script that nobody calls here: an
// installer's entry point may.
func (e *evaluator) runUncalled(body []*stmt) {
	for _, s := range body {
		if s.kind != sDef || s.function.scope == nil || s.function.called || !s.function.relevant {
			continue
		}
		inner := newScope(s.function.scope)
		for _, p := range s.function.params {
			inner.vars[p.name] = unknown{parameter: true}
			if p.fallback != nil {
				inner.vars[p.name] = e.eval(p.fallback, s.function.scope)
			}
		}
		e.run(s.function.block(), &frame{scope: inner})
	}
}

// findRelevant marks the functions that declare arguments, and those that name
// one of these, or a command of click or typer. Only they are followed.
func findRelevant(body []*stmt, functions []*function, source code) {
	wanted := map[string]bool{}
	for _, s := range body {
		if s.kind == sAssign && s.value.kind == nCall && strings.HasSuffix(dotted(s.value.kids[0]), "Typer") {
			wanted[s.targets[0].name] = true
		}
	}
	functions = withCommands(functions, wanted)
	if len(wanted) == 0 && !slices.ContainsFunc(source, func(tok token) bool { return tok.kind == tokName && declares(tok.text) }) {
		return
	}
	defined := source.defined()
	maps.Copy(defined, wanted)
	for range maxCalls {
		found := false
		for i := 0; i < len(functions); i++ {
			if fn := functions[i]; !fn.relevant && fn.mentions(defined).any(wanted) {
				fn.relevant, wanted[fn.name], found = true, true, true
				functions = append(functions, fn.parseNested()...)
			}
		}
		if !found {
			return
		}
	}
}

// defined returns the names of the functions of a source, at any depth.
func (c code) defined() map[string]bool {
	names := map[string]bool{}
	for at, tok := range c {
		if at > 0 && tok.kind == tokName && c[at-1].kind == tokOp && c[at-1].text == "def" {
			names[tok.text] = true
		}
	}
	return names
}

// Mentions are what a function names that may make it relevant.
type mentions struct {
	declares bool     // a function of argparse that declares arguments
	names    []string // functions of the file
}

// mentions returns those of a function, which are searched once. Most scripts have
// several rounds of the search, and thousands of tokens.
func (f *function) mentions(defined map[string]bool) *mentions {
	if f.mentioned != nil {
		return f.mentioned
	}
	f.mentioned = &mentions{}
	for _, tok := range f.tokens {
		switch {
		case tok.kind != tokName:
		case declares(tok.text):
			f.mentioned.declares = true
			return f.mentioned
		case defined[tok.text] && !slices.Contains(f.mentioned.names, tok.text):
			f.mentioned.names = append(f.mentioned.names, tok.text)
		}
	}
	return f.mentioned
}

func (m *mentions) any(wanted map[string]bool) bool {
	return m.declares || slices.ContainsFunc(m.names, func(name string) bool { return wanted[name] })
}

// withCommands adds the names of commands of click and typer to wanted. It returns the
// functions, and those in bodies that may define such commands.
func withCommands(functions []*function, wanted map[string]bool) []*function {
	functions = slices.Clone(functions)
	for i := 0; i < len(functions); i++ {
		fn := functions[i]
		for _, decorator := range fn.decorators {
			if decorator.kind == nCall {
				decorator = decorator.kids[0]
			}
			if isCommand(decorator.name) {
				wanted[fn.name] = true
			}
		}
		if fn.unparsed != nil && slices.ContainsFunc(fn.tokens, func(tok token) bool { return tok.kind == tokName && isCommand(tok.text) }) {
			functions = append(functions, fn.parseNested()...)
		}
	}
	return functions
}

func isCommand(decorator string) bool { return decorator == "command" || decorator == "group" }
