package python

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/fileuse"
)

// Files returns the arguments that name files or folders, by their property: those
// whose type is a path or a file, and those that the script opens or looks up.
func (c *CommandLine) Files() map[string]File { return c.files }

// Fallbacks returns the defaults of arguments that are texts or paths, by property.
func (c *CommandLine) Fallbacks() map[string]string {
	all := map[string]string{}
	c.Arguments(func(property string, of *cli.Argument) {
		arg := c.actions[of]
		if arg.kind != "store" || arg.nargs != "" && arg.nargs != "?" {
			return
		}
		switch v := arg.fallback.(type) {
		case string:
			all[property] = v
		case unknown:
			if v.path != "" {
				all[property] = v.path
			}
		}
	})
	return all
}

// look finds the uses of arguments as files in the script.
func (c *CommandLine) look(script code) {
	used := map[string]File{}
	click := c.parser.dialect != argparseDialect
	fileuse.Each(script, !click, func(name string, written bool) {
		f := used[name]
		// A plain name may be another function's, which says less.
		f.Written, f.Read = f.Written || written, f.Read || !written || click
		used[name] = f
	})
	c.files = map[string]File{}
	c.Arguments(func(property string, of *cli.Argument) {
		arg := c.actions[of]
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
		c.files[property] = f
	})
}
