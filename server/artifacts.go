package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/call"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/plain"
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
	URI      string `json:"uri,omitempty"` // where it can be read for a while
}

// outFiles describes what a run left.
func outFiles(taken []sandbox.File) []OutFile {
	var files []OutFile
	for _, f := range taken {
		files = append(files, OutFile{Name: f.Name, Size: len(f.Data), MIMEType: mediaType(f.Name, f.Data)})
	}
	return files
}

// report is the result of a run, for a client, and the contents that show what
// the run left, beside its output.
func (s *Server) report(r request, skill *skills.Skill, o *call.Outcome, err error) (RunResult, []mcp.Content) {
	result := NewRunResult(skill, o, err)
	rep := reporter{
		outputs: s.outputs, caller: r.caller, runID: o.RunID,
		links:  speaks(r.ctx, mcp.ProtocolVersion20250618),
		sounds: speaks(r.ctx, mcp.ProtocolVersion20250326),
	}
	result.StdoutURI = rep.stream("stdout", o.Stdout)
	result.StderrURI = rep.stream("stderr", o.Stderr)
	for i, f := range o.Out.Taken {
		rep.file(&result.Out[i], f.Data)
	}
	if summary := outSummary(result); summary != "" {
		rep.contents = append([]mcp.Content{mcp.NewTextContent(summary)}, rep.contents...)
	}
	return result, rep.contents
}

// reporter gathers the contents of one result, as long as there is room, and
// keeps what they link to.
type reporter struct {
	outputs       *output.Store
	caller, runID string
	links, sounds bool // the client knows these kinds of content
	contents      []mcp.Content
	media, texts  int // bytes in contents so far
}

// keep keeps a piece of the run, and returns where it can be read, or "".
func (r *reporter) keep(piece, mediaType string, data []byte) (uri string) {
	uri = output.URI(r.runID, piece)
	if !r.outputs.Put(r.caller, uri, output.Item{MIMEType: mediaType, Data: data}) {
		return ""
	}
	return uri
}

func (r *reporter) link(uri, name, description, mediaType string, size int) {
	if uri == "" || !r.links {
		return
	}
	link := mcp.NewResourceLink(uri, name, description, mediaType)
	bytes := int64(size)
	link.Size = &bytes
	r.contents = append(r.contents, link)
}

// stream links to a stream that is cut in the result, and returns where it is.
func (r *reporter) stream(name string, out sandbox.Output) (uri string) {
	if !out.Cut(maxText).Truncated() {
		return ""
	}
	data, mediaType := out.Bytes(), "text/plain"
	if !isText(data) {
		mediaType = "application/octet-stream"
	}
	uri = r.keep(name, mediaType, data)
	r.link(uri, name, "All of "+name+" that was kept.", mediaType, len(data))
	return uri
}

// file adds a file: itself, where that is of use to a model, or a link.
func (r *reporter) file(f *OutFile, data []byte) {
	f.URI = r.keep("out/"+f.Name, f.MIMEType, data)
	if content := r.inline(f, data); content != nil {
		r.contents = append(r.contents, content)
		return
	}
	r.link(f.URI, f.Name, "", f.MIMEType, f.Size)
}

// inline returns a file as content, or nil where it is to be linked to.
func (r *reporter) inline(f *OutFile, data []byte) mcp.Content {
	picture, sound := isPicture(f.MIMEType, data), r.sounds && strings.HasPrefix(f.MIMEType, "audio/")
	if (picture || sound) && len(data) <= maxInlineMedia && r.media+len(data) <= maxMedia {
		r.media += len(data)
		encoded := base64.StdEncoding.EncodeToString(data)
		if picture {
			return mcp.NewImageContent(encoded, f.MIMEType)
		}
		return mcp.NewAudioContent(encoded, f.MIMEType)
	}
	if f.URI != "" && isText(data) && len(data) <= maxInlineText && r.texts+len(data) <= maxTexts {
		r.texts += len(data)
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: f.URI, MIMEType: f.MIMEType, Text: string(data)})
	}
	return nil
}

// speaks reports whether the client's protocol is at least that of a revision.
func speaks(ctx context.Context, revision string) bool {
	version := mcpserver.RequestProtocolVersion(ctx)
	return version == "" || version >= revision
}

// outSummary names the files of a result, for models, which do not see the names
// of contents.
func outSummary(r RunResult) string {
	var lines []string
	if len(r.Out) > 0 {
		lines = append(lines, "Files left in /out:")
	}
	for _, f := range r.Out {
		line := fmt.Sprintf("- %s (%s, %s)", plain.Text(f.Name), f.MIMEType, sandbox.Bytes(int64(f.Size)))
		if f.URI != "" {
			line += " " + f.URI
		}
		lines = append(lines, line)
	}
	if len(r.OutLeft) > 0 {
		lines = append(lines, "Not taken from /out:")
	}
	for _, left := range r.OutLeft {
		lines = append(lines, "- "+left)
	}
	return strings.Join(lines, "\n")
}

// outputTemplate makes what runs left readable as resources.
func outputTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(output.Template, "run output", mcp.WithTemplateDescription(
		"What a run printed (stdout, stderr) or left in /out (out/NAME), for a while after it. Results link to it."))
}

func (s *Server) readOutput(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri := in.Params.URI
	item, ok := s.outputs.Get(caller(ctx), uri)
	if !ok {
		return nil, fmt.Errorf("%s is not there, or not any more: outputs are kept for a while only; run the skill again: %w", uri, mcpserver.ErrResourceNotFound)
	}
	return contentsOf(uri, item.MIMEType, item.Data), nil
}
