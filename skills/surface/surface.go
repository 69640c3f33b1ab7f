// Package surface computes the capability surface of a skill: the list of the things
// that its files could do with all that they ask for. Two surfaces of one skill differ
// where a change gained a capability, and not where it only moved or corrected text.
//
// The surface is read from text. A file that hides its purpose well enough is not
// recognized: the sandbox is the defence, the surface a report.
//
// Start with [Of], and compare with [Surface.Grown].
package surface

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Version is the version of the rules by which surfaces are computed. Surfaces of
// different versions differ without a change of files.
const Version = 1

// A Kind is a kind of capability.
type Kind string

// The kinds of capabilities, in the order in which people read them.
const (
	Download    Kind = "download"    // downloads a program and runs it
	Credential  Kind = "credential"  // names a place where credentials are
	Persistence Kind = "persistence" // changes what runs after the call
	Decoder     Kind = "decoder"     // decodes or generates the code that it runs
	Instruction Kind = "instruction" // tells the model to deceive the person
	Hidden      Kind = "hidden"      // has characters that a person does not see
	Class       Kind = "class"       // is of a class above safe
	Host        Kind = "host"
	Remote      Kind = "remote"   // gives another host a shell
	Network     Kind = "network"  // connects, in code, to whichever host
	Path        Kind = "path"     // names a path outside of the workspace
	Variable    Kind = "variable" // reads a variable
	Command     Kind = "command"  // runs a program
	Package     Kind = "package"
	Hook        Kind = "hook"
	Server      Kind = "server" // an MCP server
	Tool        Kind = "tool"   // wants a tool of the client allowed
	Asks        Kind = "asks"
	Calls       Kind = "calls" // calls another skill
	Image       Kind = "image"
	Script      Kind = "script"  // a file that can be run
	Program     Kind = "program" // a file that can be run and not read
	Unread      Kind = "unread"  // files over the limits
	Name        Kind = "name"
	Description Kind = "description"
)

// kinds returns all kinds in their order.
func kinds() []Kind {
	return []Kind{
		Download, Credential, Persistence, Decoder, Instruction, Hidden, Remote, Class, Host, Network, Path, Variable, Command, Package,
		Hook, Server, Tool, Asks, Calls, Image, Script, Program, Unread, Name, Description,
	}
}

// An Item is one capability, and the first place that has it.
type Item struct {
	Kind Kind `json:"kind"`
	// Value identifies the capability among those of its kind.
	Value string `json:"value"`
	// Text is the passage that has it, if that says more than the value; at most
	// maxPassage bytes.
	Text string `json:"text,omitempty"`
	// File is the path in the skill's folder, and Line the line from 1; "" and 0 for
	// what the definition declares.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Digest is that of the content of a file that is the item.
	Digest string `json:"digest,omitempty"`
}

// A Text is a text of the skill that a model reads.
type Text struct {
	// Name is the path of a file, or [NameText], [DescriptionText] or [WhenText].
	Name string `json:"name"`
	// Content is the beginning of the text, with "\n" as line end.
	Content string `json:"content"`
	// Digest is that of the whole text.
	Digest string `json:"digest"`
}

// The names of texts that are no files. No path of a folder begins with a colon here.
const (
	NameText        = ":name"
	DescriptionText = ":description"
	WhenText        = ":when to use"
)

// A Surface is the capability surface of one skill with its tools. It is not changed
// once it is made.
type Surface struct {
	// Version is that of the rules: see [Version].
	Version int `json:"version"`
	// Items are sorted by kind and value, each once.
	Items []Item `json:"items"`
	// Texts are the texts that a model reads: the names, then the files by path.
	Texts []Text `json:"texts"`
}

// Of returns the surface of a skill, or of the skill whose tool it is, with the files
// of its folder. Files that are not text, and files over the limits, are items of their
// own, so that nothing hides behind them. The error is one of reading the folder.
func Of(skill *skills.Skill, files fs.FS) (*Surface, error) {
	c := newCollector()
	owner := skill.Owner()
	c.declared(owner)
	for _, tool := range owner.Tools {
		c.declared(tool)
	}
	if err := c.folder(owner, files); err != nil {
		return nil, err
	}
	return c.surface(), nil
}

// A collector gathers the items of one surface.
type collector struct {
	items map[string]Item // by key
	texts []Text
}

func newCollector() *collector { return &collector{items: map[string]Item{}} }

// maxItems bounds the items of a surface. Those over it are one item, which a change of
// any of them changes.
const maxItems = 4096

// maxValue bounds a value, and maxPassage a passage, in bytes.
const (
	maxValue   = 256
	maxPassage = 200
)

// add adds an item, unless there is one of its kind and value.
func (c *collector) add(i Item) {
	i.Value, i.Text = shorten(i.Value), passage(i.Text)
	if i.Value == i.Text {
		i.Text = ""
	}
	if _, there := c.items[i.key()]; !there {
		c.items[i.key()] = i
	}
}

// key returns the identity of an item.
func (i Item) key() string { return string(i.Kind) + "\x00" + i.Value }

// surface returns the sorted surface.
func (c *collector) surface() *Surface {
	s := &Surface{Version: Version, Items: make([]Item, 0, len(c.items)), Texts: c.texts}
	for _, item := range c.items {
		s.Items = append(s.Items, item)
	}
	order := map[Kind]int{}
	for i, kind := range kinds() {
		order[kind] = i
	}
	slices.SortFunc(s.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Value, b.Value))
	})
	s.bound()
	return s
}

// bound replaces the items over the limit by one with their digest.
func (s *Surface) bound() {
	if len(s.Items) <= maxItems {
		return
	}
	h := newHash()
	for _, item := range s.Items[maxItems-1:] {
		h.add(item.key())
	}
	s.Items = append(s.Items[:maxItems-1:maxItems-1], Item{Kind: Unread, Value: "more capabilities than are listed", Digest: h.sum()})
}
