package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// A Client receives a report.
type Client struct {
	Outputs *output.Store // gets the data of the links; nil keeps none
	Owner   identity.Key  // of these outputs
	// Links and Sounds report that the client knows these kinds of content.
	Links, Sounds bool
	// Whole reports that a resource was read, which models do not read at once.
	Whole bool
}

// attachments collect the contents of one report within bounds, and store the data of
// their links.
type attachments struct {
	Client
	runID    string
	contents []mcp.Content
	media    int      // bytes of images, sounds and binaries in contents so far
	texts    int      // bytes of texts
	shown    []string // files that the script has named itself
	cut      bool     // a text of the script's has been cut
}

// items returns the contents that a script names. The error names the first one that is
// not valid, for the script's author.
func (a *attachments) items(items []scriptio.Item, taken []sandbox.File) ([]mcp.Content, error) {
	var contents []mcp.Content
	for i, item := range items {
		content, data, err := item.Content, item.Data, error(nil)
		if item.Path != "" {
			content, data, err = a.named(item, taken)
		}
		if err == nil {
			content, err = a.admit(i, content, data)
		}
		if err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// named returns a file of /out as the content that the script wants it to be.
func (a *attachments) named(item scriptio.Item, taken []sandbox.File) (mcp.Content, []byte, error) {
	i := slices.IndexFunc(taken, func(f sandbox.File) bool { return f.Name == item.Path })
	if i < 0 {
		return nil, nil, fmt.Errorf("%q is not among the files that were taken from /out", item.Path)
	}
	data, f := taken[i].Data, newFile(taken[i])
	if item.MIMEType != "" {
		f.MIMEType = item.MIMEType
	}
	f.URI = a.store("out/"+f.Name, f.MIMEType, data)
	a.shown = append(a.shown, f.Name)
	content, err := contentAs(item.Type, &f, data)
	return content, data, err
}

// admit returns a content in a form that the client knows. The error says that there is
// no room for it.
func (a *attachments) admit(i int, content mcp.Content, data []byte) (mcp.Content, error) {
	switch c := content.(type) {
	case mcp.TextContent:
		c.Text = a.text(c.Text)
		return c, nil
	case mcp.ImageContent:
		return c, a.medium(data)
	case mcp.AudioContent:
		if err := a.medium(data); err != nil || a.Sounds {
			return c, err
		}
		uri := a.store(fmt.Sprintf("content/%d", i), c.MIMEType, data)
		return mcp.NewTextContent(fmt.Sprintf("%s, %s: %s", c.MIMEType, sandbox.Bytes(int64(len(data))), uri)), nil
	case mcp.EmbeddedResource:
		text, ok := c.Resource.(mcp.TextResourceContents)
		if !ok {
			return c, a.medium(data)
		}
		if a.Whole {
			return c, a.medium([]byte(text.Text))
		}
		if a.texts += len(text.Text); a.texts > maxTexts {
			return nil, fmt.Errorf("the texts are larger than %d bytes in all; leave this one in /out and name it by its path", maxTexts)
		}
		return c, nil
	case mcp.ResourceLink:
		if !a.Links {
			return mcp.NewTextContent(fmt.Sprintf("%s: %s", c.Name, c.URI)), nil
		}
	}
	return content, nil
}

// text cuts a text that is longer than a model reads.
func (a *attachments) text(text string) string {
	room := max(MaxText-a.texts, 0)
	a.texts += len(text)
	if len(text) <= room {
		return text
	}
	a.cut = true
	return textOf([]byte(text), room)
}

// medium makes room for the bytes of an image, a sound or a binary.
func (a *attachments) medium(data []byte) error {
	if a.media += len(data); len(data) > maxInlineMedia && !a.Whole || a.media > maxMedia {
		return fmt.Errorf("it is larger than %d bytes, or all are larger than %d; leave it in /out and name it by its path, as a resource_link", maxInlineMedia, maxMedia)
	}
	return nil
}

// attachOutputs adds contents for the files of a run and for the streams that are cut,
// and sets their URIs in the result. parsed reports that stdout is a result object, of
// which the result shows nothing.
func (a *attachments) attachOutputs(r *Run, o *run.Outcome, parsed bool) {
	if parsed {
		r.Stdout = ""
	}
	if a.cut || !parsed && isCut(o.Stdout) {
		r.StdoutURI = a.stream("stdout", o.Stdout)
	}
	if isCut(o.Stderr) {
		r.StderrURI = a.stream("stderr", o.Stderr)
	}
	for i, f := range o.Out.Taken {
		a.file(&r.Out[i], f.Data)
	}
	r.Note = note(r)
	if summary := a.summary(r); summary != "" {
		a.contents = append([]mcp.Content{mcp.NewTextContent(summary)}, a.contents...)
	}
}

// isCut reports whether a result has only parts of a stream.
func isCut(out sandbox.Output) bool { return out.Cut(MaxText).Truncated() }

// stream stores a stream, links to it and returns its URI.
func (a *attachments) stream(name string, out sandbox.Output) (uri string) {
	data, mediaType := out.Bytes(), "text/plain"
	if !media.IsText(data) {
		mediaType = "application/octet-stream"
	}
	uri = a.store(name, mediaType, data)
	a.link(uri, name, "All of "+name+" that was kept.", mediaType, len(data))
	return uri
}

// file adds a file: its content, if a model can use that, or a link. One that the script
// has named is only stored.
func (a *attachments) file(f *File, data []byte) {
	f.URI = a.store("out/"+f.Name, f.MIMEType, data)
	if slices.Contains(a.shown, f.Name) {
		return
	}
	if kind := inlineKind(f, data); a.fits(kind, len(data)) {
		if kind == mcp.ContentTypeResource {
			f.Text = string(data)
		}
		content, _ := contentAs(kind, f, data)
		a.contents = append(a.contents, content)
		return
	}
	a.link(f.URI, f.Name, "", f.MIMEType, f.Size)
}

// fits makes room for a file as content of a kind. It reports false for one that is to be
// linked to.
func (a *attachments) fits(kind string, size int) bool {
	used, limit := &a.media, maxMedia
	if kind == mcp.ContentTypeResource {
		used, limit = &a.texts, maxTexts
	}
	if kind == "" || kind == mcp.ContentTypeAudio && !a.Sounds || *used+size > limit {
		return false
	}
	*used += size
	return true
}

// store stores a piece of the run, and returns its URI, or "" if there is no room.
func (a *attachments) store(piece, mediaType string, data []byte) (uri string) {
	uri = output.URI(a.runID, piece)
	if a.Outputs == nil || !a.Outputs.Put(a.Owner, uri, output.Item{MIMEType: mediaType, Data: data}) {
		return ""
	}
	return uri
}

func (a *attachments) link(uri, name, description, mediaType string, size int) {
	if uri != "" && a.Links {
		a.contents = append(a.contents, newLink(uri, name, description, mediaType, size))
	}
}

// note returns a sentence for each truncated stream: how to read the rest.
func note(r *Run) string {
	var lines []string
	for _, stream := range [...]struct{ name, uri string }{{"stderr", r.StderrURI}, {"stdout", r.StdoutURI}} {
		if stream.uri != "" {
			lines = append(lines, fmt.Sprintf("%s is cut here. All that was kept of it: %s; read_output returns it, a page at a time.", stream.name, stream.uri))
		}
	}
	return strings.Join(lines, "\n")
}

// summary returns the names of a result's files, for models, which do not see the names
// of contents, after the note.
func (a *attachments) summary(r *Run) string {
	var lines, files, left []string
	if r.Note != "" {
		lines = append(lines, r.Note)
	}
	for _, f := range r.Out {
		if slices.Contains(a.shown, f.Name) {
			continue
		}
		line := fmt.Sprintf("- %s (%s, %s) %s", termtext.Text(f.Name), f.MIMEType, sandbox.Bytes(int64(f.Size)), f.URI)
		files = append(files, strings.TrimSuffix(line, " "))
	}
	for _, reason := range r.OutLeft {
		left = append(left, "- "+reason)
	}
	lines = appendUnder(lines, "Files left in /out:", files)
	return strings.Join(appendUnder(lines, "Not taken from /out:", left), "\n")
}

// appendUnder appends lines with a heading, where there are some.
func appendUnder(all []string, heading string, lines []string) []string {
	if len(lines) == 0 {
		return all
	}
	return append(append(all, heading), lines...)
}
