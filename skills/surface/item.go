package surface

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

// key returns the identity of an item.
func (i Item) key() string { return string(i.Kind) + "\x00" + i.Value }
