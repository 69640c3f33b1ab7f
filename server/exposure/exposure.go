// Package exposure decides which skills are tools of their own, and which a
// model reaches by search only. Clients show every tool to their model in every
// conversation, so a thousand of them would leave no room for work.
//
// Start with [Choose].
package exposure

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Cost is the size of a skill's tool, in bytes.
type Cost struct {
	Description int
	Whole       int // as a client receives it
}

// A Reach is the way in which a model can use a skill.
type Reach string

// The ways.
const (
	ByTool   Reach = "tool"   // of its own
	BySearch Reach = "search" // and then by name, with load_skill or run_skill
	ByNobody Reach = "none"   // a model cannot use it
)

// A Decision is the reach of one skill, with the reason, for people.
type Decision struct {
	Reach Reach  `json:"reach"`
	Why   string `json:"reach_why"`
}

// State holds the facts that change while a server runs. The names are qualified names.
type State struct {
	// Active are the skills that the workspace has files for.
	Active map[string]bool
	// Shown reports whether clients were sent the tool of a skill: of those without
	// another reason, they come first, so that a new skill takes no tool away. nil is none.
	Shown func(*skills.Skill) bool
}

// A level is the reason to make a skill a tool, best first. Authors come after the person, who
// has not written the skill; and an untrusted workspace after all that the person has.
type level int

const (
	byPerson level = iota // the person, or the configuration, pins it
	byFiles               // the workspace has files for it
	byAuthor              // its frontmatter pins it
	byUse                 // it was called before
	byNobody              // no reason
)

// ranked is a skill with the criteria of its rank.
type ranked struct {
	skill  *skills.Skill
	name   string // its qualified name
	level  level
	last   bool // it is of an untrusted workspace, and not at byPerson
	pin    int  // index of the pattern, for byPerson
	uses   int
	source int // index in skills.Sources
}

// An Exposure is the result of [Choose]. It is immutable.
type Exposure struct {
	options Options
	state   State
	sources []skills.Source
	order   []*skills.Skill     // all, best first
	looked  map[string]Decision // on the skills whose cost was asked
	tools   []*skills.Skill
	hidden  []*skills.Skill // the skills with the reach BySearch, in the order of Catalog
	topics  []topic         // of the skills without a reason; nil where all may fit
	asked   int             // number of those of them that have a reason, which come first
}

// Order returns all skills in the order in which to list them: pinned ones, those
// that the workspace has files for, the most used ones, the rest by source and name; last those of untrusted workspaces.
func (e *Exposure) Order() []*skills.Skill { return e.order }

// Tools returns the skills that are tools, in no order that means anything.
func (e *Exposure) Tools() []*skills.Skill { return e.tools }

// Active reports whether the workspace has files for a skill.
func (e *Exposure) Active(skill *skills.Skill) bool { return e.state.Active[skill.QualifiedName()] }

// barred returns the reason why a model cannot use a skill, or "".
func barred(skill *skills.Skill) string {
	switch {
	case skill.Unavailable != "": // also to a person
		return "it is unavailable"
	case skill.Blocked != "":
		return "it has changed, and a person has to accept that"
	case !skill.ModelInvocable:
		return "only a person may call it"
	}
	return ""
}

// Form returns the form for a client of a name. One that knows skills by itself gets them
// as skills by default, and any other one both.
func (e *Exposure) Form(client string, native bool) Form {
	otherwise := Both
	if native {
		otherwise = Skills
	}
	return cmp.Or(e.options.As[client], e.options.As["*"], otherwise)
}
