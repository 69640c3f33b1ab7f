package surface

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Kind is a kind of capability.
type Kind string

// The kinds of capabilities.
const (
	Download    Kind = "download"
	Credential  Kind = "credential"
	Persistence Kind = "persistence"
	Decoder     Kind = "decoder"
	Instruction Kind = "instruction"
	Hidden      Kind = "hidden"
	Class       Kind = "class" // above safe
	Host        Kind = "host"
	Remote      Kind = "remote"
	Network     Kind = "network" // in code, to whichever host
	Path        Kind = "path"
	Variable    Kind = "variable"
	Command     Kind = "command"
	Package     Kind = "package"
	Hook        Kind = "hook"
	Server      Kind = "server" // an MCP server
	Tool        Kind = "tool"   // of the client
	Asks        Kind = "asks"
	Calls       Kind = "calls" // another skill
	Image       Kind = "image"
	Script      Kind = "script"
	Program     Kind = "program"
	Unread      Kind = "unread"
	Name        Kind = "name"
	Description Kind = "description"
)

// kinds are all kinds with their words for people, in the order in which people read
// them. The value of the item follows on words that end with a blank.
var kinds = [...]struct {
	kind Kind
	says string
}{
	{Download, "downloads a program and runs it, "},
	{Credential, "names a place of credentials, "},
	{Persistence, "changes what runs later: "},
	{Decoder, "decodes or generates the code that it runs: "},
	{Instruction, "tells the model to "},
	{Hidden, "has invisible characters"},
	{Remote, "gives another host a shell"},
	{Class, "is "},
	{Host, "reaches the host "},
	{Network, "opens network connections"},
	{Path, "names a path outside of the workspace, "},
	{Variable, "reads the variable "},
	{Command, "runs a shell command, "},
	{Package, "uses the package "},
	{Hook, "wants a hook run: "},
	{Server, "wants an MCP server connected: "},
	{Tool, "wants a tool allowed: "},
	{Asks, "asks the "},
	{Calls, "calls the skill "},
	{Image, "runs in the image of the role "},
	{Script, "has a script, "},
	{Program, "has a program that cannot be read, "},
	{Unread, "has "},
	{Name, "is called "},
	{Description, "describes another purpose"},
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

// key returns the identity of an item.
func (i Item) key() string { return string(i.Kind) + "\x00" + i.Value }

// rank returns the place of a kind in the order of all.
func (k Kind) rank() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return len(kinds)
}

// says returns the capability in words.
func (i Item) says() string {
	rank := i.Kind.rank()
	if rank == len(kinds) { // of another version
		return string(i.Kind) + " " + i.Value
	}
	if words := kinds[rank].says; strings.HasSuffix(words, " ") {
		return words + i.Value
	}
	return kinds[rank].says
}

// String returns the item as one line, with codes for invisible characters.
func (i Item) String() string {
	line := i.says()
	if i.Text != "" {
		line += ": " + i.Text
	}
	switch {
	case i.Line > 0:
		line += fmt.Sprintf(" (%s:%d)", i.File, i.Line)
	case i.File != "" && i.File != i.Value:
		line += fmt.Sprintf(" (%s)", i.File)
	}
	return skills.Visible(line)
}
