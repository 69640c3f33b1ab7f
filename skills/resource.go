package skills

import (
	"cmp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A Resource is something that a skill lets clients read by a URI.
type Resource struct {
	// URI names it; "" where Template does.
	URI string
	// Template names many, as package uritemplate reads it. Each variable is a
	// parameter of what the skill runs.
	Template string
	// Name is never "".
	Name        string
	Title       string
	Description string
	MIMEType    string // "" where nobody said
	// File is the path of what is read in the skill's folder; "" where the skill
	// is run, and its output is what is read.
	File string
	// Line is where it is declared in the skill's File.
	Line int
}

// Key is what no two resources of a catalog share: URI or Template.
func (r Resource) Key() string { return r.URI + r.Template }

// A Declared is a resource, and the skill that has it.
type Declared struct {
	Skill *Skill
	Resource
}

// Resources returns what the skills of the catalog let clients read, by the names
// of the skills, those of a workspace last: it takes no URI from the person's own.
// A URI is the first skill's that declares it; 256 count.
func (c *Catalog) Resources() []Declared {
	declared, _ := claims(c.Skills)
	return declared
}

// claims returns the resources that count of skills, and why others do not.
func claims(all []*Skill) (declared []Declared, problems []Problem) {
	owner := map[string]*Skill{}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Skill) int { return cmp.Compare(min(len(a.Workspace), 1), min(len(b.Workspace), 1)) })
	for _, s := range all {
		for _, r := range s.Resources {
			first := owner[r.Key()]
			switch {
			case first != nil:
				problems = append(problems, ignored(s, r, "it is one of the skill "+first.QualifiedName(), "give it another URI"))
			case len(declared) == maxCatalogResources:
				problems = append(problems, ignored(s, r, "the skills have more than there is room for", "declare fewer"))
			default:
				owner[r.Key()] = s
				declared = append(declared, Declared{s, r})
			}
		}
	}
	return declared, problems
}

func ignored(s *Skill, r Resource, why, remedy string) Problem {
	return Problem{Severity: Warning, Path: s.File, Line: r.Line, Message: "the resource " + truncate.String(r.Key(), maxEcho) + " is ignored: " + why, Remedy: remedy}
}
