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

// An Exposure is the result of [Choose]. It is immutable.
type Exposure struct {
	decisions map[string]Decision // by qualified name
	order     []*skills.Skill     // all, best first
	hidden    []*skills.Skill     // the skills with the reach BySearch, in the order of Catalog
	asked     int                 // how many of order have a level before byNobody
	settled   bool                // independent of the cost of skills at byNobody
	active    map[string]bool     // the argument of Choose
}

// Of returns the decision on a skill.
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

// chooser is the state of one Choose.
type chooser struct {
	options Options
	cost    func(*skills.Skill) Cost
	ranked  []ranked // the undecided skills, best first
	result  *Exposure
}

func (c *chooser) decide(r ranked, reach Reach, why string) {
	c.result.decisions[r.name] = Decision{reach, why}
}

// setAside decides on the skills that cannot be tools.
func (c *chooser) setAside() {
	var left []ranked
	for _, r := range c.ranked {
		switch {
		case r.skill.Unavailable != "": // also to a person
			c.decide(r, ByNobody, "it is unavailable")
		case r.skill.Blocked != "":
			c.decide(r, ByNobody, "it has changed, and a person has to accept that")
		case !r.skill.ModelInvocable:
			c.decide(r, ByNobody, "only a person may call it")
		default:
			left = append(left, r)
		}
	}
	c.ranked = left
}

// allFit reports whether all fit into the limits. A tool that would not fit alone does
// not count: it loses its own place, and no other skill does.
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
		c.decide(r, BySearch, "its tool alone is larger than expose.catalog_chars")
	}
	c.ranked = fitting
	return true
}

// isGuest reports whether r is the tool of another skill, whose instructions name it,
// at byNobody.
func (r ranked) isGuest() bool { return r.skill.Of != nil && r.level == byNobody }

// guests returns the number of guests.
func (c *chooser) guests() (n int) {
	for _, r := range c.ranked {
		if r.isGuest() {
			n++
		}
	}
	return n
}

// skillsFit reports whether all but the guests fit into the limits.
func (c *chooser) skillsFit() bool {
	all := c.ranked
	c.ranked = slices.DeleteFunc(slices.Clone(all), ranked.isGuest)
	if len(c.ranked) == len(all) || !c.allFit() {
		c.ranked = all
		return false
	}
	for _, r := range all {
		if r.isGuest() {
			c.decide(r, BySearch, "not all fit; load_skill of "+r.skill.Of.QualifiedName()+" names it")
		}
	}
	return true
}

func (c *chooser) takeAll(why string) {
	for _, r := range c.ranked {
		c.decide(r, ByTool, cmp.Or(r.reason(), why))
	}
}

// takeFirst makes tools of the skills before byNobody, best first, while they fit.
func (c *chooser) takeFirst() {
	tools, room := c.options.MaxTools, c.options.Chars
	for _, r := range c.ranked {
		switch {
		case c.options.Mode == Search && r.level != byPerson:
			c.decide(r, BySearch, "only pinned skills are tools (expose.mode: search)")
			continue
		case r.level == byNobody:
			c.decide(r, BySearch, "not all fit; not pinned, never used")
			continue
		}
		if cost := c.cost(r.skill).Whole; tools > 0 && cost <= room {
			tools, room = tools-1, room-cost
			c.decide(r, ByTool, r.reason())
			continue
		}
		c.decide(r, BySearch, r.reason()+"; over the limits of expose")
	}
}

// bySearch returns the skills with the reach BySearch: those before byNobody, those
// outside of plugins, those of plugins, and then the tools of skills, which the
// instructions of their skill name.
func (e *Exposure) bySearch() []*skills.Skill {
	var asked, alone, inPlugin, tools []*skills.Skill
	for i, skill := range e.order {
		switch {
		case e.Of(skill).Reach != BySearch:
		case i < e.asked:
			asked = append(asked, skill)
		case skill.Of != nil:
			tools = append(tools, skill)
		case skill.Plugin == "":
			alone = append(alone, skill)
		default:
			inPlugin = append(inPlugin, skill)
		}
	}
	return slices.Concat(asked, alone, inPlugin, tools)
}
