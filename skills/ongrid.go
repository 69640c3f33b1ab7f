package skills

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/scripts"
)

// ongridFile is the manifest of a skill of ongrid's. Others use the name too.
const ongridFile = "skill.json"

// ongridTimeout is how long a script of ongrid's may take where it does not say.
const ongridTimeout = 30 * time.Second

// ongridName is what ongrid takes for a name.
var ongridName = regexp.MustCompile(`^[a-z0-9_]+$`)

// A foreign error says why a file is not what its name could make it.
type foreign struct{ reason string }

func (f *foreign) Error() string {
	return "it is no skill of ongrid's and is ignored: " + f.reason
}

// parseOngrid reads a skill.json into a skill. The error is a [*foreign] where
// it is somebody else's.
func parseOngrid(data []byte, skill *Skill, o Options) error {
	node, err := parseJSON(data)
	if err != nil {
		return &foreign{err.Error()}
	}
	return parse(skill, &document{front: node}, o, (*parser).ongridFile)
}

// ongridFile reads the content of a skill.json.
func (p *parser) ongridFile() error {
	if err := p.ongridShape(); err != nil {
		return err
	}
	if err := p.raw(); err != nil {
		return err
	}
	skill := p.skill
	skill.Name, skill.Description = p.fields.text("name"), strings.TrimSpace(p.fields.text("description"))
	skill.Instructions = skill.Description
	skill.ModelInvocable, skill.UserInvocable = true, true
	p.checkDescription()
	p.class()
	if err := p.ongridEntry(); err != nil {
		return err
	}
	if p.failed {
		skill.Entry = nil
	}
	return nil
}

// ongridShape reports whether the fields that make a skill of ongrid's are
// there.
func (p *parser) ongridShape() error {
	for _, key := range []string{"name", "description", "entry"} {
		if node := p.fields.get(key); node == nil || node.Tag != "!!str" || strings.TrimSpace(node.Value) == "" {
			return &foreign{fmt.Sprintf("it has no text %q", key)}
		}
	}
	if name := p.fields.text("name"); len(name) > 64 || !ongridName.MatchString(name) {
		return &foreign{fmt.Sprintf("the name %s is not of a-z, 0-9 and _", show(name))}
	}
	return nil
}

// ongridEntry reads what is run: JSON on standard input, JSON on standard
// output, and no variables but those that the manifest names.
func (p *parser) ongridEntry() error {
	script := p.fields.text("entry")
	name, err := p.skill.FindScript(script)
	switch {
	case errors.Is(err, errLeaves):
		return reject(p.fields.line("entry"), "put the program into the skill's folder", "entry %q leads out of the skill's folder", script)
	case err != nil || !isExecutable(p.skill.Files, name):
		return &foreign{fmt.Sprintf("entry %s is not an executable file", show(script))}
	}
	head, err := readHead(p.skill.Files, name)
	if err != nil {
		return &foreign{fmt.Sprintf("entry %s cannot be read", show(script))}
	}
	p.skill.Entry = &Entry{
		Script:      path.Clean(script),
		Interpreter: program(name, head),
		Args:        Input{Object: p.objectSchema("schema")},
		Timeout:     p.ongridTimeout(),
		Context:     ContextNone,
		Env:         variables(p.fields, "env_allow"),
		Output:      p.outputSchema(),
		OutputJSON:  true,
	}
	return nil
}

// ongridTimeout reads the time, where 0 is none given.
func (p *parser) ongridTimeout() time.Duration {
	if p.fields.text("timeout_seconds") == "0" {
		return ongridTimeout
	}
	return cmp.Or(p.fields.seconds("timeout_seconds"), ongridTimeout)
}

// isExecutable reports whether a file may be run. Windows does not know.
func isExecutable(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}

// program returns the command for an executable file, as the system chooses it:
// by its first line, and for a binary none.
func program(name string, head []byte) []string {
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return nil
	case bytes.HasPrefix(head, []byte("#!")):
		return scripts.Interpreter("", head)
	}
	return scripts.Interpreter(name, head)
}

// ongridTools notes what is said of tools that are ongrid's own.
func (p *parser) ongridTools() {
	metadata := newFields(p.fields.get("metadata"), p.doc.offset, discard)
	own := newFields(metadata.get("ongrid"), p.doc.offset, discard)
	if tools := own.get("tools"); tools != nil && tools.Kind == yaml.SequenceNode {
		p.report(Note, own.line("tools"), "", "metadata.ongrid.tools names tools of ongrid's own; they are not here")
	}
}
