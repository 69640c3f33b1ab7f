package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A listing is a server's description of itself, or the reason that there is none.
type listing struct {
	Instructions string     `json:"instructions,omitempty"`
	Tools        []tool     `json:"tools"`
	Prompts      []prompt   `json:"prompts,omitempty"`
	Resources    []resource `json:"resources,omitempty"` // and templates
	// Hooks names the events of its hooks, as in [skills.ServerCall].
	Hooks []string `json:"hooks,omitempty"`
	// Known reports that the server has listed its tools.
	Known bool `json:"known"`
	// Fault is the reason of the last failure; "" is none since the last start.
	Fault string    `json:"fault,omitempty"`
	At    time.Time `json:"at,omitzero"` // of the fault
}

// A tool is a tool as its server lists it.
type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  struct {
		Title string `json:"title,omitempty"`
	} `json:"annotations,omitzero"`
	// Meta has what the host of a plugin of Conduit's says.
	Meta struct {
		Permission string `json:"skills-mcp/permission,omitempty"`
	} `json:"_meta,omitzero"`
}

// A prompt is a prompt as its server lists it.
type prompt struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Arguments   []struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	} `json:"arguments,omitempty"`
}

// tool returns a prompt as a tool, whose structure has the role of each message.
func (p *prompt) tool() *tool {
	arguments := jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for _, a := range p.Arguments {
		if a.Name == "" {
			continue
		}
		arguments.Properties.Set(a.Name, &jsonschema.Schema{Type: "string", Description: truncate.String(a.Description, maxText)})
		if a.Required && !slices.Contains(arguments.Required, a.Name) {
			arguments.Required = append(arguments.Required, a.Name)
		}
	}
	t := &tool{Name: p.Name, Title: truncate.String(p.Title, maxName), Description: truncate.String(p.Description, maxText), OutputSchema: json.RawMessage(`{"type":"object"}`)}
	t.InputSchema, _ = json.Marshal(&arguments) // texts can be encoded
	return t
}

// Bounds of texts, in bytes.
const (
	maxName = 200  // the name of a tool
	maxText = 1024 // the description of a prompt or an argument
)

// A resource is a resource as its server lists it, or a template.
type resource struct {
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// reader returns the tool that reads the resources of a server.
func reader() *tool {
	return &tool{Name: "resources", Description: "Reads a resource of the server, for a client.", InputSchema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"The URI that the resource has for the server."}},"required":["uri"]}`)}
}

// definition returns the digest of a tool.
func (t *tool) definition() string {
	text, _ := json.Marshal(t) // its parts were decoded from JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxListing bounds the listing of a server, in bytes.
const maxListing = 2 << 20
