package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// maxStructure is the largest stdout that is returned as structured content, for
// programs, in bytes.
const maxStructure = 1 << 20

// A scriptOutput is the standard output of a run, parsed.
type scriptOutput struct {
	result *scriptio.Result // nil where it is no result object
	object json.RawMessage  // the structured content, or nil
	err    *run.Error       // why the run counts as failed, or nil
}

// parseOutput parses the standard output of a run. err is the error that ended it, or
// nil.
func parseOutput(o *run.Outcome, err error) scriptOutput {
	s := scriptOutput{object: jsonObject(o.Stdout), err: runError(o, err)}
	var fault error
	if !o.Stdout.Truncated() {
		s.result, fault = scriptio.ParseResult(o.Stdout.Bytes())
	}
	if s.result != nil {
		s.object = s.result.Structured
	}
	if fault == nil && len(s.object) > maxStructure {
		fault = fmt.Errorf("structuredContent is larger than %d bytes; leave it in /out as a file", maxStructure)
	}
	if fault != nil {
		s.object = nil
		s.reject(o, fault)
	}
	if o.Entry != nil && o.Entry.OutputJSON && (o.Stdout.Truncated() || !json.Valid(o.Stdout.Bytes())) {
		s.fail(o, "its output is not one JSON value, as it has to be")
	}
	if s.err == nil && (s.result == nil || !s.result.IsError) {
		if fault := schema.CheckOutput(o.Entry, s.object); fault != nil {
			s.fail(o, "its output is not what its output_schema says: "+fault.Error())
		}
	}
	return s
}

// reject drops a result object with a fault.
func (s *scriptOutput) reject(o *run.Outcome, fault error) {
	s.result = nil
	s.fail(o, "its result object cannot be used: "+fault.Error())
}

// fail counts a run that ended well as failed. One that did not has its reason already.
func (s *scriptOutput) fail(o *run.Outcome, why string) {
	if s.err == nil {
		s.err = &run.Error{Code: run.ExecutionError, Message: o.What + " ended well, but " + why + "; its maintainer has to fix it"}
	}
}

// failed reports whether the call's result is an error.
func (s *scriptOutput) failed() bool { return s.err != nil || s.result != nil && s.result.IsError }

// reason returns the error of a result that failed.
func (s *scriptOutput) reason(o *run.Outcome) *run.Error {
	return cmp.Or(s.err, hinted(run.Error{Code: run.ExecutionError, Message: o.What + " says that it has failed (isError); its output says why"}, o))
}

// Advise returns advice for the author of a skill whose output clients receive as plain
// text although it looks like more; "" is none.
func Advise(skill *skills.Skill, o *run.Outcome) string {
	if s := parseOutput(o, nil); s.result != nil || s.object != nil || s.err != nil {
		return ""
	}
	switch result, question, call := scriptio.Meant(o.Stdout.Bytes()); {
	case call && len(skill.Calls) == 0:
		return `a line of its output calls a skill, and nobody hears it; write "calls: [NAME]" into its frontmatter`
	case question && len(skill.Asks) == 0:
		return `a line of its output asks, and nobody hears it; write "asks: [person]" into its frontmatter`
	case result:
		return `its output has a result object, and is not all of it one JSON object: clients get it as text; print nothing else to standard output, and look at its commas and quotes`
	}
	return ""
}

// runError returns the reason for which a run failed, or nil.
func runError(o *run.Outcome, err error) *run.Error {
	if err != nil {
		return hinted(*run.AsError(err), o)
	}
	if o.Code == 0 {
		return nil
	}
	why := "; its error output says why"
	switch {
	case len(o.Stderr.Head) > 0:
	case len(o.Stdout.Head) > 0:
		why = "; it wrote nothing to its error output: what it printed may say why"
	default:
		why = " and said nothing"
	}
	return hinted(run.Error{Code: run.ExecutionError, Message: fmt.Sprintf("%s failed with exit code %d%s", o.What, o.Code, why)}, o)
}

// hinted returns an error with the hints of a run, for people and for models.
func hinted(e run.Error, o *run.Outcome) *run.Error {
	if o == nil || o.Hint == "" {
		return &e
	}
	e.Model = cmp.Or(e.Model, e.Message) + "; " + cmp.Or(o.ModelHint, o.Hint)
	e.Message += "; " + o.Hint
	return &e
}

// jsonObject returns an output that is one JSON object, or nil.
func jsonObject(o sandbox.Output) json.RawMessage {
	if o.Truncated() || o.Total > maxStructure {
		return nil
	}
	all := strings.TrimSpace(string(o.Bytes()))
	if !strings.HasPrefix(all, "{") {
		return nil
	}
	if _, err := schema.Decode([]byte(all)); err != nil { // clients would not read it
		return nil
	}
	return json.RawMessage(all)
}
