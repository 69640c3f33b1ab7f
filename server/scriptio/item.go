package scriptio

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/media"
)

// An Item is one content of a result: a content of MCP, or a file in /out.
type Item struct {
	// Content is nil where Path names a file. It is annotated.
	Content mcp.Content
	// Data are the decoded bytes of an image, a sound, or an embedded resource that
	// is no text.
	Data []byte

	// Path is the path of a file below /out.
	Path string
	// Type and MIMEType are the content's type and the media type of the file; "" is
	// the default.
	Type, MIMEType string

	annotations *mcp.Annotations
	meta        *mcp.Meta
}

// Annotate returns a content with the script's annotations and _meta.
func (i *Item) Annotate(content mcp.Content) mcp.Content {
	switch c := content.(type) {
	case mcp.TextContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.ImageContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.AudioContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.EmbeddedResource:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.ResourceLink:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	}
	return content
}

func parseItem(raw json.RawMessage) (Item, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && bytes.HasPrefix(raw, []byte(`"`)) {
		return Item{Content: mcp.NewTextContent(text)}, nil
	}
	var w wireItem
	if !bytes.HasPrefix(raw, []byte("{")) {
		return Item{}, errors.New("it is neither a text nor an object")
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Item{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if err := w.checkAnnotations(); err != nil {
		return Item{}, err
	}
	read := w.content
	if w.Path != nil {
		read = w.file
	}
	item, err := read()
	if err != nil {
		return Item{}, err
	}
	item.annotations, item.meta = w.Annotations, w.Meta
	item.Content = item.Annotate(item.Content)
	return item, nil
}

// wireItem is the JSON of an item, with the fields of all types of content.
type wireItem struct {
	Type        string           `json:"type"`
	Text        *string          `json:"text"`
	Data        *string          `json:"data"`
	MIMEType    string           `json:"mimeType"`
	URI         string           `json:"uri"`
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Size        *int64           `json:"size"`
	Resource    *resource        `json:"resource"`
	Path        *string          `json:"path"`
	Annotations *mcp.Annotations `json:"annotations"`
	Meta        *mcp.Meta        `json:"_meta"`
}

// resource is the JSON of an embedded resource.
type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     *string `json:"blob"`
}

func (w *wireItem) checkAnnotations() error {
	if w.Annotations == nil {
		return nil
	}
	for _, role := range w.Annotations.Audience {
		if role != mcp.RoleUser && role != mcp.RoleAssistant {
			return fmt.Errorf("annotations.audience has %q, which is neither user nor assistant", role)
		}
	}
	if p := w.Annotations.Priority; p != nil && (*p < 0 || *p > 1) {
		return errors.New("annotations.priority is not between 0 and 1")
	}
	if at := w.Annotations.LastModified; at != "" {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			return fmt.Errorf("annotations.lastModified is %q, which is not a time like 2026-01-31T12:00:00Z", at)
		}
	}
	return nil
}

// file returns an item that names a file.
func (w *wireItem) file() (Item, error) {
	name := path.Clean(strings.TrimPrefix(*w.Path, "/out/"))
	switch {
	case name == "." || name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name):
		return Item{}, fmt.Errorf("path %q is not that of a file below /out", *w.Path)
	case w.Type == "", w.Type == mcp.ContentTypeText, w.Type == mcp.ContentTypeImage, w.Type == mcp.ContentTypeAudio,
		w.Type == mcp.ContentTypeResource, w.Type == mcp.ContentTypeLink:
		return Item{Path: name, Type: w.Type, MIMEType: w.MIMEType}, nil
	}
	return Item{}, w.unknownType()
}

func (w *wireItem) unknownType() error {
	if w.Type == "" {
		return errors.New("it has neither a type nor a path")
	}
	return fmt.Errorf("the type %q is none of text, image, audio, resource and resource_link", w.Type)
}

// content returns an item that is a content of MCP.
func (w *wireItem) content() (Item, error) {
	switch w.Type {
	case mcp.ContentTypeText:
		if w.Text == nil {
			return Item{}, errors.New("there is no text")
		}
		return Item{Content: mcp.NewTextContent(*w.Text)}, nil
	case mcp.ContentTypeImage:
		return w.image()
	case mcp.ContentTypeAudio:
		return w.audio()
	case mcp.ContentTypeResource:
		return w.embedded()
	case mcp.ContentTypeLink:
		return w.link()
	}
	return Item{}, w.unknownType()
}

func (w *wireItem) image() (Item, error) {
	data, err := decode("data", w.Data)
	if err != nil {
		return Item{}, err
	}
	if !media.IsPicture(w.MIMEType, data) {
		return Item{}, fmt.Errorf("data is no picture of mimeType %q that models can look at (image/png, image/jpeg, image/gif, image/webp)", w.MIMEType)
	}
	return Item{Content: mcp.NewImageContent(*w.Data, w.MIMEType), Data: data}, nil
}

func (w *wireItem) audio() (Item, error) {
	data, err := decode("data", w.Data)
	if err != nil {
		return Item{}, err
	}
	if !strings.HasPrefix(w.MIMEType, "audio/") {
		return Item{}, fmt.Errorf("mimeType %q is not of a sound, such as audio/wav", w.MIMEType)
	}
	return Item{Content: mcp.NewAudioContent(*w.Data, w.MIMEType), Data: data}, nil
}

func (w *wireItem) embedded() (Item, error) {
	in := w.Resource
	if in == nil || (in.Text == nil) == (in.Blob == nil) {
		return Item{}, errors.New("there is no resource with either text or blob")
	}
	if err := checkURI("resource.uri", in.URI); err != nil {
		return Item{}, err
	}
	if in.Text != nil {
		return Item{Content: mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: in.URI, MIMEType: in.MIMEType, Text: *in.Text})}, nil
	}
	data, err := decode("resource.blob", in.Blob)
	if err != nil {
		return Item{}, err
	}
	return Item{Content: mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: in.URI, MIMEType: in.MIMEType, Blob: *in.Blob}), Data: data}, nil
}

func (w *wireItem) link() (Item, error) {
	if err := checkURI("uri", w.URI); err != nil {
		return Item{}, err
	}
	if w.Name == "" {
		return Item{}, errors.New("a resource_link has no name")
	}
	if w.Size != nil && *w.Size < 0 {
		return Item{}, errors.New("size is below 0")
	}
	c := mcp.NewResourceLink(w.URI, w.Name, w.Description, w.MIMEType)
	c.Title, c.Size = w.Title, w.Size
	return Item{Content: c}, nil
}

func decode(name string, encoded *string) ([]byte, error) {
	if encoded == nil || *encoded == "" {
		return nil, fmt.Errorf("there is no %s", name)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(*encoded)
	if err != nil || strings.ContainsAny(*encoded, "\r\n") { // which Go skips, and clients may not
		return nil, fmt.Errorf("%s is not base64 in one line (base64 -w0)", name)
	}
	return data, nil
}

// maxURI is the longest URI, in bytes.
const maxURI = 2 << 10

func checkURI(name, uri string) error {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme == "" || len(uri) > maxURI {
		return fmt.Errorf("%s is not a URI with a scheme, of at most %d bytes", name, maxURI)
	}
	switch parsed.Scheme { // which a client might follow
	case "javascript", "vbscript", "data":
		return fmt.Errorf("%s has the scheme %s, which leads to no resource", name, parsed.Scheme)
	}
	return nil
}
