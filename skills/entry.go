package skills

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/invopop/jsonschema"
)

// An Entry is the script or program of a skill.
type Entry struct {
	// Script is the path of a file in the skill's folder. With [Flags] it may
	// contain placeholders such as {name} for parameters.
	Script string
	// Interpreter is the command that the script is passed to; none runs the
	// script as a program.
	Interpreter []string
	// Missing says that the script could not be read when the skill was: there was
	// none, or none that can be run.
	Missing bool
	// Args passes arguments to the script; nil is [Flags] without any.
	Args Args
	// Inferred says that nobody declared the arguments: Args is read from the
	// script's source, or [RawArgv].
	Inferred bool
	// Unread notes the parts of inferred arguments that the source does not define.
	Unread []SourceNote
	// Closed says that arguments which [Flags] do not declare are refused.
	Closed bool
	// ImageRole names the image to run in; "" is the default one.
	ImageRole string
	// Network are the hosts that the script connects to, as the manifest has
	// them, such as "api.example.com:443". Only a grant makes them reachable.
	Network []string
	// Warm is the number of sandboxes to prepare for the next calls: 0 is one, and
	// a negative number none. It is at most 8.
	Warm int
	// Timeout is the longest that a call may take; 0 is the configuration's.
	Timeout time.Duration
	// Context selects the variables that describe the call to the script.
	Context Context
	// Env are the names of further variables that the script wants. It gets those
	// that the configuration grants.
	Env []string
	// Output is the schema of the object that the script returns (an Args' Schema is
	// that of its arguments); nil where nobody said.
	Output *jsonschema.Schema
	// Server is the call to a plugin's MCP server that the entry makes; nil runs the script.
	Server *ServerCall
	// Hook is the hook of a plugin that the entry runs, with an event on its standard input;
	// nil runs the script.
	Hook *Hook
	// OutputJSON says that a script which ends well has printed one JSON value.
	OutputJSON bool

	compiled memo // see Compiled
}

// To returns an entry for another call to the plugin's server of an entry, without arguments.
func (e *Entry) To(call ServerCall) *Entry {
	return &Entry{Script: e.Script, Interpreter: e.Interpreter, ImageRole: e.ImageRole, Context: e.Context, Env: e.Env, Network: e.Network, Warm: -1, Server: &call}
}

// Reads reports whether an entry reads a resource of a server.
func (e *Entry) Reads() bool { return e != nil && e.Server != nil && e.Server.Method == ReadResource }

// A SourceNote is about a line of a script's source.
type SourceNote struct {
	Line int // from 1; 0 is the whole source
	Text string
}

// A Context is a set of variables that describe a call to its script.
type Context string

// The contexts.
const (
	ContextSkill Context = ""     // SKILL_NAME, SKILL_RUN_ID, SKILL_PARAMS, SKILL_WORKSPACE
	ContextLinX  Context = "linx" // and LINX_AGENT_ID, LINX_USER_ID, LINX_SESSION_ID
	ContextNone  Context = "none" // none
)

// A memo keeps a value that is computed once. The zero value is empty.
type memo struct {
	once  sync.Once
	value any // valid after once
}

// Compiled returns the entry's compiled schemas: the value of the first compute.
// They live as long as the entry does. Package schema owns their type.
func (e *Entry) Compiled(compute func() any) any {
	e.compiled.once.Do(func() { e.compiled.value = compute() })
	return e.compiled.value
}

// Passing returns how arguments reach the script: [Flags], [ParsedCLI], [Input] or
// [RawArgv].
func (e *Entry) Passing() Args {
	if e.Args == nil {
		return Flags(nil)
	}
	return e.Args
}

// Schema returns the JSON Schema (2020-12) of the entry's arguments: an object,
// its properties in the manifest's order.
func (e *Entry) Schema() *jsonschema.Schema {
	s := e.Passing().Schema()
	if _, flags := e.Passing().(Flags); flags && e.Closed {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	return s
}

// Params are the entry's parameters, in the manifest's order.
func (e *Entry) Params() []Param { return e.Passing().params() }

// Pass returns the script's input for arguments that
// [github.com/skillsmcp/skills-mcp/skills/schema.Validate] has accepted. The
// error is for who wrote them. Placeholders of the script's path are not passed
// as well.
func (e *Entry) Pass(args map[string]any) (Passed, error) {
	return e.Passing().Pass(e.WithoutPlaceholders(args))
}

// WithoutPlaceholders returns args without those that the script's path is made of.
func (e *Entry) WithoutPlaceholders(args map[string]any) map[string]any {
	if names := e.Placeholders(); len(names) > 0 {
		args = maps.Clone(args)
		maps.DeleteFunc(args, func(name string, _ any) bool { return slices.Contains(names, name) })
	}
	return args
}

// Defaults returns args without the parameters that are null, which models send
// for absent, unless null may be a value of theirs. Parameters that the manifest
// declares and that are then absent get their default; other scripts have their
// own.
func (e *Entry) Defaults(args map[string]any) map[string]any {
	all := maps.Clone(args)
	if all == nil {
		all = map[string]any{}
	}
	in, input := e.Passing().(Input)
	foreign := input && in.Object != nil
	_, flags := e.Passing().(Flags)
	for _, p := range e.Params() {
		value, given := all[p.Name]
		if value != nil {
			continue
		}
		if given && !(foreign && p.Schema.Type == "") {
			delete(all, p.Name)
		}
		if (flags || input && !foreign) && p.Schema.Default != nil {
			all[p.Name] = p.Schema.Default
		}
	}
	return all
}

// SetUndeclared marks an entry of which the manifest declares no arguments: see
// package infer.
func (e *Entry) SetUndeclared() { e.Args, e.Inferred = RawArgv{}, true }

// Files returns the inferred parameters that take names of files or folders.
func (e *Entry) Files() []FileParam {
	cli, _ := e.Args.(ParsedCLI)
	return cli.Files
}

// placeholder matches {name} in a script's path.
var placeholder = lazily(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Placeholders returns the parameters that the script's path is made of.
func (e *Entry) Placeholders() []string {
	if _, ok := e.Passing().(Flags); !ok {
		return nil
	}
	var names []string
	for _, m := range placeholder().FindAllStringSubmatch(e.Script, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// ExpandScript returns the path of the script with value(name) in place of
// each placeholder.
func (e *Entry) ExpandScript(value func(name string) string) string {
	return placeholder().ReplaceAllStringFunc(e.Script, func(m string) string {
		return value(m[1 : len(m)-1])
	})
}
