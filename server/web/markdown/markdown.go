// Package markdown renders the Markdown of strangers as HTML that can do nothing: it runs
// no script, loads nothing, and hides no text.
//
// Start with [Render].
package markdown

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// MaxText is the part of a text that is rendered, in bytes, so that none takes longer than
// about a second. A note follows it.
const MaxText = 256 << 10

const cutNote = "<p><em>Only the first 256 KiB of the text are shown here. Its file has the rest.</em></p>"

// Render returns the HTML of a Markdown text, for a section whose heading is an h2. Its own
// headings begin at h3 and skip no level. HTML in the text is shown as text, an image is a
// link, and a link to a file becomes one to the URL that file returns for its path in the
// skill's folder: "" is no link. A nil file makes no such links.
//
// A text that nests deeper than people write is shown as it is, since the time to parse it
// grows with its square.
func Render(text string, file func(path string) string) template.HTML {
	text, cut := bounded(text)
	out := preformatted(text)
	if !hostile(text) {
		out = convert(text, file)
	}
	out = termtext.Legible(out)
	if cut {
		out += cutNote
	}
	return template.HTML(out)
}

// bounded returns the part of a text that is rendered.
func bounded(text string) (part string, cut bool) {
	if len(text) <= MaxText {
		return text, false
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}

// preformatted returns a text as it is written.
func preformatted(text string) string {
	return `<pre tabindex="0">` + template.HTMLEscapeString(text) + "</pre>"
}

// convert returns the sanitized HTML of a text.
func convert(text string, file func(path string) string) string {
	var out bytes.Buffer
	if err := newConverter(file).Convert([]byte(text), &out); err != nil {
		return preformatted(text)
	}
	clean := policy().Sanitize(out.String())
	if deep(clean) {
		return preformatted(text)
	}
	// Boxes that scroll can be reached by keyboard. No text looks like a tag any more.
	return scrolling.Replace(clean)
}

var scrolling = strings.NewReplacer(
	"<table>", `<div class="scroll" tabindex="0"><table class="table">`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`)

func newConverter(file func(path string) string) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(headings{}, 100))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&nodes{file: file}, 100))),
	)
}

// policy returns the elements and attributes that remain. The converter makes no others:
// this is the second wall.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del", "ul", "li",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowElements("ol")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9+#-]{1,32}$`)).OnElements("code")
	p.AllowAttrs("href", "rel").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // the file function's alone
	p.RequireNoFollowOnLinks(true)
	return p
})
