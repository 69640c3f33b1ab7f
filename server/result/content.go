package result

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/media"
)

// Bounds of the contents of a result; the rest is linked to.
const (
	maxInlineMedia = 1 << 20 // bytes of an image or a sound
	maxInlineText  = 8 << 10 // bytes of a text
	maxMedia       = 4 << 20 // bytes of all images and sounds of a result
	maxTexts       = MaxText // bytes of all texts of files
)

// Texts returns the texts among contents, a line each.
func Texts(contents []mcp.Content) string {
	var all []string
	for _, content := range contents {
		if text, ok := mcp.AsTextContent(content); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// onlyTexts reports whether contents are all texts.
func onlyTexts(contents []mcp.Content) bool {
	return !slices.ContainsFunc(contents, func(c mcp.Content) bool { _, text := mcp.AsTextContent(c); return !text })
}

// newLink returns a link to a resource of a size in bytes.
func newLink(uri, name, description, mediaType string, size int) mcp.ResourceLink {
	link := mcp.NewResourceLink(uri, name, description, mediaType)
	bytes := int64(size)
	link.Size = &bytes
	return link
}

// inlineKind returns the kind of content as which a model can use a file, or "".
func inlineKind(f *File, data []byte) string {
	switch {
	case len(data) <= maxInlineMedia && media.IsPicture(f.MIMEType, data):
		return mcp.ContentTypeImage
	case len(data) <= maxInlineMedia && strings.HasPrefix(f.MIMEType, "audio/"):
		return mcp.ContentTypeAudio
	case len(data) <= maxInlineText && media.IsText(data) && f.URI != "":
		return mcp.ContentTypeResource
	}
	return ""
}

// contentAs returns a file as content of a kind; "" is the kind as which a model can use
// it, or else a link. The error says that the file is not of that kind.
func contentAs(kind string, f *File, data []byte) (mcp.Content, error) {
	encoded := base64.StdEncoding.EncodeToString
	text := media.IsText(data)
	switch {
	case kind == "":
		if kind = inlineKind(f, data); kind == "" {
			kind = mcp.ContentTypeLink
		}
		return contentAs(kind, f, data)
	case kind == mcp.ContentTypeText && text:
		return mcp.NewTextContent(string(data)), nil
	case kind == mcp.ContentTypeImage && media.IsPicture(f.MIMEType, data):
		return mcp.NewImageContent(encoded(data), f.MIMEType), nil
	case kind == mcp.ContentTypeAudio && strings.HasPrefix(f.MIMEType, "audio/"):
		return mcp.NewAudioContent(encoded(data), f.MIMEType), nil
	case kind == mcp.ContentTypeResource:
		return mcp.NewEmbeddedResource(Resource(f.URI, f.MIMEType, data)), nil
	case kind == mcp.ContentTypeLink:
		return newLink(f.URI, f.Name, "", f.MIMEType, len(data)), nil
	}
	return nil, fmt.Errorf("%q, of the type %s, cannot be shown as %s", f.Name, f.MIMEType, kind)
}

// Resource returns data as the contents of a resource: text, or else base64.
func Resource(uri, mediaType string, data []byte) mcp.ResourceContents {
	if media.IsText(data) {
		return mcp.TextResourceContents{URI: uri, MIMEType: mediaType, Text: string(data)}
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: mediaType, Blob: base64.StdEncoding.EncodeToString(data)}
}

// Resources returns contents as those of a resource.
func Resources(uri string, all []mcp.Content) []mcp.ResourceContents {
	var converted []mcp.ResourceContents
	for _, content := range all {
		switch c := content.(type) {
		case mcp.TextContent:
			converted = append(converted, mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: c.Text})
		case mcp.ImageContent:
			converted = append(converted, mcp.BlobResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: c.Data})
		case mcp.AudioContent:
			converted = append(converted, mcp.BlobResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: c.Data})
		case mcp.EmbeddedResource:
			converted = append(converted, c.Resource)
		case mcp.ResourceLink:
			converted = append(converted, mcp.TextResourceContents{URI: uri, MIMEType: "text/uri-list", Text: c.URI + "\r\n"})
		}
	}
	return converted
}
