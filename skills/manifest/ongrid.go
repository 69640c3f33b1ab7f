package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// OngridFile is the manifest of a skill of ongrid's. Others use the name too.
const OngridFile = "skill.json"

// ongridTimeout is the default timeout of a script of ongrid's.
const ongridTimeout = 30 * time.Second

// ongridCategory is the default category of a skill of ongrid's.
const ongridCategory = "external"

// ongridName matches the names that ongrid accepts.
var ongridName = lazyregexp.New(`^[a-z0-9_]+$`)

// Foreign returns the error of a file that is not the manifest that its name suggests:
// a note of the file.
func Foreign(reason string) *Error {
	return &Error{severity: skills.Note, message: "it is no skill of ongrid's and is ignored: " + reason}
}

// ParseOngrid reads a skill.json into a skill. The error is that of [Foreign] where
// it is somebody else's.
func ParseOngrid(data []byte, skill *skills.Skill, o Options) error {
	node, err := parseJSON(data)
	if err != nil {
		return notOngrid(o.Ongrid, true, err.Error())
	}
	return ongridReader{newParser(skill, &document{front: node}, o)}.ongridFile()
}

// notOngrid returns the error of a skill.json that cannot be used: of one that is
// meant to be ongrid's, as all are in a root of ongrid's, it is a fault.
func notOngrid(at *OngridLocation, meant bool, reason string) error {
	if at == nil || !at.Meant && (!meant || at.Nested) {
		return Foreign(reason)
	}
	return Errorf(Position{}, `correct it; ongrid wants "name" of a-z, 0-9 and _, "description" and "entry", an executable file`, "the skill does not load: %s", reason)
}

// ongridFile reads the content of a skill.json.
func (p ongridReader) ongridFile() error {
	if err := p.ongridShape(); err != nil {
		return err
	}
	if err := p.raw(); err != nil {
		return err
	}
	skill := p.skill
	skill.Name, skill.Description = p.fields.text("name"), strings.TrimSpace(p.fields.text("description"))
	skill.Instructions = skill.Description
	skill.Category = cmp.Or(strings.TrimSpace(p.fields.text("category")), ongridCategory)
	skill.ModelInvocable, skill.UserInvocable = true, true
	attributeReader(p).checkDescription()
	attributeReader(p).class()
	restrictionReader(p).misspelt() // ongrid reads "Class", too
	if err := p.ongridEntry(); err != nil {
		return err
	}
	if p.failed { // the unread part may restrict it
		for _, problem := range skill.Problems {
			if problem.Severity == skills.Error {
				message, _, _ := strings.Cut(problem.Message, ", "+instructionsOnly)
				return Errorf(Position{problem.Line, problem.Col}, problem.Remedy, "the skill does not load: %s", message)
			}
		}
	}
	return nil
}

// ongridShape reports whether the fields that make a skill of ongrid's are
// there.
func (p ongridReader) ongridShape() error {
	for _, key := range []string{"name", "description", "entry"} {
		if node := p.fields.get(key); node == nil || node.Tag != "!!str" || strings.TrimSpace(node.Value) == "" {
			return notOngrid(p.options.Ongrid, false, fmt.Sprintf("it has no text %q", key))
		}
	}
	if name := p.fields.text("name"); len(name) > 64 || !ongridName.MatchString(name) {
		return notOngrid(p.options.Ongrid, false, fmt.Sprintf("the name %s is not of a-z, 0-9 and _", show(name)))
	}
	return nil
}

// ongridEntry reads the program: JSON on standard input and standard output, and
// no variables but those that the manifest names.
func (p ongridReader) ongridEntry() error {
	given := p.fields.text("entry")
	script, files, name, err := p.findEntry(given)
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		return Errorf(p.fields.pos("entry"), "put the program into the skill's folder, or below the folder that skills are looked for in", "entry %q leads out of that folder", given)
	case err != nil || !isExecutable(files, name):
		return notOngrid(p.options.Ongrid, true, fmt.Sprintf("entry %s is not an executable file", show(given)))
	}
	head, err := skillfs.ReadHead(files, name)
	if err != nil {
		return notOngrid(p.options.Ongrid, true, fmt.Sprintf("entry %s cannot be read", show(given)))
	}
	p.skill.Entry = p.ongridCall(script, program(name, head))
	return nil
}

// ongridCall returns the entry that calls a program as ongrid does.
func (p ongridReader) ongridCall(script string, interpreter []string) *skills.Entry {
	return &skills.Entry{
		Script:      script,
		Interpreter: interpreter,
		Args:        skills.Input{Object: entryReader(p).objectSchema("schema")},
		Timeout:     p.ongridTimeout(),
		Context:     skills.ContextNone,
		Env:         variables(p.fields, "env_allow"),
		Output:      entryReader(p).outputSchema(),
		OutputJSON:  true,
	}
}

// findEntry finds the program of an entry: its path in the skill's folder, and
// the file without links. One that lies elsewhere below the root is shown at the
// top of the folder.
func (p ongridReader) findEntry(entry string) (script string, files fs.FS, name string, err error) {
	at := p.options.Ongrid
	if filepath.IsAbs(entry) {
		if entry, err = at.relative(entry, p.skill.Dir); err != nil {
			return "", nil, "", err
		}
	}
	name, err = infer.FindScript(p.skill, entry)
	if !errors.Is(err, skillfs.ErrLeaves) || at == nil || at.Files == nil {
		return path.Clean(entry), p.skill.Files, name, err
	}
	name, err = skillfs.Resolve(at.Files, at.Root, path.Join(at.Dir, entry))
	if err != nil || !fs.ValidPath(name) {
		return "", nil, "", cmp.Or(err, skillfs.ErrLeaves)
	}
	script = path.Base(name)
	for {
		if _, err := fs.Lstat(p.skill.Files, script); err != nil {
			break
		}
		script = "_" + script
	}
	at.Outside = name
	return script, at.Files, name, nil
}

// relative returns an absolute host path relative to the skill's folder.
func (at *OngridLocation) relative(name, dir string) (string, error) {
	if at == nil || at.Root == "" || dir == "" {
		return "", skillfs.ErrLeaves
	}
	if real, err := filepath.EvalSymlinks(name); err == nil && !skillfs.Inside(at.Root, filepath.Clean(name)) {
		name = real // the way to the root may have links
	}
	if !skillfs.Inside(at.Root, filepath.Clean(name)) {
		return "", skillfs.ErrLeaves
	}
	below, err := filepath.Rel(dir, name)
	return filepath.ToSlash(below), err
}

// ongridTimeout reads the time, where 0 is none given.
func (p ongridReader) ongridTimeout() time.Duration {
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
		return infer.Interpreter("", head)
	}
	return infer.Interpreter(name, head)
}
