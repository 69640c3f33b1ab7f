package elicit

import (
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// linkParams are the params of a request to open a link (elicitation, URL mode).
type linkParams struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	ID      string `json:"elicitationId"`
	URL     string `json:"url"`
}

// NewForm returns a request to a person that is the server's own: the message is sent as
// it is. A skill's message must not reach it unmarked.
func NewForm(message string, schema json.RawMessage) (*Request, error) {
	content, err := compileForm(schema)
	if err != nil {
		return nil, err
	}
	// The first two lines are also what Claude's Agent SDK hands to applications that show a
	// question as a permission prompt (ElicitationRequest: title, description).
	display := map[string]string{"displayName": "skills-mcp"}
	display["title"], display["description"], _ = strings.Cut(message, "\n")
	display["description"], _, _ = strings.Cut(display["description"], "\n")
	params, err := json.Marshal(struct {
		formParams
		Meta map[string]any `json:"_meta"`
	}{formParams{Message: message, Schema: schema}, map[string]any{"anthropic/permissionDisplay": display}})
	return &Request{Method: methodPerson, Params: params, content: content}, err
}

// NewLink returns a request to a person to open a page of the server. An accepting answer
// says that the page was opened, and nothing of the answer that is given there.
func NewLink(message, id, url string) (*Request, error) {
	params, err := json.Marshal(linkParams{mcp.ElicitationModeURL, message, id, url})
	return &Request{Method: methodPerson, Params: params}, err
}

// ShowsForms reports whether a client shows the server's own forms to its person. nil
// shows none.
func (c *Client) ShowsForms() bool {
	return c != nil && c.Asker != nil && !c.ScriptsOnly && c.missing(methodPerson) == nil
}

// OpensLinks reports whether a client opens the server's own links for its person. nil opens none.
func (c *Client) OpensLinks() bool {
	return c != nil && c.Asker != nil && !c.ScriptsOnly && c.Can != nil && c.Can.Elicitation != nil && c.Can.Elicitation.URL != nil
}
