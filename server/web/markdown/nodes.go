package markdown

import (
	"errors"
	"html"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// headings gives the headings of a text levels below h2 that skip none: readers of a
// screen go by them.
type headings struct{}

// Transform implements [parser.ASTTransformer].
func (headings) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var open []int // the levels of the sections around, as they are written
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		for len(open) > 0 && open[len(open)-1] >= h.Level {
			open = open[:len(open)-1]
		}
		open = append(open, h.Level)
		h.Level = min(2+len(open), 6)
		return ast.WalkSkipChildren, nil
	})
}

// nodes renders the elements that lead elsewhere or would be HTML of the text's own.
type nodes struct {
	file  func(path string) string // see [Render]
	spent int                      // bytes of destinations so far
}

// maxTargets bounds the bytes of all destinations: a short reference repeats a long one. It
// is twice the longest text.
const maxTargets = 512 << 10

var errTargets = errors.New("the destinations of the links are longer than the text")

// spend counts a destination, which entering has for the first time.
func (r *nodes) spend(destination []byte, entering bool) error {
	if entering {
		r.spent += len(destination)
	}
	if r.spent > maxTargets {
		return errTargets
	}
	return nil
}

// RegisterFuncs implements [renderer.NodeRenderer].
func (r *nodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, r.link)
	reg.Register(ast.KindImage, r.image)
	reg.Register(ast.KindAutoLink, r.autoLink)
	reg.Register(ast.KindRawHTML, rawHTML)
	reg.Register(ast.KindHTMLBlock, htmlBlock)
	reg.Register(extast.KindTaskCheckBox, checkBox)
}

// target returns the URL that a link may have, or "".
func (r *nodes) target(destination string) string {
	u, err := url.Parse(destination)
	switch {
	case err != nil || u.Opaque != "" && u.Scheme != "mailto":
		return ""
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
		return u.String()
	case u.Scheme != "" || u.Host != "" || u.User != nil || u.Path == "" || r.file == nil:
		return ""
	}
	name := path.Clean(u.Path)
	if !fs.ValidPath(name) || name == "." {
		return ""
	}
	return r.file(name)
}

func (r *nodes) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if err := r.spend(n.(*ast.Link).Destination, entering); err != nil {
		return ast.WalkStop, err
	}
	destination := string(n.(*ast.Link).Destination)
	target := r.target(destination)
	switch {
	case entering && target != "":
		open(w, target)
	case target != "":
		write(w, "</a>")
	case !entering && destination != "" && !strings.HasPrefix(destination, "#"):
		write(w, " ("+html.EscapeString(destination)+")")
	}
	return ast.WalkContinue, nil
}

// image renders an image as a link with its alternative text: nothing is loaded.
func (r *nodes) image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if err := r.spend(n.(*ast.Image).Destination, entering); err != nil {
		return ast.WalkStop, err
	}
	target := r.target(string(n.(*ast.Image).Destination))
	if inLink(n) {
		target = ""
	}
	switch {
	case entering && target != "":
		open(w, target)
		fallthrough
	case entering:
		write(w, "🖼 ")
		if n.FirstChild() == nil {
			write(w, "image")
		}
	case target != "":
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func (r *nodes) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.AutoLink)
	if !entering {
		return ast.WalkContinue, nil
	}
	destination := string(n.URL(source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(destination), "mailto:") {
		destination = "mailto:" + destination
	}
	target := r.target(destination)
	if inLink(n) {
		target = ""
	}
	if target != "" {
		open(w, target)
	}
	write(w, html.EscapeString(string(n.Label(source))))
	if target != "" {
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

// rawHTML renders HTML within a line as text: a person sees all that a model reads.
func rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			segment := segments.At(i)
			write(w, html.EscapeString(string(segment.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.HTMLBlock)
	if !entering {
		return ast.WalkContinue, nil
	}
	write(w, "<pre>")
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		write(w, html.EscapeString(string(line.Value(source))))
	}
	if n.HasClosure() {
		write(w, html.EscapeString(string(n.ClosureLine.Value(source))))
	}
	write(w, "</pre>\n")
	return ast.WalkContinue, nil
}

func checkBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering && n.(*extast.TaskCheckBox).IsChecked {
		write(w, "☑ ")
	} else if entering {
		write(w, "☐ ")
	}
	return ast.WalkContinue, nil
}

// inLink reports whether a node is a part of a link's text.
func inLink(n ast.Node) bool {
	for p := n.Parent(); p != nil && p.Type() == ast.TypeInline; p = p.Parent() {
		if p.Kind() == ast.KindLink || p.Kind() == ast.KindImage {
			return true
		}
	}
	return false
}

// open begins a link.
func open(w util.BufWriter, target string) {
	write(w, `<a href="`+html.EscapeString(target)+`" rel="nofollow noopener noreferrer">`)
}

// write writes to a buffer in memory, which cannot fail.
func write(w util.BufWriter, text string) { _, _ = io.WriteString(w, text) }
