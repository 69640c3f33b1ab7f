package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/scriptio"
)

// items returns the contents that a script names. The error names the first one that is
// not valid, for the script's author.
func (r *attachments) items(items []scriptio.Item, taken []sandbox.File) ([]mcp.Content, error) {
	var contents []mcp.Content
	for i, item := range items {
		content, data, err := item.Content, item.Data, error(nil)
		if item.Path != "" {
			content, data, err = r.named(item, taken)
		}
		if err == nil {
			content, err = r.admit(i, content, data)
		}
		if err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// admit returns a content in a form that the client knows. The error says that there is
// no room for it.
func (r *attachments) admit(i int, content mcp.Content, data []byte) (mcp.Content, error) {
	switch c := content.(type) {
	case mcp.TextContent:
		c.Text = r.text(c.Text)
		return c, nil
	case mcp.ImageContent:
		return c, r.medium(data)
	case mcp.AudioContent:
		if err := r.medium(data); err != nil || r.sounds {
			return c, err
		}
		return r.instead(c.MIMEType, i, data), nil
	case mcp.EmbeddedResource:
		text, ok := c.Resource.(mcp.TextResourceContents)
		if !ok {
			return c, r.medium(data)
		}
		if r.texts += len(text.Text); r.texts > maxTexts {
			return nil, fmt.Errorf("the texts are larger than %d bytes in all; leave this one in /out and name it by its path", maxTexts)
		}
		return c, nil
	case mcp.ResourceLink:
		if !r.links {
			return mcp.NewTextContent(fmt.Sprintf("%s: %s", c.Name, c.URI)), nil
		}
	}
	return content, nil
}

// text cuts a text that is longer than a model reads.
func (r *attachments) text(text string) string {
	room := max(maxText-r.texts, 0)
	r.texts += len(text)
	if len(text) <= room {
		return text
	}
	r.cut = true
	return strings.ToValidUTF8(string(sandbox.Output{Head: []byte(text), Total: int64(len(text))}.Cut(room).Bytes()), "\ufffd")
}

// medium makes room for the bytes of an image, a sound or a binary.
func (r *attachments) medium(data []byte) error {
	if r.media += len(data); len(data) > maxInlineMedia || r.media > maxMedia {
		return fmt.Errorf("it is larger than %d bytes, or all are larger than %d; leave it in /out and name it by its path, as a resource_link", maxInlineMedia, maxMedia)
	}
	return nil
}

// instead returns a text with the URI of a content that the client does not know.
func (r *attachments) instead(mediaType string, i int, data []byte) mcp.Content {
	uri := r.store(fmt.Sprintf("content/%d", i), mediaType, data)
	return mcp.NewTextContent(fmt.Sprintf("%s, %s: %s", mediaType, sandbox.Bytes(int64(len(data))), uri))
}

// named returns a file of /out as the content that the script wants it to be.
func (r *attachments) named(item scriptio.Item, taken []sandbox.File) (mcp.Content, []byte, error) {
	i := slices.IndexFunc(taken, func(f sandbox.File) bool { return f.Name == item.Path })
	if i < 0 {
		return nil, nil, fmt.Errorf("%q is not among the files that were taken from /out", item.Path)
	}
	data := taken[i].Data
	f := outFiles(taken[i : i+1])[0]
	if item.MIMEType != "" {
		f.MIMEType = item.MIMEType
	}
	f.URI = r.store("out/"+f.Name, f.MIMEType, data)
	r.shown = append(r.shown, f.Name)
	content, err := contentAs(item.Type, &f, data)
	return item.Annotate(content), data, err
}
