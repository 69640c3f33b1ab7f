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
	contents := []mcp.Content{}
	link := func(uri, name, description, mediaType string, size int) {
		if speaks(r.ctx, mcp.ProtocolVersion20250618) { // older clients do not know links
			contents = append(contents, resourceLink(uri, name, description, mediaType, size))
		}
	}
	keep := func(piece string, item output.Item) (uri string) {
		if uri = output.URI(o.RunID, piece); !s.outputs.Put(r.caller, uri, item) {
			return ""
		}
		return uri
	}
	for _, stream := range []struct {
		name string
		out  sandbox.Output
		uri  *string
	}{{"stdout", o.Stdout, &result.StdoutURI}, {"stderr", o.Stderr, &result.StderrURI}} {
		if !stream.out.Cut(maxText).Truncated() {
			continue
		}
		data := stream.out.Bytes()
		if *stream.uri = keep(stream.name, output.Item{MIMEType: streamType(data), Data: data}); *stream.uri != "" {
			link(*stream.uri, stream.name, "What was printed, uncut.", streamType(data), len(data))
		}
	}
	inline := inliner{modern: speaks(r.ctx, mcp.ProtocolVersion20250326)}
	for i, f := range o.Out.Taken {
		file := &result.Out[i]
		file.URI = keep("out/"+f.Name, output.Item{MIMEType: file.MIMEType, Data: f.Data})
		if content := inline.content(*file, f.Data); content != nil {
			contents = append(contents, content)
		} else if file.URI != "" {
			link(file.URI, f.Name, "", file.MIMEType, file.Size)
		}
	}
	if summary := outSummary(result); summary != "" {
		contents = append([]mcp.Content{mcp.NewTextContent(summary)}, contents...)
	}
	return result, contents
}

// speaks reports whether the client's protocol is at least that of a revision.
func speaks(ctx context.Context, revision string) bool {
	version := mcpserver.RequestProtocolVersion(ctx)
	return version == "" || version >= revision
}

func streamType(data []byte) string {
	if isText(data) {
		return "text/plain"
	}
	return "application/octet-stream"
}

func resourceLink(uri, name, description, mediaType string, size int) mcp.ResourceLink {
	link := mcp.NewResourceLink(uri, name, description, mediaType)
	bytes := int64(size)
	link.Size = &bytes
	return link
}

// inliner puts files into a result, as long as there is room.
type inliner struct {
	modern       bool // the client knows sounds
	media, texts int  // bytes so far
}

// content returns a file as content, or nil where it is to be linked to.
func (in *inliner) content(f OutFile, data []byte) mcp.Content {
	picture := isPicture(f.MIMEType, data)
	sound := in.modern && strings.HasPrefix(f.MIMEType, "audio/")
	if (picture || sound) && len(data) <= maxInlineMedia && in.media+len(data) <= maxMedia {
		in.media += len(data)
		encoded := base64.StdEncoding.EncodeToString(data)
		if picture {
			return mcp.NewImageContent(encoded, f.MIMEType)
		}
		return mcp.NewAudioContent(encoded, f.MIMEType)
	}
	if isText(data) && f.URI != "" && len(data) <= maxInlineText && in.texts+len(data) <= maxTexts {
		in.texts += len(data)
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: f.URI, MIMEType: f.MIMEType, Text: string(data)})
	}
	return nil
}

// outSummary names the files of a result, for models, which do not see the names
// of contents.
func outSummary(r RunResult) string {
	var lines []string
	if len(r.Out) > 0 {
		lines = append(lines, "Files left in /out:")
	}
	for _, f := range r.Out {
		line := fmt.Sprintf("- %s (%s, %s)", f.Name, f.MIMEType, sandbox.Bytes(int64(f.Size)))
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
func (s *Server) outputTemplate() mcpserver.ServerResourceTemplate {
	return mcpserver.ServerResourceTemplate{
		Template: mcp.NewResourceTemplate(output.Template, "run output", mcp.WithTemplateDescription(
			"What a run printed (stdout, stderr) or left in /out (out/NAME), for a while after it. Results link to it.")),
		Handler: s.readOutput,
	}
}

func (s *Server) readOutput(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri := in.Params.URI
	item, ok := s.outputs.Get(caller(ctx), uri)
	if !ok {
		return nil, fmt.Errorf("%s is not there, or not any more: outputs are kept for a while only; run the skill again: %w", uri, mcpserver.ErrResourceNotFound)
	}
	if isText(item.Data) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: item.MIMEType, Text: string(item.Data)}}, nil
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: uri, MIMEType: item.MIMEType, Blob: base64.StdEncoding.EncodeToString(item.Data)}}, nil
}
