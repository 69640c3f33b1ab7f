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
	"github.com/skillsmcp/skills-mcp/skills"
)

// What is put into a result itself; the rest is linked to.
const (
	maxInlineMedia = 1 << 20 // bytes of an image or a sound
	maxInlineText  = 8 << 10 // bytes of a text
	maxMedia       = 4 << 20 // bytes of all images and sounds of a result
	maxTexts       = maxText // bytes of all texts of files
)

// An OutFile is a file that a run left in /out.
type OutFile struct {
	Name     string `json:"name"` // its path below /out
	Size     int    `json:"size"` // bytes
	MIMEType string `json:"mime_type"`
	URI      string `json:"uri,omitempty"`  // where it can be read for a while
	Text     string `json:"text,omitempty"` // all of it, where it is a short text
}

// outFiles describes what a run left.
func outFiles(taken []sandbox.File) []OutFile {
	var files []OutFile
	for _, f := range taken {
		files = append(files, OutFile{Name: f.Name, Size: len(f.Data), MIMEType: media.Type(f.Name, f.Data)})
	}
	return files
}

// account is a run as a client is told of it.
type account struct {
	RunResult
	said  said
	items []mcp.Content // what the script's result object names
	left  []mcp.Content // what it left, beside its output
	aside []mcp.Content // a link to its stderr, where the result lacks that
}

// report tells a client of a run.
func (s *Server) report(r *request, skill *skills.Skill, o *run.Outcome, err error) *account {
	a := &account{said: meaning(skill, o, err)}
	rep := reporter{
		outputs: s.outputs, owner: r.principal.Key(), runID: o.RunID,
		links:  speaks(r.ctx, mcp.ProtocolVersion20250618),
		sounds: speaks(r.ctx, mcp.ProtocolVersion20250326),
	}
	if a.said.result != nil {
		if a.items, err = rep.items(a.said.result.Items, o.Out.Taken); err != nil {
			a.said.result = nil
			a.said.fail(o, unusable(err))
		}
	}
	a.RunResult = newRunResult(skill, o, a.said)
	a.left = rep.leave(&a.RunResult, o, a.said.result != nil)
	if a.StderrURI == "" && strings.TrimSpace(a.Stderr) != "" {
		a.aside = rep.aside("stderr", o.Stderr)
	}
	if onlyTexts(a.items) && len(a.items) > 0 {
		a.Stdout = texts(a.items)
	}
	return a
}

// reporter gathers the contents of one result, as long as there is room, and
// keeps what they link to.
type reporter struct {
	outputs       *output.Store
	owner         identity.Key
	runID         string
	links, sounds bool // the client knows these kinds of content
	contents      []mcp.Content
	media, texts  int      // bytes in contents so far
	shown         []string // files that the script has named itself
	cut           bool     // a text of the script's has been cut
}

// leave returns the contents of what a run left and of what is cut, and says in
// the result where it can be read. A script that has said itself what its
// result is has not printed it.
func (r *reporter) leave(result *RunResult, o *run.Outcome, said bool) []mcp.Content {
	if said {
		result.Stdout = ""
	}
	if r.cut || !said && isCut(o.Stdout) {
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

// keep keeps a piece of the run, and returns where it can be read, or "".
func (r *reporter) keep(piece, mediaType string, data []byte) (uri string) {
	uri = output.URI(r.runID, piece)
	if !r.outputs.Put(r.owner, uri, output.Item{MIMEType: mediaType, Data: data}) {
		return ""
	}
	return uri
}

func (r *reporter) link(uri, name, description, mediaType string, size int) {
	if uri != "" && r.links {
		r.contents = append(r.contents, linkTo(uri, name, description, mediaType, size))
	}
}

func linkTo(uri, name, description, mediaType string, size int) mcp.ResourceLink {
	link := mcp.NewResourceLink(uri, name, description, mediaType)
	bytes := int64(size)
	link.Size = &bytes
	return link
}

// isCut reports whether a result has only parts of a stream.
func isCut(out sandbox.Output) bool { return out.Cut(maxText).Truncated() }

// aside keeps a stream of which a tool's own result says nothing, and returns a
// link to it.
func (r *reporter) aside(name string, out sandbox.Output) []mcp.Content {
	before := len(r.contents)
	r.stream(name, out)
	return r.contents[before:]
}

// stream links to a stream that is cut in the result, and returns where it is.
func (r *reporter) stream(name string, out sandbox.Output) (uri string) {
	data, mediaType := out.Bytes(), "text/plain"
	if !media.IsText(data) {
		mediaType = "application/octet-stream"
	}
	uri = r.keep(name, mediaType, data)
	r.link(uri, name, "All of "+name+" that was kept.", mediaType, len(data))
	return uri
}

// file adds a file: itself, where that is of use to a model, or a link. One that
// the script has named is only kept.
func (r *reporter) file(f *OutFile, data []byte) {
	f.URI = r.keep("out/"+f.Name, f.MIMEType, data)
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
func (r *reporter) inline(f *OutFile, data []byte) mcp.Content {
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
	content, _ := r.as(kind, f, data)
	return content
}

// inlineKind is the kind of content that a file is of use as to a model, or "".
func inlineKind(f *OutFile, data []byte) string {
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

// speaks reports whether the client's protocol is at least that of a revision.
func speaks(ctx context.Context, revision string) bool {
	version := mcpserver.RequestProtocolVersion(ctx)
	return version == "" || version >= revision
}

// note tells how to read the rest of truncated streams.
func note(result *RunResult) string {
	var lines []string
	for _, stream := range [...]struct{ name, uri string }{{"stderr", result.StderrURI}, {"stdout", result.StdoutURI}} {
		if stream.uri != "" {
			lines = append(lines, fmt.Sprintf("%s is cut here. All that was kept of it: %s; read_output returns it, a page at a time.", stream.name, stream.uri))
		}
	}
	return strings.Join(lines, "\n")
}

// summary names the files of a result, for models, which do not see the names of
// contents, and tells how to read the rest of truncated streams.
func (r *reporter) summary(result *RunResult) string {
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
