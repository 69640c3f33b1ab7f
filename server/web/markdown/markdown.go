// Package markdown renders the Markdown of strangers as HTML that can do nothing.
package markdown

import (
	"bytes"
	"html/template"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
)

// Render returns the HTML of a Markdown text: no script, style, form, frame or remote
// content is left in it.
func Render(text string) template.HTML {
	var out bytes.Buffer
	if err := goldmark.Convert([]byte(text), &out); err != nil {
		return ""
	}
	return template.HTML(bluemonday.UGCPolicy().SanitizeBytes(out.Bytes()))
}
