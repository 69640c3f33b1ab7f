// Package markdown renders the Markdown of strangers as HTML that can do nothing: it runs
// no script, loads nothing, and hides no text.
//
// Start with [Render].
package markdown

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/web/markup"
)

// MaxText is the part of a text that is rendered, in bytes. A note follows it. It bounds the
// time, which for the worst texts grows with the square of their length: 3 s.
const MaxText = 64 << 10

const cutNote = "<p><em>Only the first 64 KiB of the text are shown here. Its file has the rest.</em></p>"

const (
	// maxCells bounds the cells of tables: the parser fills up short rows.
	maxCells = 100_000
	// maxDepth bounds the nesting of elements; browsers stop at 512.
	maxDepth = 128
)

// Render returns the HTML of a Markdown text, for a section whose heading is an h2. Its own
// headings begin at h3 and skip no level. HTML in the text is shown as text, an image is a
// link, and a link to a file becomes one to the URL that file returns for its path in the
// skill's folder: "" is no link. A nil file makes no such links.
//
// A text with wider tables or deeper nesting than people write is shown as it is.
func Render(text string, file func(path string) string) markup.HTML {
	text, cut := bounded(text)
	out := termtext.Legible(convert(text, file))
	if cut {
		out += cutNote
	}
	return markup.HTML(out)
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
	return `<pre tabindex="0">` + html.EscapeString(text) + "</pre>"
}

// convert returns the HTML of a text. Every element and attribute is goldmark's or of
// [nodes], which escape all that is of the text.
func convert(text string, file func(path string) string) string {
	var out bytes.Buffer
	if wide(text) || newConverter(file).Convert([]byte(text), &out) != nil || deep(out.String()) {
		return preformatted(text)
	}
	// Boxes that scroll can be reached by keyboard. No text looks like a tag any more.
	return scrolling.Replace(out.String())
}

// wide reports whether the widest row, repeated on each line, has too many cells.
func wide(text string) bool {
	bars, lines := 0, 0
	for line := range strings.Lines(text) {
		bars, lines = max(bars, strings.Count(line, "|")), lines+1
	}
	return bars*lines > maxCells
}

// deep reports whether the elements of HTML nest too deep. Each '<' begins a tag.
func deep(html string) bool {
	depth := 0
	for {
		_, rest, found := strings.Cut(html, "<")
		switch {
		case !found:
			return false
		case strings.HasPrefix(rest, "/"):
			depth--
		case !strings.HasPrefix(rest, "br") && !strings.HasPrefix(rest, "hr"):
			depth++
		}
		if depth > maxDepth {
			return true
		}
		html = rest
	}
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
