// Package cli describes the command line of a script as its sub-commands, options and
// positionals. It makes a JSON Schema of them, and of arguments that fit the schema the
// words of which the script reads the same values.
//
// Start with [New].
package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// A Command is a script, or one of its sub-commands.
type Command struct {
	Name        string // of the sub-command; "" for the script
	Description string
	Arguments   []*Argument // options, and positionals in their order
	Commands    []*Command  // sub-commands
	// Must reports that one of the sub-commands has to be chosen.
	Must bool
	// Default is the name of the sub-command that is taken without one; nil is none.
	Default any
	// Open reports that there are other sub-commands, without arguments.
	Open bool
	// Terminator reports that "--" ends the options, so that a positional behind it may
	// begin with a dash.
	Terminator bool
	// Separate reports that "--" always stands before the positionals.
	Separate bool
	// Numbers reports that a negative number is read as a positional.
	Numbers bool
	// Groups are arguments that exclude each other.
	Groups []Group
	// Chooser is the name of the property that chooses a sub-command; "" is command.
	Chooser string
	// About describes that choice.
	About string
	// Namespace reports that a script and its sub-commands set the same variables, and
	// that positionals take as many words as they can: argparse, click. All commands of a
	// script have it, or none.
	Namespace bool
}

// A Group is arguments of which at most one may be given.
type Group struct {
	Members  []*Argument
	Required bool // one has to be given
}

// A Kind is the class of an option.
type Kind int

// The kinds. All but Value are options without a value.
const (
	Value  Kind = iota
	Switch      // on or off
	Count       // given several times
)

// A Form is the way in which an option's value follows it.
type Form int

// The forms.
const (
	Joined Form = iota // --name=value
	Apart              // --name value
)

// An Argument is an option or a positional.
type Argument struct {
	// Name is the property's, if no other argument has it; of the script's namespace it
	// may have dashes.
	Name        string
	Variable    string // that the script sets
	Description string
	Flag        string // "--name"; "" for a positional
	// Off is the flag that turns a switch off; "" where there is none.
	Off  string
	Kind Kind
	// Inverse reports that the flag of a switch turns it off, and none turns it on.
	Inverse bool
	On      bool // a switch is on without its flag
	Form    Form
	// Item describes one value; nil is any text.
	Item *jsonschema.Schema
	// List reports that there may be several values. An option is repeated for each,
	// unless they all follow it.
	List, Together bool
	// Least and Most bound the number of values of a list; 0 is no bound.
	Least, Most int
	Required    bool
	// Default is the script's own value, of encoding/json; nil where it is not known.
	Default any
	// Dashes is the reason why no value may begin with a dash; "" where one may.
	Dashes string
	// Lacks is a text that no value may contain; "" is none.
	Lacks string
	// Leads reports that a positional stands before all options.
	Leads bool
	// Rest reports that a positional takes all words from the first on, options too.
	Rest bool
	// Not are texts that no value may be: the script would take them for options.
	Not []string
	// Truths are the texts for true and false; nil are these words.
	Truths []string
	// Fallback is the text that the script takes without a value, as a name of a file; "" is
	// none, or not known.
	Fallback string
	// File says how the script uses the value as the name of a file or folder; nil where
	// nothing shows that it does.
	File *File
}

// A File is the use of an argument that names a file or a folder.
type File struct {
	Written bool // the script writes it
	Read    bool // the script reads it
}

func (a *Argument) positional() bool { return a.Flag == "" }

// A CommandLine has the arguments of a script by name. Its methods may be called at the
// same time.
type CommandLine struct {
	top        *level
	properties []*property
	byName     map[string]*property
}

// A level is a command with the properties of its arguments.
type level struct {
	*Command
	path       string      // the names of the sub-commands up to this one
	properties []*property // by argument
	groups     []Group
	chooser    *property // chooses one of below; nil without them
	below      []*level
}

// A property is one of the schema. Sub-commands share it where they mean the same by
// it.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
	commands []string // the sub-commands that it belongs to; nil for the top
	needs    []string // those that cannot do without it
	same     string   // a fingerprint, to compare
}

// MaxProperties is the maximum number of properties of one schema.
const MaxProperties = 512

// New returns the command line of a script, and nil where it has more than
// [MaxProperties]. The command must not change afterwards.
func New(command *Command) *CommandLine {
	c := &CommandLine{byName: map[string]*property{}}
	c.top = c.level(command, "", nil)
	if len(c.properties) > MaxProperties {
		return nil
	}
	for _, p := range c.properties {
		p.required = p.required || c.top.needs(p)
		p.finish()
	}
	return c
}

// needs reports whether each sub-command needs a property, and one has to be chosen.
func (l *level) needs(p *property) bool {
	return l.Must && !l.Open && len(l.below) > 0 && !slices.ContainsFunc(l.below, func(b *level) bool { return !slices.Contains(p.needs, b.path) })
}

// level lays out a command's arguments and, below it, its sub-commands'. Above are the
// commands that it belongs to.
func (c *CommandLine) level(command *Command, path string, above []*level) *level {
	l := &level{Command: command, path: path}
	for _, a := range command.Arguments {
		if len(c.properties) > MaxProperties {
			break
		}
		l.properties = append(l.properties, c.place(l, a, above))
	}
	for _, g := range command.Groups {
		g.Members = slices.DeleteFunc(slices.Clone(g.Members), func(a *Argument) bool { return l.property(a) == nil })
		if len(g.Members) > 0 {
			l.groups = append(l.groups, g)
			l.describeGroup(g)
		}
	}
	if len(command.Commands) == 0 {
		return l
	}
	schema := &jsonschema.Schema{Type: "string", Description: describe(command), Default: command.Default}
	for _, sub := range command.Commands {
		if !command.Open {
			schema.Enum = append(schema.Enum, sub.Name)
		}
	}
	l.chooser = c.declare(l, cmp.Or(command.Chooser, "command"), schema, command.Must)
	above = append(slices.Clone(above), l)
	for _, sub := range command.Commands {
		l.below = append(l.below, c.level(sub, strings.TrimSpace(path+" "+sub.Name), above))
	}
	return l
}

// describeGroup says in the descriptions of a group's properties which exclude each
// other. They have no default: one that is passed on would exclude the others.
func (l *level) describeGroup(g Group) {
	for _, a := range g.Members {
		var others []string
		for _, other := range g.Members {
			if other != a {
				others = append(others, l.property(other).name)
			}
		}
		rule := "Not together with %s."
		if g.Required {
			rule = "Exactly one of this and %s is needed."
		}
		s := l.property(a).schema
		if s.Default = nil; len(others) > 0 {
			s.Description = Sentences(s.Description, fmt.Sprintf(rule, strings.Join(others, ", ")))
		}
	}
}

// property returns the property of an argument, or nil.
func (l *level) property(a *Argument) *property {
	if at := slices.Index(l.Arguments, a); at >= 0 && at < len(l.properties) {
		return l.properties[at]
	}
	return nil
}

// describe lists sub-commands with their descriptions.
func describe(command *Command) string {
	parts, others := []string{command.About}, []string{}
	for _, c := range command.Commands {
		if c.Description != "" {
			parts = append(parts, fmt.Sprintf("%s: %s", c.Name, c.Description))
		} else {
			others = append(others, c.Name)
		}
	}
	if command.Open && len(others) > 0 {
		parts = append(parts, "Such as "+strings.Join(others, ", "))
	}
	return cmp.Or(Sentences(parts...), "The sub-command.")
}

// place returns the property of an argument: one by which another command means the
// same, or a new one.
func (c *CommandLine) place(l *level, a *Argument, above []*level) *property {
	schema := a.schema(l.path == "")
	data, _ := json.Marshal(a.schema(false))
	same := fmt.Sprint(a.Kind, a.Inverse, a.Together, string(data))
	p := c.byName[l.propertyName(a.Name)]
	if p == nil || l.path == "" || p.same != same || slices.Contains(l.properties, p) || blocked(a, p, above) {
		p = c.declare(l, a.Name, schema, a.Required)
		p.same = same
	} else if p.commands != nil {
		p.commands = append(p.commands, l.path)
	}
	if a.Required && l.path != "" && !p.required {
		p.needs = append(p.needs, l.path)
	}
	return p
}

// blocked reports whether a command cannot share a property with one above: both need a
// value of their own.
func blocked(a *Argument, p *property, above []*level) bool {
	return slices.ContainsFunc(above, func(l *level) bool {
		at := slices.Index(l.properties, p)
		if at < 0 {
			return false
		}
		other := l.Arguments[at]
		return !l.Namespace || other.positional() || other.Required || a.positional() || a.Required || a.Variable != other.Variable
	})
}

// declare adds a property, which gets a name of its own.
func (c *CommandLine) declare(l *level, name string, schema *jsonschema.Schema, required bool) *property {
	p := &property{schema: schema, required: required && l.path == ""}
	name = l.propertyName(name)
	if l.path != "" {
		p.commands = []string{l.path}
		if c.byName[name] != nil {
			name = l.propertyName(strings.ReplaceAll(l.path, " ", "_") + "_" + name)
		}
	}
	p.name = name
	for n := 2; c.byName[p.name] != nil; n++ {
		p.name = fmt.Sprintf("%s_%d", name, n)
	}
	c.properties = append(c.properties, p)
	c.byName[p.name] = p
	return p
}

// propertyName returns the name of a property of the level.
func (l *level) propertyName(name string) string {
	if !l.Namespace {
		return PropertyName(name)
	}
	name = foreignInNamespace.ReplaceAllString(name, "_")
	if name = name[:min(len(name), maxName)]; strings.Trim(name, "_-") == "" {
		return "argument"
	}
	return name
}

// finish adds the sub-commands that a property belongs to, and those that need it, to
// its description: the schema has no other place for either.
func (p *property) finish() {
	belongs, needed := listed(p.commands), listed(p.needs)
	if belongs != "" && belongs != needed {
		p.schema.Description = Sentences(p.schema.Description, "For the command "+belongs+".")
	}
	if needed != "" {
		p.schema.Description = Sentences(p.schema.Description, "Required for "+needed+".")
	}
}

// listed names some of the commands.
func listed(commands []string) string {
	const most = 8
	named := slices.Compact(slices.Sorted(slices.Values(commands)))
	if len(named) > most {
		return strings.Join(named[:most], ", ") + ", …"
	}
	return strings.Join(named, ", ")
}

// Description returns the script's own description, "" where there is none.
func (c *CommandLine) Description() string { return c.top.Description }

// Schema returns the JSON Schema of the arguments: an object with a property for each,
// in the order in which they are declared, and no others. A sub-command is a property
// with the commands' names; the arguments of one are properties of the same object,
// whose descriptions name the command.
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

// Arguments calls do for each argument with the name of its property.
func (c *CommandLine) Arguments(do func(property string, a *Argument)) { c.top.each(do) }

func (l *level) each(do func(property string, a *Argument)) {
	for i, p := range l.properties {
		do(p.name, l.Arguments[i])
	}
	for _, below := range l.below {
		below.each(do)
	}
}

// schema describes the values of an argument. Those of sub-commands have their default
// only in words: a client that fills in defaults would give them to other commands.
func (a *Argument) schema(top bool) *jsonschema.Schema {
	s := a.values()
	s.Description = a.Description
	switch {
	case a.Default == nil || a.Kind == Count:
	case top:
		s.Default = a.Default
	case a.Kind == Value && !strings.Contains(strings.ToLower(a.Description), "default"):
		if data, err := json.Marshal(a.Default); err == nil && len(data) < 100 {
			s.Description = Sentences(s.Description, "Default: "+string(data)+".")
		}
	}
	return s
}

// maxCount is the maximum number of times for a flag that is counted.
const maxCount = 100

func (a *Argument) values() *jsonschema.Schema {
	switch a.Kind {
	case Switch:
		return &jsonschema.Schema{Type: "boolean"}
	case Count:
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: json.Number(fmt.Sprint(maxCount))}
	}
	item := &jsonschema.Schema{Type: "string"}
	if a.Item != nil {
		copied := *a.Item
		item = &copied
	}
	switch {
	case a.List:
		s := &jsonschema.Schema{Type: "array", Items: item}
		if a.Least > 0 {
			s.MinItems = new(uint64(a.Least))
		}
		if a.Most > 0 {
			s.MaxItems = new(uint64(a.Most))
		}
		return s
	}
	return item
}

// Sentences puts texts together as sentences.
func Sentences(texts ...string) string {
	var all []string
	for _, text := range texts {
		if text = strings.Join(strings.Fields(text), " "); text == "" {
			continue
		}
		if !strings.ContainsAny(text[len(text)-1:], ".!?:;") {
			text += "."
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// PropertyName returns a name in the characters that every client accepts: letters,
// digits and _.
func PropertyName(name string) string {
	name = foreign.ReplaceAllString(strings.Trim(name, "-"), "_")
	name = name[:min(len(name), maxName)]
	if strings.Trim(name, "_") == "" {
		return "argument"
	}
	return name
}

var (
	foreign            = lazyregexp.New(`\W+`)
	foreignInNamespace = lazyregexp.New(`[^\w-]`)
)

// maxName is the maximum length of a property's name in the models' interfaces.
const maxName = 60
