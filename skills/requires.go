package skills

import (
	"slices"
	"strings"
)

// Requires is what a skill needs where it runs, in whichever dialect it says so.
type Requires struct {
	// OS are the systems that it runs on, as of GOOS; none is any.
	OS []string `json:"os,omitempty"`
	// Bins are programs that all have to be there.
	Bins []string `json:"bins,omitempty"`
	// AnyBins are programs one of which has to be there.
	AnyBins []string `json:"any_bins,omitempty"`
	// Env are environment variables that have to be set.
	Env []string `json:"env,omitempty"`
	// Config are settings of its author's agent that have to be on.
	Config []string `json:"config,omitempty"`
	// Capabilities are what its author's agent has to let it do.
	Capabilities []string `json:"capabilities,omitempty"`
}

// Empty reports whether nothing is needed.
func (r Requires) Empty() bool {
	return len(r.OS)+len(r.Bins)+len(r.AnyBins)+len(r.Env)+len(r.Config)+len(r.Capabilities) == 0
}

// String lists what is needed, for people; "" is nothing.
func (r Requires) String() string {
	var parts []string
	add := func(what string, names []string, conjunction string) {
		if len(names) > 0 {
			parts = append(parts, what+Enumerate(names, conjunction))
		}
	}
	add("", r.OS, "or")
	add("", r.Bins, "and")
	add("", r.AnyBins, "or")
	add("the environment's ", r.Env, "and")
	add("the settings ", r.Config, "and")
	add("the capabilities ", r.Capabilities, "and")
	return strings.Join(parts, "; ")
}

// Needs is what the skill requires, and the interpreter of its script.
func (s *Skill) Needs() Requires {
	needs := s.Requires
	if s.Entry != nil && len(s.Entry.Interpreter) > 0 && !slices.Contains(needs.Bins, s.Entry.Interpreter[0]) {
		needs.Bins = append(slices.Clone(needs.Bins), s.Entry.Interpreter[0])
	}
	return needs
}
