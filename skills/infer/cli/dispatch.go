package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// A Dispatch is a script that may take its first argument for a command, and read the
// others by it.
type Dispatch struct {
	First *Argument
	Texts []string // that the script compares the first argument with
	Whole *Command // for any first argument, which is its first; nil where it is not certain
	Usage string   // the script's usage lines
	// Read returns the arguments behind a first argument, nil where they are not certain.
	// Refused reports that the script ends without them.
	Read func(text string) (behind *Command, refused bool)
}

// Other is the text of a first argument that the script compares with nothing.
const Other = "\x00"

// maxCommands is the maximum number of commands that are read.
const maxCommands = 64

// Command returns a command line with the arguments of each command apart. Where those
// are not certain, all words behind the command are a list. It returns Whole where the
// first argument chooses nothing.
func (d *Dispatch) Command() *Command {
	texts := d.texts()
	if len(texts) == 0 || len(texts) > maxCommands || d.First.List {
		return d.Whole
	}
	other, closed := d.Read(Other)
	if d.Whole != nil {
		d.Whole.choose(texts, closed)
	}
	if d.Whole != nil && len(d.Whole.Arguments) < 2 || len(texts) < 2 {
		return d.Whole
	}
	top := &Command{Chooser: d.First.Name, About: d.First.Description, Must: d.First.Required, Default: d.First.Default, Open: !closed, Commands: d.commands(texts)}
	readings := top.Commands
	if !closed {
		readings = append(slices.Clone(readings), other)
	}
	switch {
	case readings[0] == nil:
	case d.Whole != nil && !slices.ContainsFunc(readings, func(c *Command) bool { return c == nil || !equal(c.Arguments, readings[0].Arguments) }):
		return d.Whole
	case closed || other != nil && len(other.Arguments) == 0:
		return top
	}
	return d.words(texts, closed)
}

// texts returns the texts that may be commands.
func (d *Dispatch) texts() (texts []string) {
	for _, text := range d.Texts {
		if text != "" && text[0] != '-' && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if slices.Contains(texts, d.First.Name) || d.First.Name == "" || d.First.Name == "arg1" {
		d.First.Name = "command"
	}
	return texts
}

// commands reads the script for each text. Where the arguments behind one are not certain,
// there is nil alone.
func (d *Dispatch) commands(texts []string) (all []*Command) {
	for _, text := range texts {
		behind, refused := d.Read(text)
		if behind == nil && !refused {
			return []*Command{nil}
		}
		behind = cmp.Or(behind, &Command{})
		behind.Name = text
		all = append(all, behind)
	}
	return all
}

// choose makes the texts the only values of the first positional, if the script refuses
// others.
func (c *Command) choose(texts []string, closed bool) {
	at := slices.IndexFunc(c.Arguments, (*Argument).positional)
	if at < 0 || !closed || c.Arguments[at].List || c.Arguments[at].Item != nil {
		return
	}
	item := &jsonschema.Schema{Type: "string"}
	for _, text := range texts {
		item.Enum = append(item.Enum, text)
	}
	c.Arguments[at].Item = item
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// words returns the command line of a command and any words behind it.
func (d *Dispatch) words(texts []string, closed bool) *Command {
	if d.Whole == nil && !closed {
		return nil
	}
	first := *d.First
	first.Leads, first.Item, first.Default = true, nil, nil
	if !closed {
		first.Description = Sentences(first.Description, "Among others: "+strings.Join(texts, ", ")+".")
	}
	rest := &Argument{Name: "args", List: true, Leads: true, Description: Sentences("The words behind it on the command line", d.Usage)}
	all := &Command{Arguments: []*Argument{&first, rest}}
	all.choose(texts, closed)
	return all
}
