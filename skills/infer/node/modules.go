package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// lookup returns the value of a name.
func (e *evaluator) lookup(name string, s *js.Scope) js.Value {
	switch name {
	case "undefined":
		return js.Undefined{}
	case "null":
		return js.Null{}
	case "true", "false":
		return name == "true"
	case "NaN", "Infinity":
		return js.Unknown{}
	}
	if found := s.Find(name); found != nil {
		return found.Vars[name]
	}
	return resolve(e.found, js.Reference(name))
}

// resolve returns the value of a name outside of the source.
func resolve(found *js.Record, name js.Reference) js.Value {
	switch name {
	case "process.argv", "Bun.argv":
		return js.Words{List: found.Argv, From: -2}
	case "Deno.args":
		return js.Words{List: found.Argv}
	case "globalThis", "global":
		return js.Reference("")
	case "process.env", "zx.argv":
		return js.Unknown{}
	case "module.parent", "require.parent":
		return js.Null{}
	}
	return name
}

// moduleMember returns a member of something outside of the source.
func (e *evaluator) moduleMember(r js.Reference, name string) js.Value {
	full := r + "." + js.Reference(name)
	switch {
	case r == "":
		return resolve(e.found, js.Reference(name))
	case name == "default":
		return r
	case full == "import.meta.main":
		return true
	}
	return resolve(e.found, full)
}

// module returns a module that the program uses.
func (e *evaluator) module(name string, line int32) js.Value {
	if isLocal(name) {
		if e.local == "" && !strings.HasSuffix(name, ".json") {
			e.local, e.localLine = name, line
		}
		return js.Reference("local")
	}
	name, known := moduleName(name)
	if !known {
		e.found.Doubt(line, "the library %s is not understood", name)
	}
	return js.Reference(strings.ReplaceAll(name, ".", "_"))
}

func isLocal(name string) bool { return name != "" && strings.ContainsRune("./#~", rune(name[0])) }

// moduleName returns the name of a module without its scheme and version. It reports false
// for one that reads command lines in a way that is not understood.
func moduleName(name string) (bare string, known bool) {
	for _, scheme := range []string{"node:", "npm:", "jsr:"} {
		name = strings.TrimPrefix(name, scheme)
	}
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	switch name {
	case "commander", "@commander-js/extra-typings", "yargs", "yargs/yargs", "yargs-parser", "cac", "meow", "minimist", "mri", "getopts", "arg", "command-line-args", "@std/cli", "@std/cli/parse-args", "@std/flags",
		"caporal", "@caporal/core", "vorpal", "@oclif/core", "@oclif/command", "clipanion", "cmd-ts", "citty", "gluegun", "optimist", "nopt", "argparse", "ts-command-line-args",
		"dashdash", "docopt", "args", "commist", "@effect/cli", "trpc-cli", "@drizzle-team/brocli", "cleye", "type-flag", "optionator", "sade", "@cliffy/command", "posix-getopt", "node-getopt", "stdio", "flaggs", "@molt/command", "zx":
		return name, false
	}
	return name, !strings.Contains(name, "deno.land/std") || !strings.Contains(name, "/flags/") && !strings.Contains(name, "/cli/")
}
