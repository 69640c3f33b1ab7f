package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// entry reads Colony's fields.
func (p entryReader) entry() error {
	script := strings.TrimSpace(p.fields.text("script"))
	if script == "" {
		if p.fields.get("params") != nil {
			p.report(skills.Warning, p.fields.pos("params"), "name the script to run", "there are params but no script, so there is nothing to run")
		}
		return nil
	}
	entry := &skills.Entry{
		Script:    script,
		Args:      p.params(),
		ImageRole: p.fields.text("sandbox_image_role"),
		Timeout:   cmp.Or(p.fields.seconds("timeout_seconds"), p.fields.seconds("execution_timeout")),
		Output:    p.outputSchema(),
		Closed:    p.closed(),
	}
	p.skill.Entry = entry
	p.sandbox(entry)
	if len(entry.Placeholders()) > 0 {
		return p.checkPattern(entry)
	}
	name, err := infer.FindScript(p.skill, script)
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		return Errorf(p.fields.pos("script"), "put the script into the skill's folder", "script %q leads out of the skill's folder", script)
	case errors.Is(err, fs.ErrNotExist):
		p.missing("script "+script+" does not exist", "create it or correct the path")
		return nil
	case err != nil:
		p.missing(fmt.Sprintf("script %s cannot be read: %v", script, err), "make it a readable file")
		return nil
	}
	return p.interpreter(entry, name)
}

// params reads the parameters of a script, unless they are too large to be served.
func (p entryReader) params() skills.Flags {
	params := skills.Flags(parseParams(p.fields))
	if encoded, err := json.Marshal(params.Schema()); err != nil || len(encoded) > maxSchema {
		p.report(skills.Error, p.fields.pos("params"), "shorten descriptions and values", `"params" are larger than %d bytes in all and are ignored`, maxSchema)
		return nil
	}
	return params
}

// closed reads `additional`: whether arguments that params does not declare are
// passed on. An unreadable value restricts.
func (p entryReader) closed() bool {
	if node := p.fields.get("params"); node != nil && isSchema(node) {
		if open, ok := newFields(node, discard).flag("additionalProperties", true); ok && !open {
			return true
		}
	}
	additional, ok := p.fields.flag("additional", true)
	if !ok {
		p.report(skills.Warning, p.fields.pos("additional"), "write true or false", `"additional" is not true or false, so arguments that params does not declare are refused`)
		return true
	}
	return !additional
}

// checkPattern checks a script's path that depends on parameters, as far as it is
// known.
func (p entryReader) checkPattern(entry *skills.Entry) error {
	sample := entry.ExpandScript(func(string) string { return "x" })
	if !fs.ValidPath(path.Clean(sample)) {
		return Errorf(p.fields.pos("script"), "put the scripts into the skill's folder", "script %q leads out of the skill's folder", entry.Script)
	}
	for _, name := range entry.Placeholders() {
		if !declares(entry, name) {
			p.report(skills.Warning, p.fields.pos("script"), "declare it in params", "script %q uses the undeclared parameter %q", entry.Script, name)
		}
	}
	return nil
}

func declares(e *skills.Entry, name string) bool {
	return slices.ContainsFunc(e.Params(), func(p skills.Param) bool { return p.Name == name })
}

// missing marks the skill as one whose script cannot be read.
func (p entryReader) missing(reason, remedy string) {
	p.skill.Entry.Missing, p.skill.Unavailable = true, reason
	p.report(skills.Error, p.fields.pos("script"), remedy, "%s", reason)
}

func (p entryReader) interpreter(entry *skills.Entry, name string) error {
	head, err := skillfs.ReadHead(p.skill.Files, name)
	if err != nil {
		p.missing(fmt.Sprintf("script %s cannot be read: %v", entry.Script, err), "make it a readable file")
		return nil
	}
	entry.Interpreter = infer.Interpreter(name, head)
	if !infer.Tells(name, head) {
		p.report(skills.Warning, p.fields.pos("script"), "begin it with a line such as #!/usr/bin/env python3, or name it .sh, .py or .js", "neither the name of script %s nor a first line #! says what runs it; it is run with bash", entry.Script)
	}
	if infer.IsShell(entry.Interpreter) && infer.HasCarriageReturns(head) {
		p.report(skills.Warning, p.fields.pos("script"), "save it with LF line ends", "script %s has Windows line ends; they are removed while it is read", entry.Script)
	}
	return nil
}
