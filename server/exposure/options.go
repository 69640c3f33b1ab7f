package exposure

import "cmp"

// A Mode limits how many skills are tools.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // all while they fit; then the pinned and the most used ones
	All    Mode = "all"    // all
	Search Mode = "search" // none but those that the configuration pins
)

// Modes returns the values of the configuration.
func Modes() []string { return []string{string(Auto), string(All), string(Search)} }

// A Form is the form in which a client gets skills.
type Form string

// The forms.
const (
	Tools  Form = "tools"  // tools alone
	Skills Form = "skills" // by the Skills extension, with tools for their scripts alone
	Both   Form = "both"
)

// Forms returns the values of the configuration.
func Forms() []string { return []string{string(Tools), string(Skills), string(Both)} }

// Defaults of [Options].
const (
	DefaultTools = 40     // tools of skills
	DefaultChars = 12_000 // their descriptions together, in bytes
	// SubagentChars are the characters that the tools for subagents take from the skills.
	SubagentChars = 4300
)

// Options configure [Choose]. The zero value is usable.
type Options struct {
	// Mode limits how many skills are tools; "" is [Auto].
	Mode Mode
	// As has the form for clients by name, for all others by "*".
	As map[string]Form
	// MaxTools bounds the number of tools; 0 is [DefaultTools].
	MaxTools int
	// Chars bounds the size of all descriptions together, in bytes; 0 is
	// [DefaultChars]. Where not all skills are tools, it bounds the tools as a
	// whole, their parameters included.
	Chars int
	// Pin lists patterns, as of [Matches], of the skills that come first.
	Pin []string
	// Uses weighs the calls of skills, by qualified name.
	Uses map[string]int
}

// withDefaults returns o with its defaults.
func (o Options) withDefaults() Options {
	o.Mode = cmp.Or(o.Mode, Auto)
	o.MaxTools = cmp.Or(o.MaxTools, DefaultTools)
	o.Chars = cmp.Or(o.Chars, DefaultChars)
	return o
}
