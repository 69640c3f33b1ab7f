package lab

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// Prompt returns the texts of a prompt's messages, or its error.
func (c *Client) Prompt(name string, arguments map[string]string) (text string, err error) {
	c.t.Helper()
	var request mcp.GetPromptRequest
	request.Params.Name, request.Params.Arguments = name, arguments
	result, err := c.GetPrompt(c.t.Context(), request)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, message := range result.Messages {
		texts = append(texts, string(message.Role)+": "+mcp.GetTextFromContent(message.Content))
	}
	return strings.Join(texts, "\n"), nil
}

func (c *Client) Read(uri string) (string, error) {
	c.t.Helper()
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	result, err := c.ReadResource(c.t.Context(), request)
	if err != nil {
		return "", err
	}
	text, _ := mcp.AsTextResourceContents(result.Contents[0])
	return text.Text, nil
}
