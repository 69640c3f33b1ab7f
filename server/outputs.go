package server

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// pageSize is how much of an output one page has, in bytes.
const pageSize = result.MaxText

// outputTemplate returns the template of the outputs of runs.
func outputTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(output.Template, "run output", mcp.WithTemplateTitle("Run output"), mcp.WithTemplateDescription(
		"What a run printed (stdout, stderr) or left in /out (out/NAME), for a while after it. Results link to it."))
}

// expired words the error for an output that was evicted or never stored.
func expired(uri string) string {
	return uri + " is not there: an output that the result of its run shows whole is not kept, and a longer one for 30 minutes; read that result, or run the skill again"
}

// readOutput returns the output of a principal at a URI.
func readOutput(outputs *output.Store, owner identity.Key, uri string) ([]mcp.ResourceContents, error) {
	item, ok := outputs.Get(owner, uri)
	if !ok {
		return nil, fmt.Errorf("%s: %w", expired(uri), mcpserver.ErrResourceNotFound)
	}
	return []mcp.ResourceContents{result.Resource(uri, item.MIMEType, item.Data)}, nil
}

// where returns the beginning of a note on a page.
func where(page output.Page, item output.Item) string {
	return fmt.Sprintf("[bytes %d to %d of %d", page.From, page.From+len(page.Data), len(item.Data))
}

type outputArgs struct {
	URI    string  `json:"uri" jsonschema_description:"As a result names it."`
	Offset float64 `json:"offset,omitempty" jsonschema:"type=integer,minimum=0" jsonschema_description:"The byte to begin at."`
}

// newOutputTool returns read_output, for models whose client reads no resources for them.
func newOutputTool(m *toolMaker, outputs *output.Store) mcpserver.ServerTool {
	return fixedTool[outputArgs]{
		name: "read_output", title: "Read a run's output",
		description: "Read a page of what a run printed or left, where its result shows only a part or a link (skills-mcp://runs/…).",
		handle: func(r *request, args outputArgs) (any, error) {
			item, ok := outputs.Get(r.principal.Key(), args.URI)
			if !ok {
				return nil, &run.Error{Code: run.NotFound, Message: expired(args.URI)}
			}
			return textPage(args.URI, item, int(min(args.Offset, 1<<40)))
		},
	}.tool(m)
}

// textPage returns a page for a model, with the offset of the next one.
func textPage(uri string, item output.Item, offset int) (*mcp.CallToolResult, error) {
	if !media.IsText(item.Data) {
		return nil, &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("%s is no text (%s); the client can read it as a resource", uri, item.MIMEType)}
	}
	page := item.Page(offset, pageSize)
	note := where(page, item) + ", which is the end]"
	if page.Next > 0 {
		note = fmt.Sprintf("%s; read on with offset %d]", where(page, item), page.Next)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(page.Data)), mcp.NewTextContent(note)}}, nil
}
