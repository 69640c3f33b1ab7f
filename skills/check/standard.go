// Package check finds where a SKILL.md breaks the Agent Skills standard, and
// repairs the faults that have one certain remedy.
//
// Start with [Standard] for the findings, [Open] for the repair of a file, [Review]
// for the faults of a loaded skill.
// Package scan, which loads skills, tolerates more.
package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Finding is one violation of the Agent Skills standard.
type Finding struct {
	Key             string // of the frontmatter; "" for the whole file
	Line, Col       int    // from 1
	Message, Remedy string
}

// Problem returns the finding as an error of the file at path.
func (f Finding) Problem(path string) skills.Problem {
	return skills.Problem{Severity: skills.Error, Path: path, Line: f.Line, Col: f.Col, Message: f.Message, Remedy: f.Remedy}
}

// Covers reports whether the finding makes a loading warning about the same file
// redundant.
func (f Finding) Covers(p skills.Problem) bool {
	if p.Severity != skills.Warning || p.Line > 0 && p.Line != f.Line {
		return false
	}
	switch f.Key {
	case "name", "description":
		return strings.HasPrefix(p.Message, "the "+f.Key+" ") || strings.HasPrefix(p.Message, "there is no "+f.Key)
	}
	return false
}

// The longest texts that the standard allows, in characters.
const (
	maxDescription   = 1024
	maxCompatibility = 500
)

// Standard returns the violations of the Agent Skills standard
// (https://agentskills.io/specification) in a SKILL.md, in the order of the file.
// folder is the name of the skill's folder.
func Standard(data []byte, folder string) []Finding {
	c := &checker{}
	c.file(data, folder)
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return c.found
}

// StandardFile is [Standard] for a file. A file that is larger than loading allows
// has no findings.
func StandardFile(fsys fs.FS, name, folder string) ([]Finding, error) {
	data, err := skillfs.ReadRegular(fsys, name, maxFile)
	switch {
	case errors.Is(err, skillfs.ErrTooLarge):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Standard(data, folder), nil
}

// checker collects findings.
type checker struct {
	fields *yaml.Node
	lines  int // in the file before the fields
	found  []Finding
}

func (c *checker) file(data []byte, folder string) {
	f, ok := split(data)
	if !ok {
		c.found = append(c.found, Finding{Line: 1, Col: 1, Message: "there is no frontmatter", Remedy: `begin the file with name and description between two lines "---"`})
		return
	}
	c.lines = f.open + 1
	fields, err := decode(strings.Join(f.fields(), ""))
	if err != nil {
		line, _ := manifest.YAMLLine(err)
		c.found = append(c.found, Finding{Line: c.lines + line, Col: 1, Message: "the frontmatter is not YAML, so other clients do not load it", Remedy: "quote values that contain a colon, or run check --fix"})
		f.quoteColons()
		if fields, err = decode(strings.Join(f.fields(), "")); err != nil {
			return
		}
	}
	c.fields = fields
	c.name(folder)
	c.text("description", maxDescription, true)
	c.text("compatibility", maxCompatibility, false)
	c.text("allowed-tools", 0, false)
	c.metadata()
	c.keys()
}

// maxFindings bounds the findings of one file. The next run reports the rest.
const maxFindings = 50

func (c *checker) report(key string, node *yaml.Node, remedy, format string, args ...any) {
	if len(c.found) == maxFindings {
		return
	}
	f := Finding{Key: key, Line: c.lines, Col: 1, Message: fmt.Sprintf(format, args...), Remedy: remedy}
	if node != nil {
		f.Line, f.Col = c.lines+node.Line, node.Column
	}
	c.found = append(c.found, f)
}

// text checks and returns a text of at most that many characters, 0 for any number.
func (c *checker) text(name string, most int, required bool) (text string, at *yaml.Node) {
	key, value, times := lookup(c.fields, name)
	if times == 0 {
		if required {
			c.report(name, nil, "add it", "there is no %s, which the standard requires", name)
		}
		return "", nil
	}
	value = deref(value)
	if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		c.report(name, key, "write text, in quotes if need be", "%q is not text", name)
		return "", nil
	}
	switch n := utf8.RuneCountInString(value.Value); {
	case strings.TrimSpace(value.Value) == "" && required:
		c.report(name, key, "write it", "%q is empty", name)
	case strings.TrimSpace(value.Value) == "":
		c.report(name, key, "write it, or leave the key out", "%q is empty", name)
	case most > 0 && n > most:
		c.report(name, value, fmt.Sprintf("shorten it to %d", most), "the %s is %d characters long; the standard allows %d", name, n, most)
	}
	return value.Value, value
}

func (c *checker) name(folder string) {
	name, at := c.text("name", maxName, true)
	if strings.TrimSpace(name) == "" {
		return
	}
	if !standardName.MatchString(name) {
		remedy := "use a-z, 0-9 and single hyphens between them"
		if normal := Normalize(name); normal != "" {
			remedy = "write " + normal
		}
		c.report("name", at, remedy, "the name %q is not one that the standard allows", name)
	}
	if folder != "" && name != folder {
		c.report("name", at, "give both the same name", "the name %q differs from the folder's, %q", name, folder)
	}
}

// metadata checks a map of texts.
func (c *checker) metadata() {
	key, value, times := lookup(c.fields, "metadata")
	if times == 0 {
		return
	}
	value = deref(value)
	if value.Kind != yaml.MappingNode {
		c.report("metadata", key, "write a map of texts", `"metadata" is not a map`)
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		if item := deref(value.Content[i+1]); item.Kind != yaml.ScalarNode || item.Tag != "!!str" {
			c.report("metadata", value.Content[i], "write it in quotes", "%q in metadata is not text", value.Content[i].Value)
		}
	}
}

// keys reports the keys that the standard does not define.
func (c *checker) keys() {
	if c.fields == nil {
		return
	}
	for i := 0; i+1 < len(c.fields.Content); i += 2 {
		if key := c.fields.Content[i]; manifest.DialectOf(key.Value) != manifest.Standard {
			c.report(key.Value, key, "leave it out, or check without --strict where a client needs it", "%q is not a key of the standard", key.Value)
		}
	}
}
