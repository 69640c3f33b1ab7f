package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A runReport is a run as content for a client.
type runReport struct {
	RunResult
	output scriptOutput
	items  []mcp.Content // that the script's result object names
	files  []mcp.Content // that it left, and the parts of its output that are cut
	stderr []mcp.Content // a link to stderr, if the result has nothing of it
}

// newRunReport returns the report of a run to the client of r. It stores in outputs
// whatever the report links to.
func newRunReport(outputs *output.Store, r *request, skill *skills.Skill, o *run.Outcome, err error) *runReport {
	a := &runReport{output: parseOutput(skill, o, err)}
	rep := attachments{
		outputs: outputs, owner: r.principal.Key(), runID: o.RunID,
		links:  speaks(r.ctx, mcp.ProtocolVersion20250618),
		sounds: speaks(r.ctx, mcp.ProtocolVersion20250326),
	}
	if a.output.result != nil {
		if a.items, err = rep.items(a.output.result.Items, o.Out.Taken); err != nil {
			a.output.result = nil
			a.output.fail(o, unusable(err))
		}
	}
	a.RunResult = newRunResult(skill, o, a.output)
	a.files = rep.attachOutputs(&a.RunResult, o, a.output.result != nil)
	if a.StderrURI == "" && strings.TrimSpace(a.Stderr) != "" {
		a.stderr = rep.linkStream("stderr", o.Stderr)
	}
	if onlyTexts(a.items) && len(a.items) > 0 {
		a.Stdout = texts(a.items)
	}
	return a
}

// skillResult returns the result of a skill's own tool. Claude Code and Codex show
// a model the structure instead of the contents, so there is one only if the tool
// declares an output schema, or if the contents add nothing to it.
func (a *runReport) skillResult(entry *skills.Entry, o *run.Outcome) *mcp.CallToolResult {
	result := &mcp.CallToolResult{IsError: a.output.failed()}
	object, declared := a.output.object, entry.Output != nil
	switch {
	case a.output.err != nil:
		result.Content = append(a.failure(o), a.files...)
		if a.complete() {
			result.StructuredContent = a.RunResult
		}
		return result
	case len(a.items) == 0:
		result.Content = []mcp.Content{mcp.NewTextContent(a.text(o))}
	case object == nil || declared:
		result.Content = a.items
	default:
		result.Content = append(slices.Clone(a.items), mcp.NewTextContent(string(object)))
	}
	result.Content = slices.Concat(result.Content, a.files, a.stderr)
	switch {
	case object == nil:
	case declared:
		result.StructuredContent = a.withFiles(entry, object)
	case len(result.Content) == 1 && !a.Truncated && strings.TrimSpace(a.Stderr) == "":
		result.StructuredContent = object
	}
	return result
}

// complete reports whether the run's structure has all that the contents show.
func (a *runReport) complete() bool {
	return onlyTexts(a.items) && !slices.ContainsFunc(a.files, func(c mcp.Content) bool {
		switch c.(type) {
		case mcp.ImageContent, mcp.AudioContent:
			return true
		}
		return false // files and their texts are in it
	})
}

// withFiles adds the files of a run to its structure, as "out", if the schema allows
// that.
func (a *runReport) withFiles(entry *skills.Entry, object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if len(a.Out) == 0 || json.Unmarshal(object, &members) != nil || members["out"] != nil {
		return object
	}
	members["out"] = encoded(a.Out)
	if whole := json.RawMessage(encoded(members)); schema.CheckOutput(entry, whole) == nil {
		return whole
	}
	return object
}

// text returns the output of a run for a model.
func (a *runReport) text(o *run.Outcome) string {
	output := text(o.Stdout.Cut(maxText))
	if a.output.result != nil {
		output = text(sandbox.Output{Head: a.output.object, Total: int64(len(a.output.object))}.Cut(maxText))
	}
	if strings.TrimSpace(output) == "" {
		return o.What + " has ended well and printed nothing"
	}
	return output
}

// failure returns contents that tell a model why a run failed: the reason, the end of
// stderr, and the output until then.
func (a *runReport) failure(o *run.Outcome) []mcp.Content {
	e := a.output.err
	content := []mcp.Content{mcp.NewTextContent(fmt.Sprintf("%s: %s", e.Code, e.Message))}
	if end := lastText(o.Stderr); end != "" {
		content = append(content, mcp.NewTextContent("stderr:\n"+end))
	}
	if a.output.result != nil {
		return append(content, a.items...)
	}
	if printed := text(o.Stdout.Cut(maxErrorText)); strings.TrimSpace(printed) != "" {
		content = append(content, mcp.NewTextContent("stdout:\n"+printed))
	}
	return content
}

// runResult returns the result of run_skill and run_code: the whole run as text, and as
// structure if the other contents add nothing to it.
func (a *runReport) runResult(o *run.Outcome) (*mcp.CallToolResult, error) {
	result, err := reply(a.RunResult)
	if err != nil {
		return nil, err
	}
	result.IsError = a.output.failed()
	if !a.complete() {
		result.StructuredContent = nil
		result.Content = append(result.Content, a.items...)
	}
	if a.output.err != nil {
		result.Content = append(a.failure(o), a.files...)
		return result, nil
	}
	for _, content := range a.files {
		switch content.(type) {
		case mcp.TextContent, mcp.EmbeddedResource: // which the text above has
		default:
			result.Content = append(result.Content, content)
		}
	}
	return result, nil
}

// CheckOutput returns an error if a run ended well and its output is a result object with
// a fault, or not of the skill's output_schema. The error is a [*run.Error].
func CheckOutput(skill *skills.Skill, o *run.Outcome) error {
	s := parseOutput(skill, o, nil)
	if s.result != nil {
		rep := attachments{outputs: output.New(nil), links: true, sounds: true} // whose contents nobody gets
		if _, err := rep.items(s.result.Items, o.Out.Taken); err != nil {
			s.fail(o, unusable(err))
		}
	}
	if o.Code == 0 && s.err != nil {
		return s.err
	}
	return nil
}
