// Package exposure decides which skills are tools of their own, and which a
// model reaches by search only. Clients show every tool to their model in every
// conversation, so a thousand of them would leave no room for work.
//
// Start with [Choose].
package exposure

import (
	"cmp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Mode says how many skills are tools.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // all while they fit; then the pinned and the most used ones
	All    Mode = "all"    // all
	Search Mode = "search" // none but those that the configuration pins
)

// Modes are the values that a person may write.
func Modes() []string { return []string{string(Auto), string(All), string(Search)} }

// What there is room for where nobody says otherwise.
const (
	DefaultTools = 40     // tools of skills
	DefaultChars = 12_000 // their descriptions together, in bytes
)

// Options configure [Choose]. The zero value is usable.
type Options struct {
	// Mode is how many skills are tools; "" is [Auto].
	Mode Mode
	// MaxTools is how many tools there is room for; 0 is [DefaultTools].
	MaxTools int
	// Chars is how long all descriptions may be together, in bytes; 0 is
	// [DefaultChars]. Where not all skills are tools, it bounds the tools as a
	// whole, their parameters included.
	Chars int
	// Pin are names and patterns of skills that come first, as [Matches] reads
	// them.
	Pin []string
	// Uses says how often skills were called, by qualified name.
	Uses map[string]int
}

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.MaxTools == 0 {
		o.MaxTools = DefaultTools
	}
	if o.Chars == 0 {
		o.Chars = DefaultChars
	}
	return o
}

// A Cost is the room that a skill's tool takes, in bytes.
type Cost struct {
	Description int
	Whole       int // as a client receives it
}

// A Reach is the way on which a model comes to a skill.
type Reach string

// The ways.
const (
	ByTool   Reach = "tool"   // of its own
	BySearch Reach = "search" // and then by name, with load_skill or run_skill
	ByNobody Reach = "none"   // a model cannot use it
)

// A Decision is what was decided of one skill, and why, for people.
type Decision struct {
	Reach Reach  `json:"reach"`
	Why   string `json:"reach_why"`
}

// An Exposure is what [Choose] decided. It is not changed.
type Exposure struct {
	decisions map[string]Decision // by qualified name
	order     []*skills.Skill     // all, best first
	hidden    []*skills.Skill     // those that are reached by search, as they are listed
	asked     int                 // how many of them somebody asked for
	settled   bool                // whatever room a skill takes that nobody asked for
	active    map[string]bool     // as they were given
}

// Of returns what was decided of a skill.
func (e *Exposure) Of(skill *skills.Skill) Decision { return e.decisions[skill.QualifiedName()] }

// Order returns all skills in the order in which to list them: pinned ones,
// then those that the workspace has files for, the most used ones, the rest by
// name.
func (e *Exposure) Order() []*skills.Skill { return e.order }

// Active reports whether the workspace has files for a skill.
func (e *Exposure) Active(skill *skills.Skill) bool { return e.active[skill.QualifiedName()] }

// Choose decides which of the skills are tools. active are the qualified names
// of those that the workspace has files for; cost is asked only of skills that
// may become tools. The same facts give the same result.
func Choose(all []*skills.Skill, active map[string]bool, cost func(*skills.Skill) Cost, o Options) *Exposure {
	o = o.withDefaults()
	c := &chooser{
		options: o, cost: cost, ranked: rank(all, active, o),
		result: &Exposure{decisions: make(map[string]Decision, len(all)), active: active},
	}
	for _, r := range c.ranked {
		c.result.order = append(c.result.order, r.skill)
		if r.level != byNobody {
			c.result.asked++
		}
	}
	c.setAside()
	c.result.settled = o.Mode != Auto || len(c.ranked)-c.guests() > o.MaxTools
	switch {
	case o.Mode == All:
		c.takeAll("every skill is a tool (expose.mode: all)")
	case o.Mode == Auto && c.allFit():
		c.takeAll("all skills fit")
	case o.Mode == Auto && c.skillsFit():
		c.takeAll("all skills fit, without the tools that they have")
	default:
		c.takeFirst()
	}
	c.result.hidden = c.result.bySearch()
	return c.result
}

// chooser is one run of Choose.
type chooser struct {
	options Options
	cost    func(*skills.Skill) Cost
	ranked  []ranked // what is still to be decided
	result  *Exposure
}

func (c *chooser) decide(skill *skills.Skill, reach Reach, why string) {
	c.result.decisions[skill.QualifiedName()] = Decision{reach, why}
}

// setAside decides on the skills that are no tools whatever room there is.
func (c *chooser) setAside() {
	var left []ranked
	for _, r := range c.ranked {
		switch {
		case r.skill.Unavailable != "": // also to a person
			c.decide(r.skill, ByNobody, "it is unavailable")
		case !r.skill.ModelInvocable:
			c.decide(r.skill, ByNobody, "only a person may call it")
		default:
			left = append(left, r)
		}
	}
	c.ranked = left
}

// allFit reports whether there is room for all. A tool that would not fit alone
// does not count: it costs itself its place, and no other skill.
func (c *chooser) allFit() bool {
	if len(c.ranked) > c.options.MaxTools {
		return false
	}
	var sum Cost
	var fitting, large []ranked
	for _, r := range c.ranked {
		cost := c.cost(r.skill)
		if cost.Whole > c.options.Chars {
			large = append(large, r)
			continue
		}
		fitting = append(fitting, r)
		sum.Description += cost.Description
		sum.Whole += cost.Whole
	}
	// Parameters may take three times as much as descriptions.
	if sum.Description > c.options.Chars || sum.Whole > 4*c.options.Chars {
		return false
	}
	for _, r := range large {
		c.decide(r.skill, BySearch, "its tool alone is larger than expose.catalog_chars")
	}
	c.ranked = fitting
	return true
}

// isGuest reports whether r is the tool of a skill, which tells of it, and nobody
// asked for it.
func (r ranked) isGuest() bool { return r.skill.Of != nil && r.level == byNobody }

// guests returns how many there are.
func (c *chooser) guests() (n int) {
	for _, r := range c.ranked {
		if r.isGuest() {
			n++
		}
	}
	return n
}

// skillsFit reports whether there is room for all but the guests.
func (c *chooser) skillsFit() bool {
	all := c.ranked
	c.ranked = slices.DeleteFunc(slices.Clone(all), ranked.isGuest)
	if len(c.ranked) == len(all) || !c.allFit() {
		c.ranked = all
		return false
	}
	for _, r := range all {
		if r.isGuest() {
			c.decide(r.skill, BySearch, "not all fit; load_skill of "+r.skill.Of.QualifiedName()+" names it")
		}
	}
	return true
}

func (c *chooser) takeAll(why string) {
	for _, r := range c.ranked {
		c.decide(r.skill, ByTool, cmp.Or(r.reason(), why))
	}
}

// takeFirst takes, of those that somebody asked for, the first that there is
// room for.
func (c *chooser) takeFirst() {
	tools, room := c.options.MaxTools, c.options.Chars
	for _, r := range c.ranked {
		switch {
		case c.options.Mode == Search && r.level != byPerson:
			c.decide(r.skill, BySearch, "only pinned skills are tools (expose.mode: search)")
			continue
		case r.level == byNobody:
			c.decide(r.skill, BySearch, "not all fit; not pinned, never used")
			continue
		}
		if cost := c.cost(r.skill).Whole; tools > 0 && cost <= room {
			tools, room = tools-1, room-cost
			c.decide(r.skill, ByTool, r.reason())
			continue
		}
		c.decide(r.skill, BySearch, r.reason()+"; over the limits of expose")
	}
}
