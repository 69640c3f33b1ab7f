package manifest

import (
	"fmt"
	"io/fs"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
)

// Options configure the reading of a skill's manifest. The zero value reads
// all.
type Options struct {
	// Strict refuses a SKILL.md without the name and description that the Agent Skills
	// standard wants.
	Strict bool
	// ImageRole reports whether an image is configured for a role; nil accepts
	// every role.
	ImageRole func(role string) bool
	// Host returns an error for a host of sandbox.network that cannot be used, with
	// the remedy; nil accepts all.
	Host func(host string) error
	// Tools is the tools.yaml beside a SKILL.md, and Agent its agents/openai.yaml.
	Tools, Agent File
	// Plain says that the folder has no other file that could be run.
	Plain bool
	// Ongrid is the location of a skill.json; nil is not known.
	Ongrid *OngridLocation
	// Sources gets the sources of the scripts that were found; nil keeps none.
	Sources *infer.Sources
}

// A File is a file beside a manifest, as it was read. The zero value is none.
type File struct {
	Data []byte
	Err  error
}

// An OngridLocation is the location of a skill.json, from which its entry is
// resolved.
type OngridLocation struct {
	Root  string // the host folder of the root, or ""
	Files fs.FS  // of the root
	Dir   string // of the skill, in the root
	// Meant says that each skill.json of the root is meant to be a skill of
	// ongrid's, and Nested that this one lies inside of another skill.
	Meant, Nested bool

	// Outside is set to the path in the root of an entry that is not in Dir.
	Outside string
}

// parser reads one SKILL.md into a skill.
type parser struct {
	skill   *skills.Skill
	fields  fields
	doc     *document
	options Options
	// report adds to the skill's problems.
	report Report
	// linx says that the skill is written for LinX, which allows each of its
	// scripts this time, or 0.
	linx             bool
	executionTimeout time.Duration
	// failed is set by a field that restricts and cannot be read: the skill then
	// has nothing to run.
	failed bool
	// withheldTool is set by a tool that is left out because its restriction
	// cannot be read: no script of the skill is then offered undeclared.
	withheldTool bool
}

// The readers of one part of a manifest share its parser.
type (
	attributeReader   struct{ *parser } // texts, and who may call the skill, when and how
	entryReader       struct{ *parser } // the script, its parameters and its sandbox
	toolReader        struct{ *parser } // tools beside the skill's own entry
	linxReader        struct{ *parser } // LinX's fields
	ongridReader      struct{ *parser } // ongrid's skill.json and metadata
	requirementReader struct{ *parser } // needs where the skill runs, in each dialect
	restrictionReader struct{ *parser } // restrictions that are misplaced or misspelt
	resourceReader    struct{ *parser } // resources that clients can read
)

func newParser(skill *skills.Skill, doc *document, o Options) *parser {
	p := &parser{skill: skill, doc: doc, options: o}
	p.report = func(severity skills.Severity, at Position, remedy, format string, args ...any) {
		p.reportIn(skill.File, severity, at, remedy, format, args...)
	}
	p.fields = newFields(doc.front, p.report)
	return p
}

// MaxProblems is the number of problems reported for one skill. Once these are
// corrected, the others appear.
const MaxProblems = 50

// reportIn adds a problem of a file.
func (p *parser) reportIn(file string, severity skills.Severity, at Position, remedy, format string, args ...any) {
	if len(p.skill.Problems) >= MaxProblems && severity != skills.Error {
		return
	}
	p.skill.Problems = append(p.skill.Problems, skills.Problem{
		Severity: severity, Path: file, Line: at.Line, Col: at.Col,
		Message: fmt.Sprintf(format, args...), Remedy: remedy,
	})
}

// sideFile returns the mapping in a YAML file beside the manifest, and the report of
// the file. The mapping is nil for a file that cannot be read, which is a problem of
// its own.
func (p *parser) sideFile(name string, f File) (*yaml.Node, Report) {
	file := beside(p.skill.File, name)
	node, err := (*yaml.Node)(nil), f.Err
	if err == nil {
		node, err = parseYAML(f.Data)
	}
	if err != nil {
		p.skill.Problems = append(p.skill.Problems, ProblemOf(file, err))
		return nil, nil
	}
	return node, func(severity skills.Severity, at Position, remedy, format string, args ...any) {
		p.reportIn(file, severity, at, remedy, format, args...)
	}
}

func (p *parser) raw() (err error) {
	p.skill.Frontmatter, err = p.doc.values()
	return err
}

func (p *parser) restriction(key, want string) {
	p.restrictionAt(p.fields.pos(key), key, want)
}

func (p *parser) restrictionAt(at Position, key, want string) {
	p.failed = true
	p.report(skills.Error, at, "write "+want, "%q is not %s, %s", key, want, instructionsOnly)
}

// instructionsOnly is the consequence of a restriction that cannot be read.
const instructionsOnly = "so the skill is loaded as instructions only"

// reject reports the error of a part that is omitted.
func (p *parser) reject(err error) {
	problem := ProblemOf("", err)
	p.report(problem.Severity, Position{problem.Line, problem.Col}, problem.Remedy, "%s", problem.Message)
}
