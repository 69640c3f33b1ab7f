package python

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// A CommandLine has a script's arguments by name, in the order in which
// they are declared. Its methods may be called at the same time.
type CommandLine struct {
	// Description is the parser's own, or the module's docstring.
	Description string
	top         *level
	properties  []*property
	byName      map[string]*property
	files       map[string]File
	stdin       bool
}

// Describe returns the description.
func (c *CommandLine) Describe() string { return c.Description }

// ReadsStdin reports whether a script without a parser reads its standard input.
func (c *CommandLine) ReadsStdin() bool { return c.stdin }

// A level is the command line of a script, or of one of its sub-commands.
type level struct {
	name      string // of the sub-command; "" at the top
	dialect   dialect
	parser    *parser
	arguments []*argument
	mutexes   []mutex
	chooser   *property // picks one of commands; nil without them
	must      bool      // one has to be picked
	commands  []*level
}

// A mutex is a group of arguments of which at most one may be given.
type mutex struct {
	members  []*argument
	required bool
}

func newCommandLine(p *parser, told *notes) *CommandLine {
	c := &CommandLine{Description: p.description, byName: map[string]*property{}}
	c.top = c.level(p, "", nil, told)
	if len(c.properties) > maxProperties {
		told.add(0, "the script has more than %d arguments", maxProperties)
		return nil
	}
	for _, property := range c.properties {
		property.required = property.required || c.top.needs(property)
		property.finish()
	}
	return c
}

// needs reports whether each command needs a property, and one must be chosen.
func (l *level) needs(p *property) bool {
	return l.must && len(l.commands) > 0 && !slices.ContainsFunc(l.commands, func(c *level) bool { return !slices.Contains(p.needs, c.name) })
}

// level lays out a parser's arguments and, below it, its sub-commands'.
func (c *CommandLine) level(p *parser, name string, above []*argument, told *notes) *level {
	l := &level{name: name, dialect: p.dialect, parser: p}
	p.tellOmitted(told)
	own := map[string]int{}
	for _, act := range p.actions {
		if p.shows(act) {
			own[act.dest]++
		}
	}
	used := map[*property]bool{}
	for _, act := range p.actions {
		if !p.shows(act) || len(c.properties) > maxProperties {
			continue
		}
		arg := &argument{action: act}
		wanted := act.dest
		if own[act.dest] > 1 && !act.positional() {
			wanted = strings.TrimLeft(act.longest(), "-")
			arg.flagged = true
		}
		arg.property = c.place(l, arg, propertyName(wanted), above, used)
		used[arg.property] = true
		l.arguments = append(l.arguments, arg)
	}
	c.exclude(l)
	if p.subs != nil {
		c.branch(l, append(slices.Clone(above), l.arguments...), told)
	}
	return l
}

// shows reports whether an argument becomes a property. One that its author
// hides does where a call may need it.
func (p *parser) shows(act *action) bool {
	if act.kind == "help" || act.kind == "version" {
		return false
	}
	needed := func(g *group) bool { return g.required && slices.Contains(g.members, act) }
	return !act.hidden || act.positional() || act.required || slices.ContainsFunc(p.mutexes, needed)
}

// branch lays out the sub-commands of a level.
func (c *CommandLine) branch(l *level, above []*argument, told *notes) {
	subs := l.parser.subs
	if len(subs.commands) == 0 {
		return
	}
	schema := &jsonschema.Schema{Type: "string", Description: subs.describe()}
	for _, command := range subs.commands {
		schema.Enum = append(schema.Enum, command.name)
	}
	name := propertyName(cmp.Or(subs.dest, "command"))
	l.must = subs.required
	l.chooser = c.declare(l, name, schema, l.must)
	for _, command := range subs.commands {
		l.commands = append(l.commands, c.level(command.parser, strings.TrimSpace(l.name+" "+command.name), above, told))
	}
}

// describe lists the sub-commands with their help texts.
func (s *subparsers) describe() string {
	parts := []string{s.help}
	for _, command := range s.commands {
		if command.help != "" {
			help := strings.ReplaceAll(strings.ReplaceAll(command.help, "%%", "%"), "%(prog)s", command.parser.prog)
			parts = append(parts, fmt.Sprintf("%s: %s", command.name, help))
		}
	}
	return cmp.Or(sentences(parts...), "The sub-command.")
}

// place finds the property of an argument: one that another sub-command means
// the same by, or a new one.
func (c *CommandLine) place(l *level, arg *argument, name string, above []*argument, used map[*property]bool) *property {
	data, _ := json.Marshal(arg.schema(l.parser.prog, false))
	same := fmt.Sprintf("%s %s %t %s", arg.kind, arg.nargs, arg.flagged, data)
	p := c.byName[name]
	if p == nil || used[p] || p.same != same || l.name == "" || blocked(arg, p, above) {
		p = c.declare(l, name, arg.schema(l.parser.prog, l.name == ""), arg.required)
		p.same = same
	} else if p.commands != nil {
		p.commands = append(p.commands, l.name)
	}
	if arg.required && l.name != "" && !p.required {
		p.needs = append(p.needs, l.name)
	}
	return p
}

// blocked reports whether a property of a level above cannot be shared: both
// levels need a value of their own.
func blocked(arg *argument, p *property, above []*argument) bool {
	return slices.ContainsFunc(above, func(a *argument) bool {
		return a.property == p && (a.positional() || a.required || arg.positional() || arg.required || a.dest != arg.dest)
	})
}

// declare adds a property, which has a name of its own.
func (c *CommandLine) declare(l *level, name string, schema *jsonschema.Schema, required bool) *property {
	p := &property{schema: schema, required: required && l.name == ""}
	if l.name != "" {
		p.commands = []string{l.name}
	}
	if c.byName[name] != nil && l.name != "" {
		name = propertyName(strings.ReplaceAll(l.name, " ", "_") + "_" + name)
	}
	p.name = name
	for n := 2; c.byName[p.name] != nil; n++ {
		p.name = fmt.Sprintf("%s_%d", name, n)
	}
	c.properties = append(c.properties, p)
	c.byName[p.name] = p
	return p
}

// Refuses reports whether the script certainly takes a flag such as "--name" for a
// mistake: argparse reads it, and knows no option that begins so.
func (c *CommandLine) Refuses(flag string) bool {
	p := c.top.parser
	if p.dialect != argparseDialect || p.lenient || p.subs != nil || strings.Contains(flag, "=") {
		return false
	}
	known := slices.Collect(maps.Keys(p.flags))
	for _, o := range p.omitted {
		if known = append(known, o.names...); len(o.names) == 0 {
			return false
		}
	}
	return !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(name, flag) }) &&
		!slices.ContainsFunc(p.actions, func(act *action) bool { return act.nargs == "..." })
}

// exclude notes the mutually exclusive groups of a level in its properties.
func (c *CommandLine) exclude(l *level) {
	for _, g := range l.parser.mutexes {
		m := mutex{required: g.required}
		for _, arg := range l.arguments {
			if slices.Contains(g.members, arg.action) {
				m.members = append(m.members, arg)
			}
		}
		if len(m.members) == 0 {
			continue
		}
		l.mutexes = append(l.mutexes, m)
		for _, arg := range m.members {
			m.describe(arg)
		}
	}
}

func (m mutex) describe(arg *argument) {
	var others []string
	for _, other := range m.members {
		if other != arg {
			others = append(others, other.property.name)
		}
	}
	s := arg.property.schema
	s.Default = nil // a default that is passed on would exclude the others
	if len(others) == 0 {
		return
	}
	rule := "Not together with %s."
	if m.required {
		rule = "Exactly one of this and %s is needed."
	}
	s.Description = sentences(s.Description, fmt.Sprintf(rule, strings.Join(others, ", ")))
}

// Schema returns the JSON Schema of the arguments: an object with a property for
// each, in the order in which they are declared, and no others. A sub-command is
// a property with the commands' names; the arguments of one are properties of
// the same object, whose descriptions say where they belong.
func (c *CommandLine) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for _, p := range c.properties {
		s.Properties.Set(p.name, p.schema)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// A File is an argument that the source shows to name a file or a folder.
type File struct {
	Written bool // the script writes it
	Read    bool // the script reads it
}
