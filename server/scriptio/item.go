package scriptio

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/media"
)

// An Item is one content of a result: a content of MCP, or a file in /out.
type Item struct {
	// Content is nil where Path names a file.
	Content mcp.Content
	// Data are the decoded bytes of an image, a sound, or an embedded resource that
	// is no text.
	Data []byte

	// Path is the path of a file below /out.
	Path string
	// Type and MIMEType are the content's type and the media type of the file; "" is
	// the default.
	Type, MIMEType string
}

// An itemHead has the fields of an item that are checked here; mcp-go decodes the others.
type itemHead struct {
	Type, MIMEType string
	Path, Text     *string
	Annotations    *mcp.Annotations
	Meta           json.RawMessage `json:"_meta"`
}

// types are the types of content that a result can have.
var types = []string{mcp.ContentTypeText, mcp.ContentTypeImage, mcp.ContentTypeAudio, mcp.ContentTypeResource, mcp.ContentTypeLink}

func parseItem(raw json.RawMessage) (Item, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && bytes.HasPrefix(raw, []byte(`"`)) {
		return Item{Content: mcp.NewTextContent(text)}, nil
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return Item{}, errors.New("it is neither a text nor an object")
	}
	var head itemHead
	err := json.Unmarshal(raw, &head)
	switch {
	case err != nil:
		return Item{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case head.Type == "" && head.Path == nil:
		return Item{}, errors.New("it has neither a type nor a path")
	case head.Type != "" && !slices.Contains(types, head.Type):
		return Item{}, fmt.Errorf("the type %q is none of text, image, audio, resource and resource_link", head.Type)
	case head.Path != nil:
		return head.file()
	case head.Type == mcp.ContentTypeText && head.Text == nil:
		return Item{}, errors.New("there is no text")
	}
	content, err := mcp.UnmarshalContent(raw)
	switch {
	case err != nil && head.Type == mcp.ContentTypeResource:
		return Item{}, errors.New("there is no resource with a uri, and either text or blob")
	case err != nil:
		return Item{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	data, err := check(content)
	if err == nil {
		err = checkAnnotations(head.Annotations)
	}
	return Item{Content: content, Data: data}, err
}

// file returns an item that names a file.
func (h *itemHead) file() (Item, error) {
	name := path.Clean(strings.TrimPrefix(*h.Path, "/out/"))
	switch {
	case name == "." || name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name):
		return Item{}, fmt.Errorf("path %q is not that of a file below /out", *h.Path)
	case h.Annotations != nil || h.Meta != nil:
		return Item{}, errors.New("a file that is named by its path has neither annotations nor _meta")
	}
	return Item{Path: name, Type: h.Type, MIMEType: h.MIMEType}, nil
}

// check returns the decoded bytes of a content, or an error for one that clients or models
// would refuse: some end a conversation for it.
func check(content mcp.Content) (data []byte, err error) {
	switch c := content.(type) {
	case mcp.ImageContent:
		if data, err = decode("data", c.Data); err == nil && !media.IsPicture(c.MIMEType, data) {
			err = fmt.Errorf("data is no picture of mimeType %q that models can look at (image/png, image/jpeg, image/gif, image/webp)", c.MIMEType)
		}
	case mcp.AudioContent:
		if data, err = decode("data", c.Data); err == nil && !strings.HasPrefix(c.MIMEType, "audio/") {
			err = fmt.Errorf("mimeType %q is not of a sound, such as audio/wav", c.MIMEType)
		}
	case mcp.EmbeddedResource:
		switch r := c.Resource.(type) {
		case mcp.TextResourceContents:
			return nil, checkURI("resource.uri", r.URI)
		case mcp.BlobResourceContents:
			if data, err = decode("resource.blob", r.Blob); err == nil {
				err = checkURI("resource.uri", r.URI)
			}
		}
	case mcp.ResourceLink:
		switch {
		case c.Name == "":
			return nil, errors.New("a resource_link has no name")
		case c.Size != nil && *c.Size < 0:
			return nil, errors.New("size is below 0")
		}
		return nil, checkURI("uri", c.URI)
	}
	return data, err
}

func checkAnnotations(a *mcp.Annotations) error {
	if a == nil {
		return nil
	}
	for _, role := range a.Audience {
		if role != mcp.RoleUser && role != mcp.RoleAssistant {
			return fmt.Errorf("annotations.audience has %q, which is neither user nor assistant", role)
		}
	}
	if a.Priority != nil && (*a.Priority < 0 || *a.Priority > 1) {
		return errors.New("annotations.priority is not between 0 and 1")
	}
	if _, err := time.Parse(time.RFC3339, a.LastModified); err != nil && a.LastModified != "" {
		return fmt.Errorf("annotations.lastModified is %q, which is not a time like 2026-01-31T12:00:00Z", a.LastModified)
	}
	return nil
}

func decode(name, encoded string) ([]byte, error) {
	if encoded == "" {
		return nil, fmt.Errorf("there is no %s", name)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // which Go skips, and clients may not
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
