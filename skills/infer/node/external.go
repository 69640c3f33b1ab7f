package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// externals are the modules and functions outside of the source.
type externals struct{ *functions }

// require evaluates require("x") and import("x").
func (e *externals) require(n *syntax.Node, s *js.Scope) js.Value {
	if len(n.Kids) < 2 {
		return js.Unknown{}
	}
	name, ok := e.eval(n.Kids[1], s).(string)
	if !ok {
		return js.Unknown{}
	}
	return e.module(name, n.Line)
}

// module returns a module that the program uses.
func (e *externals) module(name string, line int32) js.Value {
	name = strings.TrimPrefix(name, "node:")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "npm:"), "jsr:")
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "~") {
		if e.local == "" && !strings.HasSuffix(name, ".json") {
			e.local, e.localLine = name, line
		}
		return js.Reference("local")
	}
	bare := name
	if at := strings.LastIndexByte(bare, '@'); at > 0 {
		bare = bare[:at]
	}
	switch bare {
	case "@commander-js/extra-typings":
		bare = "commander"
	case "yargs", "yargs/yargs", "yargs-parser", "cac", "meow", "minimist", "mri", "getopts", "arg", "command-line-args", "@std/cli", "@std/cli/parse-args", "@std/flags",
		"caporal", "@caporal/core", "vorpal", "@oclif/core", "@oclif/command", "clipanion", "cmd-ts", "citty", "gluegun", "optimist", "nopt", "argparse", "ts-command-line-args",
		"dashdash", "docopt", "args", "commist", "@effect/cli", "trpc-cli", "@drizzle-team/brocli", "cleye", "type-flag", "optionator", "sade", "@cliffy/command", "posix-getopt", "node-getopt", "stdio", "flaggs", "@molt/command", "zx":
		e.Doubt(line, "the library %s is not understood", bare)
	}
	if strings.Contains(name, "deno.land/std") && (strings.Contains(name, "/flags/") || strings.Contains(name, "/cli/")) {
		e.Doubt(line, "the library %s is not understood", bare)
	}
	return js.Reference(strings.ReplaceAll(bare, ".", "_"))
}

// imports declares the names of an import statement.
func (e *externals) imports(n *syntax.Node, s *js.Scope) {
	module := e.module(n.Name, n.Line)
	for _, b := range n.Imports {
		if b.Local == "" {
			continue
		}
		if b.Name == "*" || b.Name == "default" {
			s.Vars[b.Local] = module
			continue
		}
		s.Vars[b.Local] = e.member(n.Line, module, b.Name, true)
	}
}

// library calls a function outside of the source.
func (e *externals) library(r js.Reference, args []js.Value, open bool, line int32) js.Value {
	switch {
	case r == "process.exit" || r == "Deno.exit" || r == "process.abort" || r == "process.reallyExit":
		return js.Never{}
	case strings.HasPrefix(string(r), "process.script."):
		return true
	case r.Module() == "console":
		for _, arg := range args {
			if g, ok := arg.(js.Given); ok {
				e.use(g)
			}
		}
		return js.Unknown{}
	case r == "parseInt" || r == "Number.parseInt":
		return e.converted(args, "integer")
	case r == "parseFloat" || r == "Number.parseFloat" || r == "Number":
		return e.converted(args, "number")
	case r == "String":
		return js.First(args)
	case r == "Boolean":
		e.tested(js.First(args))
		return js.Unknown{}
	case r == "isNaN" || r == "Number.isNaN" || r == "Number.isInteger" || r == "Number.isFinite" || r == "isFinite" || r == "Array.isArray":
		return js.Unknown{}
	case r == "Object.freeze" || r == "Object.seal":
		return js.First(args)
	case r == "Object.entries" || r == "Object.keys" || r == "Object.values":
		return e.properties(string(r), js.First(args), line)
	case r == "Object.fromEntries":
		return js.Unknown{}
	case r == "Array.from":
		if len(args) == 1 {
			return args[0]
		}
	case r == "structuredClone":
		return js.First(args)
	}
	if v, ok := e.libraries.Call(r, args, line); ok {
		return v
	}
	e.unknownCall(string(r), args, line)
	for _, arg := range args {
		switch v := arg.(type) {
		case js.Given:
			return js.Given{Argument: v.Argument, Derived: true}
		case js.Reference:
			if v == "import.meta.url" || v == "__filename" || strings.HasPrefix(string(v), "process.script") {
				return v
			}
		}
	}
	return js.Unknown{}
}

// converted returns an argument that becomes a number.
func (e *externals) converted(args []js.Value, typ string) js.Value {
	if g, ok := js.First(args).(js.Given); ok {
		if !g.Derived || g.Item == nil {
			g.SetType(typ)
		}
		return js.Given{Argument: g.Argument}
	}
	if f, ok := js.First(args).(float64); ok {
		return f
	}
	return js.Unknown{}
}

// properties returns the entries, keys or values of an object.
func (e *externals) properties(function string, v js.Value, line int32) js.Value {
	o, ok := v.(*js.Object)
	if !ok {
		e.escapes(function, v, line)
		return js.Unknown{}
	}
	list := &js.Array{Open: o.Open}
	for _, key := range o.Keys {
		switch function {
		case "Object.keys":
			list.Items = append(list.Items, key)
		case "Object.values":
			list.Items = append(list.Items, o.Values[key])
		default:
			list.Items = append(list.Items, &js.Array{Items: []js.Value{key, o.Values[key]}})
		}
	}
	return list
}
