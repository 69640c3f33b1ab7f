package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// attachments collect the contents of one result within bounds, and store the data of
// their links.
type attachments struct {
	outputs       *output.Store
	owner         identity.Key
	runID         string
	links, sounds bool // the client knows these kinds of content
	contents      []mcp.Content
	media, texts  int      // bytes in contents so far
	shown         []string // files that the script has named itself
	cut           bool     // a text of the script's has been cut
}

// attachOutputs returns contents for the files of a run and for the streams that are
// cut, and sets their URIs in the result. parsed reports that stdout is a result
// object, of which the result shows nothing.
func (r *attachments) attachOutputs(result *RunResult, o *run.Outcome, parsed bool) []mcp.Content {
	if parsed {
		result.Stdout = ""
	}
	if r.cut || !parsed && isCut(o.Stdout) {
		result.StdoutURI = r.stream("stdout", o.Stdout)
	}
	if isCut(o.Stderr) {
		result.StderrURI = r.stream("stderr", o.Stderr)
	}
	for i, f := range o.Out.Taken {
		r.file(&result.Out[i], f.Data)
	}
	result.Note = note(result)
	if summary := r.summary(result); summary != "" {
		return append([]mcp.Content{mcp.NewTextContent(summary)}, r.contents...)
	}
	return r.contents
}

// store stores a piece of the run, and returns its URI, or "" if there is no room.
func (r *attachments) store(piece, mediaType string, data []byte) (uri string) {
	uri = output.URI(r.runID, piece)
	if !r.outputs.Put(r.owner, uri, output.Item{MIMEType: mediaType, Data: data}) {
		return ""
	}
	return uri
}

func (r *attachments) link(uri, name, description, mediaType string, size int) {
	if uri != "" && r.links {
		r.contents = append(r.contents, linkTo(uri, name, description, mediaType, size))
	}
}

// isCut reports whether a result has only parts of a stream.
func isCut(out sandbox.Output) bool { return out.Cut(maxText).Truncated() }

// linkStream stores a stream that a tool's own result does not show, and returns a link
// to it.
func (r *attachments) linkStream(name string, out sandbox.Output) []mcp.Content {
	before := len(r.contents)
	r.stream(name, out)
	return r.contents[before:]
}

// stream stores a stream, links to it and returns its URI.
func (r *attachments) stream(name string, out sandbox.Output) (uri string) {
	data, mediaType := out.Bytes(), "text/plain"
	if !media.IsText(data) {
		mediaType = "application/octet-stream"
	}
	uri = r.store(name, mediaType, data)
	r.link(uri, name, "All of "+name+" that was kept.", mediaType, len(data))
	return uri
}

// file adds a file: its content, if a model can use that, or a link. One that the script
// has named is only stored.
func (r *attachments) file(f *OutFile, data []byte) {
	f.URI = r.store("out/"+f.Name, f.MIMEType, data)
	if slices.Contains(r.shown, f.Name) {
		return
	}
	if content := r.inline(f, data); content != nil {
		r.contents = append(r.contents, content)
		return
	}
	r.link(f.URI, f.Name, "", f.MIMEType, f.Size)
}

// inline returns a file as content, or nil where it is to be linked to.
func (r *attachments) inline(f *OutFile, data []byte) mcp.Content {
	kind := inlineKind(f, data)
	switch kind {
	case mcp.ContentTypeImage, mcp.ContentTypeAudio:
		if kind == mcp.ContentTypeAudio && !r.sounds || r.media+len(data) > maxMedia {
			return nil
		}
		r.media += len(data)
	case mcp.ContentTypeResource:
		if r.texts+len(data) > maxTexts {
			return nil
		}
		r.texts += len(data)
		f.Text = string(data)
	default:
		return nil
	}
	content, _ := contentAs(kind, f, data)
	return content
}

// speaks reports whether the client speaks a revision of the protocol, or a later one.
func speaks(ctx context.Context, revision string) bool {
	version := mcpserver.RequestProtocolVersion(ctx)
	return version == "" || version >= revision
}

// note returns a sentence for each truncated stream: how to read the rest.
func note(result *RunResult) string {
	var lines []string
	for _, stream := range [...]struct{ name, uri string }{{"stderr", result.StderrURI}, {"stdout", result.StdoutURI}} {
		if stream.uri != "" {
			lines = append(lines, fmt.Sprintf("%s is cut here. All that was kept of it: %s; read_output returns it, a page at a time.", stream.name, stream.uri))
		}
	}
	return strings.Join(lines, "\n")
}

// summary returns the names of a result's files, for models, which do not see the names
// of contents, after the note.
func (r *attachments) summary(result *RunResult) string {
	var lines, files []string
	if result.Note != "" {
		lines = append(lines, result.Note)
	}
	for _, f := range result.Out {
		if slices.Contains(r.shown, f.Name) {
			continue
		}
		line := fmt.Sprintf("- %s (%s, %s)", termtext.Text(f.Name), f.MIMEType, sandbox.Bytes(int64(f.Size)))
		if f.URI != "" {
			line += " " + f.URI
		}
		files = append(files, line)
	}
	lines = appendUnder(lines, "Files left in /out:", files)
	var refused []string
	for _, left := range result.OutLeft {
		refused = append(refused, "- "+left)
	}
	return strings.Join(appendUnder(lines, "Not taken from /out:", refused), "\n")
}

// appendUnder appends lines with a heading, where there are some.
func appendUnder(all []string, heading string, lines []string) []string {
	if len(lines) == 0 {
		return all
	}
	return append(append(all, heading), lines...)
}
