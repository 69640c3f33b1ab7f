package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A Report is a run as content for a client.
type Report struct {
	Run
	Outcome *run.Outcome
	output  scriptOutput
	items   []mcp.Content // that the script's result object names
	files   []mcp.Content // that it left, and the parts of its output that are cut
	stderr  []mcp.Content // a link to stderr, if the result has nothing of it
}

// NewReport returns the report of a run to the model of a client. Its arguments are otherwise those of
// [New]. It stores the outputs that the report links to.
func NewReport(client Client, skill *skills.Skill, o *run.Outcome, err error) *Report {
	r := &Report{Outcome: o, output: parseOutput(o, err)}
	a := attachments{Client: client, runID: o.RunID}
	if r.output.result != nil {
		if r.items, err = a.items(r.output.result.Items, o.Out.Taken); err != nil {
			r.output.reject(o, err)
		}
	}
	if r.output.err != nil {
		r.output.err = r.output.err.ForModel()
	}
	r.Run = newRun(skill, o, r.output, MaxText)
	a.attachOutputs(&r.Run, o, r.Parsed())
	r.files, a.contents = a.contents, nil
	if r.StderrURI == "" && strings.TrimSpace(r.Stderr) != "" {
		a.stream("stderr", o.Stderr)
		r.stderr = a.contents
	}
	if onlyTexts(r.items) && len(r.items) > 0 {
		r.Stdout = Texts(r.items)
	}
	return r
}

// Parsed reports whether the script printed a valid result object.
func (r *Report) Parsed() bool { return r.output.result != nil }

// ToolResult returns the result of a skill's own tool. Claude Code and Codex show
// a model the structure instead of the contents, so there is one only if the tool
// declares an output schema, or if the contents add nothing to it.
func (r *Report) ToolResult(entry *skills.Entry) *mcp.CallToolResult {
	result := &mcp.CallToolResult{IsError: r.output.failed()}
	object, declared := r.output.object, entry.Output != nil
	switch {
	case r.output.err != nil:
		result.Content = slices.Concat(r.failure(), r.files, r.hooks())
		if r.complete() {
			result.StructuredContent = r.Run
		}
		return result
	case len(r.items) == 0:
		result.Content = []mcp.Content{mcp.NewTextContent(r.text())}
	case object == nil || declared:
		result.Content = r.items
	default:
		result.Content = append(slices.Clone(r.items), mcp.NewTextContent(string(object)))
	}
	result.Content = slices.Concat(result.Content, r.files, r.stderr, r.hooks())
	if o := r.Outcome; result.IsError && o.Hint != "" {
		result.Content = append(result.Content, mcp.NewTextContent("skills-mcp: "+cmp.Or(o.ModelHint, o.Hint)))
	}
	switch {
	case object == nil:
	case declared:
		result.StructuredContent = r.withFiles(entry, object)
	case len(result.Content) == 1 && !r.Truncated && strings.TrimSpace(r.Stderr) == "":
		result.StructuredContent = object
	}
	return result
}

// RunResult returns the result of run_skill and run_code: the whole run as text, and as
// structure if the other contents add nothing to it.
func (r *Report) RunResult() *mcp.CallToolResult {
	result := mcp.NewToolResultStructured(r.Run, string(encoded(r.Run)))
	result.IsError = r.output.failed()
	if !r.complete() {
		result.StructuredContent = nil
		result.Content = append(result.Content, r.items...)
	}
	if r.output.err != nil {
		result.Content = slices.Concat(r.failure(), r.files, r.hooks())
		return result
	}
	for _, content := range r.files {
		switch content.(type) {
		case mcp.TextContent, mcp.EmbeddedResource: // which the text above has
		default:
			result.Content = append(result.Content, content)
		}
	}
	return result
}

// hooks returns the texts of hooks as contents.
func (r *Report) hooks() (all []mcp.Content) {
	for _, text := range r.Hooks {
		all = append(all, mcp.NewTextContent(text))
	}
	return all
}

// complete reports whether the run's structure has all that the contents show.
func (r *Report) complete() bool {
	return onlyTexts(r.items) && !slices.ContainsFunc(r.files, func(c mcp.Content) bool {
		switch c.(type) {
		case mcp.ImageContent, mcp.AudioContent:
			return true
		}
		return false // files and their texts are in it
	})
}

// withFiles adds the files of a run to its structure, as "out", if the schema allows
// that.
func (r *Report) withFiles(entry *skills.Entry, object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if len(r.Out) == 0 || json.Unmarshal(object, &members) != nil || members["out"] != nil {
		return object
	}
	members["out"] = encoded(r.Out)
	if whole := json.RawMessage(encoded(members)); schema.CheckOutput(entry, whole) == nil {
		return whole
	}
	return object
}

// encoded returns a value of a type of this package as JSON.
func encoded(v any) []byte {
	data, _ := json.Marshal(v) // it has no value that cannot be encoded
	return data
}

// text returns the output of a run for a model.
func (r *Report) text() string {
	output := text(r.Outcome.Stdout.Cut(MaxText))
	if r.Parsed() {
		output = textOf(r.output.object, MaxText)
	}
	if strings.TrimSpace(output) == "" {
		return r.Outcome.What + " has ended well and printed nothing"
	}
	return output
}

// maxErrorText bounds the end of stderr in the report of a failure, in bytes.
const maxErrorText = 4 << 10

// failure returns contents that tell a model why a run failed: the reason, the end of
// stderr, and the output until then.
func (r *Report) failure() []mcp.Content {
	e := r.output.err
	content := []mcp.Content{mcp.NewTextContent(fmt.Sprintf("%s: %s", e.Code, e.Message))}
	if end := lastText(r.Outcome.Stderr); end != "" {
		content = append(content, mcp.NewTextContent("stderr:\n"+end))
	}
	if r.Parsed() {
		return append(content, r.items...)
	}
	if printed := text(r.Outcome.Stdout.Cut(maxErrorText)); strings.TrimSpace(printed) != "" {
		content = append(content, mcp.NewTextContent("stdout:\n"+printed))
	}
	return content
}

// lastText returns the end of a stream.
func lastText(o sandbox.Output) string {
	all := slices.Concat(o.Head, o.Tail)
	if len(all) > maxErrorText {
		all = append([]byte("…"), all[len(all)-maxErrorText:]...)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(all), "\ufffd"))
}

// PersonText returns the texts of a run's result object for a person, or else its structure.
func PersonText(o *run.Outcome) string {
	s := parseOutput(o, nil)
	if s.result == nil {
		return text(o.Stdout)
	}
	var contents []mcp.Content
	for _, item := range s.result.Items {
		if embedded, ok := item.Content.(mcp.EmbeddedResource); ok {
			if r, ok := embedded.Resource.(mcp.TextResourceContents); ok {
				item.Content = mcp.NewTextContent(r.Text)
			}
		}
		contents = append(contents, item.Content)
	}
	return cmp.Or(Texts(contents), string(s.object), "It has no text; --json prints all of it.")
}

// CheckOutput returns the error that callers get for the output of a run that ended well: a
// result object that has a fault or says isError, or an output that is not of the skill's
// output_schema. The error is a [*run.Error].
func CheckOutput(o *run.Outcome) error {
	if (o.Entry == nil || o.Entry.Output == nil && !o.Entry.OutputJSON) && !bytes.Contains(o.Stdout.Head, []byte(`"mcp"`)) {
		return nil // most output: not to be decoded for it
	}
	s := parseOutput(o, nil)
	if s.result != nil {
		a := attachments{Client: Client{Links: true, Sounds: true, Whole: o.Entry.Reads()}} // whose contents nobody gets
		if _, err := a.items(s.result.Items, o.Out.Taken); err != nil {
			s.reject(o, err)
		}
	}
	if o.Code == 0 && s.failed() {
		return s.reason(o)
	}
	return nil
}
