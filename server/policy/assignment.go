package policy

import "github.com/skillsmcp/skills-mcp/skills"

// An Assignment is the decision of the person about the tool of a skill, or about the skill
// for the principals of a profile. It grants nothing: the zero Assignment leaves all to the
// configuration, and the others allow less.
type Assignment struct {
	Profile string `json:"profile,omitempty"` // "" is everybody
	Name    string `json:"name"`              // qualified, of the skill
	Origin  string `json:"origin"`            // of the skill

	// Pinned keeps the skill's tool, however many skills there are. It is for everybody.
	Pinned bool `json:"pinned,omitempty"`
	// Unassigned takes the skill out of the profile, and Disabled has it stay there, but
	// exist for nobody.
	Unassigned bool `json:"unassigned,omitempty"`
	Disabled   bool `json:"disabled,omitempty"`
	// Priority puts the skill before those of a lower one; 0 is none.
	Priority int `json:"priority,omitempty"`
}

// narrows reports whether principals of a profile lack the skill.
func (a *Assignment) narrows(profile string) bool {
	return a.Profile == profile && profile != "" && (a.Unassigned || a.Disabled)
}

// assignmentOf returns the assignment without a decision.
func assignmentOf(profile string, skill *skills.Skill) Assignment {
	return Assignment{Profile: profile, Name: skill.QualifiedName(), Origin: skill.Origin().String()}
}
