package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// A listing is a server's description of itself, or the reason that there is none.
type listing struct {
	Instructions string `json:"instructions,omitempty"`
	Tools        []tool `json:"tools"`
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

// definition returns the digest of a tool.
func (t *tool) definition() string {
	text, _ := json.Marshal(t) // its parts were decoded from JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxListing bounds the listing of a server, in bytes.
const maxListing = 2 << 20
