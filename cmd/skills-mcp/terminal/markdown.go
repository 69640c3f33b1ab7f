package terminal

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// Markdown renders a stranger's Markdown for a screen with a width. Where there are no
// colours, emphasis, code and headings keep their marks.
func (s Screen) Markdown(source string) string {
	p := &page{screen: s, source: []byte(termtext.Text(source))}
	p.blocks(goldmark.DefaultParser().Parse(text.NewReader(p.source)), "", "", false)
	return p.out.String()
}

// A page is a rendered document.
type page struct {
	screen Screen
	source []byte
	out    strings.Builder
}

// blocks writes the blocks of a node. first begins the first line, and rest all others.
func (p *page) blocks(parent ast.Node, first, rest string, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && !tight {
			p.out.WriteString(strings.TrimRight(rest, " ") + "\n")
		}
		p.block(n, first, rest)
		first = rest
	}
	if !parent.HasChildren() && first != rest { // an empty item of a list
		p.out.WriteString(strings.TrimRight(first, " ") + "\n")
	}
}

func (p *page) block(n ast.Node, first, rest string) {
	switch b := n.(type) {
	case *ast.Heading:
		mark := strings.Repeat("#", b.Level) + " "
		if p.screen.Color {
			mark = ""
		}
		p.wrap(p.spans(b, Bold), first+mark, rest)
	case *ast.Blockquote:
		p.blocks(b, p.indent(first, "│ "), p.indent(rest, "│ "), false)
	case *ast.List:
		number := b.Start
		for item := b.FirstChild(); item != nil; item = item.NextSibling() {
			mark := "• "
			if b.IsOrdered() {
				mark = fmt.Sprintf("%d. ", number)
				number++
			}
			p.blocks(item, p.indent(first, mark), p.indent(rest, strings.Repeat(" ", Width(mark))), b.IsTight)
			first = rest
			if !b.IsTight && item.NextSibling() != nil {
				p.out.WriteString(strings.TrimRight(rest, " ") + "\n")
			}
		}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		p.lines(b, Cyan, p.indent(first, "    "), p.indent(rest, "    "))
	case *ast.HTMLBlock:
		p.lines(b, Dim, first, rest)
	case *ast.ThematicBreak:
		p.out.WriteString(first + strings.Repeat("─", max(3, p.screen.Width-Width(rest))) + "\n")
	default:
		if lines := n.Lines(); lines.Len() > 0 && p.source[lines.At(0).Start] == '|' { // of a table
			p.lines(n, Plain, first, rest)
			return
		}
		p.wrap(p.spans(n, Plain), first, rest)
	}
}

// indent adds to the beginning of a line, unless it takes half of it already.
func (p *page) indent(line, more string) string {
	if Width(line+more) > p.screen.Width/2 {
		return line
	}
	return line + more
}

// lines writes the lines of a block as they are.
func (p *page) lines(n ast.Node, style Style, first, rest string) {
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		p.out.WriteString(first + p.screen.Paint(style, strings.TrimRight(string(at.Value(p.source)), "\r\n")) + "\n")
		first = rest
	}
}

// A span is a part of a text in one style.
type span struct {
	style Style
	text  string
}

// wrap writes spans in lines that fit the screen.
func (p *page) wrap(spans []span, first, rest string) {
	room := p.screen.Width - Width(rest)
	used, word, width := 0, "", 0 // of the line; the styled word and its width
	p.out.WriteString(first)
	end := func() { // of the word
		switch {
		case word == "":
			return
		case used > 0 && used+1+width > room:
			p.out.WriteString("\n" + rest)
			used = 0
		case used > 0:
			p.out.WriteByte(' ')
			used++
		}
		p.out.WriteString(word)
		used, word, width = used+width, "", 0
	}
	for _, s := range spans {
		for i, part := range strings.FieldsFunc(strings.ReplaceAll(s.text, "\n", " \n "), func(r rune) bool { return r == ' ' || r == '\t' }) {
			if i > 0 || strings.ContainsAny(s.text[:1], " \t\n") {
				end()
			}
			if part == "\n" {
				p.out.WriteString("\n" + rest)
				used = 0
				continue
			}
			for k, piece := range Wrap(part, max(2, room)) {
				if k > 0 {
					end()
				}
				word, width = word+p.screen.Paint(s.style, piece), width+Width(piece)
			}
		}
		if strings.ContainsAny(s.text[len(s.text)-1:], " \t\n") {
			end()
		}
	}
	end()
	p.out.WriteByte('\n')
}

// spans returns the text of a node's children in its style. Entities become characters
// here, so each text is sanitized again.
func (p *page) spans(parent ast.Node, style Style) (all []span) {
	add := func(style Style, text string) {
		if text = termtext.Text(text); text != "" {
			all = append(all, span{style, text})
		}
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch i := n.(type) {
		case *ast.Text:
			text := i.Segment.Value(p.source)
			if !i.IsRaw() {
				text = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(text)))
			}
			add(style, strings.ReplaceAll(string(text), "\n", " "))
			if i.HardLineBreak() {
				add(Plain, "\n")
			} else if i.SoftLineBreak() {
				add(Plain, " ")
			}
		case *ast.Emphasis:
			mark, inner := strings.Repeat("*", i.Level), []Style{Italic, Bold}[min(1, i.Level-1)]
			all = append(all, p.marked(mark, p.spans(i, join(style, inner)))...)
		case *ast.CodeSpan:
			all = append(all, p.marked("`", p.spans(i, join(style, Cyan)))...)
		case *ast.Link:
			all = append(all, p.spans(i, join(style, Underline))...)
			add(Dim, " <"+string(i.Destination)+">")
		case *ast.Image:
			all = append(all, p.spans(i, style)...)
			add(Dim, " <"+string(i.Destination)+">")
		case *ast.AutoLink:
			add(join(style, Underline), string(i.URL(p.source)))
		case *ast.RawHTML:
			for at := range i.Segments.Len() {
				segment := i.Segments.At(at)
				add(Dim, strings.ReplaceAll(string(segment.Value(p.source)), "\n", " "))
			}
		default:
			all = append(all, p.spans(n, style)...)
		}
	}
	return all
}

// marked puts a mark around spans where there are no colours.
func (p *page) marked(mark string, spans []span) []span {
	if p.screen.Color {
		return spans
	}
	return append(append([]span{{Plain, mark}}, spans...), span{Plain, mark})
}

// join returns both of two styles.
func join(a, b Style) Style {
	if a == Plain {
		return b
	}
	return a + ";" + b
}
