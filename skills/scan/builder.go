package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// builder collects what a scan finds, highest priority first.
type builder struct {
	skills   map[string]*skills.Skill // by qualified name
	roots    map[*skills.Skill]Root
	folders  map[[2]string]*candidate // by plugin and host folder; nil is a folder that was read and has no skill
	plugins  []rooted
	agents   map[string]*skills.Agent // by qualified name
	problems []skills.Problem
	shadowed []skills.Shadow

	agentClaims claims // the names of the agents before those of untrusted workspaces; made with the first of these

	places     []Root        // of the scan
	candidates []*candidate  // in the order in which they rank
	held       []skillfs.Dir // the roots' folders, until release
	cache      Cache         // until release; may be nil
}

func newBuilder() *builder {
	return &builder{skills: map[string]*skills.Skill{}, roots: map[*skills.Skill]Root{}, folders: map[[2]string]*candidate{}, agents: map[string]*skills.Agent{}}
}

// reads reports whether a host folder lies in a root, so that the scan finds it there.
func (b *builder) reads(dir string) bool {
	return slices.ContainsFunc(b.places, func(r Root) bool { return r.Dir != "" && skillfs.Inside(skillfs.Resolved(r.Dir), dir) })
}

// release closes what was opened for the scan.
func (b *builder) release() {
	if b.cache != nil {
		b.cache.Close()
	}
	for _, held := range b.held {
		held.Close()
	}
}

// enter reports whether a host folder, or file, is still to be read: another root
// may have led to it. A plugin's skill is not one outside of the plugin as well. c
// is the skill, or nil; a skill that one of the person's roots leads to is theirs,
// wherever it was found first.
func (b *builder) enter(plugin, dir string, c *candidate) bool {
	if dir == "" {
		return true
	}
	if first, read := b.folders[[2]string{plugin, dir}]; read {
		if first != nil && c != nil && c.skill.Workspace == "" {
			first.skill.Workspace, first.skill.Trusted = "", false
		}
		if first != nil && c != nil && c.skill.Installed { // a link of the person leads to it
			first.skill.Installed = true
		}
		return false
	}
	b.folders[[2]string{plugin, dir}] = c
	b.folders[[2]string{"", dir}] = c
	return true
}

// addSkill takes a skill unless its name is taken.
func (b *builder) addSkill(skill *skills.Skill, root Root) {
	name := skill.QualifiedName()
	first, taken := b.skills[name]
	if !taken {
		b.skills[name], b.roots[skill] = skill, root
		b.problems = append(b.problems, skill.Problems...)
		return
	}
	if b.roots[first].String() == root.String() {
		b.problems = append(b.problems, skills.Problem{Severity: skills.Warning, Path: skill.File, Message: fmt.Sprintf("the name %q is taken by %s", name, first.File), Remedy: "rename one of them"})
	}
	b.shadowed = append(b.shadowed, skills.Shadow{Skill: skill, By: first})
}

// addTools takes the tools of a skill that has got its name. They come after all
// skills, because a tool's name is made of two names.
func (b *builder) addTools(skill *skills.Skill, root Root) {
	if b.skills[skill.QualifiedName()] != skill {
		return
	}
	for _, tool := range skill.Tools {
		b.addSkill(tool, root)
	}
}

// addPlugin takes a plugin of a root. It reports whether it was there already, by
// way of another root, and returns another one of the same root that has its name,
// or nil. A plugin hides none of another's skills but those of the same name.
func (b *builder) addPlugin(plugin *skills.Plugin, root Root) (known bool, rival *skills.Plugin) {
	for _, p := range b.plugins {
		switch {
		case p.Name != plugin.Name:
		case p.Dir == plugin.Dir && p.Dir != "":
			if plugin.Workspace == "" {
				b.own(p.Plugin) // the person names it, too
			}
			return true, nil
		case rival == nil && p.root == root.String():
			rival = p.Plugin
		}
	}
	b.plugins = append(b.plugins, rooted{plugin, root.String()})
	return false, rival
}

// own makes a plugin the person's, and its skills.
func (b *builder) own(plugin *skills.Plugin) {
	plugin.Workspace, plugin.Trusted = "", false
	for _, c := range b.candidates {
		if c.skill.Plugin == plugin.Name && c.skill.PluginDir == plugin.Dir {
			c.skill.Workspace, c.skill.Trusted = "", false
		}
	}
}

// rooted is a plugin, and the root that it was found in.
type rooted struct {
	*skills.Plugin
	root string
}

// addAgent takes an agent unless its name is taken. In another source, that is no
// mistake. The agents of untrusted workspaces come last, and get a prefix where their
// name could be mistaken for another's.
func (b *builder) addAgent(agent *skills.Agent, untrusted bool, report manifest.Report) {
	if untrusted {
		b.prefixAgent(agent)
	}
	name := agent.QualifiedName()
	if first, taken := b.agents[name]; taken {
		if first.Source != agent.Source {
			return
		}
		report(skills.Warning, manifest.Position{}, "rename one of them", "the agent name %q is taken by %s", name, first.File)
		return
	}
	b.agents[name] = agent
}

// prefixAgent gives a prefix to an agent of an untrusted workspace whose name is claimed.
// All other agents are known by then.
func (b *builder) prefixAgent(agent *skills.Agent) {
	if b.agentClaims == nil {
		b.agentClaims = b.newClaims()
		for _, a := range b.agents {
			b.agentClaims.add(a.QualifiedName(), a.Name)
		}
	}
	agent.Prefix = b.agentClaims.prefix(agent.QualifiedName())
}

func (b *builder) catalog() *skills.Catalog {
	c := &skills.Catalog{Problems: b.problems, Shadowed: b.shadowed}
	for _, s := range b.skills {
		c.Skills = append(c.Skills, s)
	}
	for _, p := range b.plugins {
		c.Plugins = append(c.Plugins, p.Plugin)
	}
	for _, a := range b.agents {
		c.Agents = append(c.Agents, a)
	}
	slices.SortFunc(c.Agents, func(a, b *skills.Agent) int { return cmp.Compare(a.QualifiedName(), b.QualifiedName()) })
	slices.SortFunc(c.Skills, func(a, b *skills.Skill) int { return cmp.Compare(a.QualifiedName(), b.QualifiedName()) })
	slices.SortStableFunc(c.Plugins, func(a, b *skills.Plugin) int { return cmp.Compare(a.Name, b.Name) })
	for _, u := range c.Unclaimed() {
		c.Problems = append(c.Problems, unclaimed(u))
	}
	slices.SortStableFunc(c.Problems, skills.CompareProblems)
	return c
}

// unclaimed returns the problem of a resource that does not count.
func unclaimed(u skills.Unclaimed) skills.Problem {
	why, remedy := "the skills have more than there is room for", "declare fewer"
	if u.By != nil {
		why, remedy = "it is one of the skill "+u.By.QualifiedName(), "give it another URI"
	}
	return skills.Problem{Severity: skills.Warning, Path: u.Skill.File, Line: u.Line, Message: "the resource " + truncate.String(u.Key(), 80) + " is ignored: " + why, Remedy: remedy}
}

// load reads the candidates that before does not know, on all processors, unless the time
// until is over, and then takes them in the order in which they were found, those of untrusted workspaces last.
func (b *builder) load(ctx context.Context, o Options, before *memory, until time.Time) {
	var unknown []*candidate
	for _, c := range b.candidates {
		if !before.recall(c) {
			unknown = append(unknown, c)
		}
	}
	share(len(unknown), func(i int) {
		switch {
		case ctx.Err() != nil:
		case !until.IsZero() && time.Now().After(until):
			unknown[i].err = errUnread
		default:
			unknown[i].load(o, b.cache)
		}
	})
	b.problems = append(b.problems, settleNames(b.candidates)...)
	b.admit(func(s *skills.Skill) bool { return !s.Untrusted() })
	if slices.ContainsFunc(b.candidates, func(c *candidate) bool { return c.skill.Untrusted() }) || slices.ContainsFunc(b.plugins, func(p rooted) bool { return p.Untrusted() }) {
		b.prefixUntrusted()
		b.admit((*skills.Skill).Untrusted)
	}
}

// admit takes the candidates whose skills are wanted, in the order in which they rank.
func (b *builder) admit(wanted func(*skills.Skill) bool) {
	for _, behind := range []bool{false, true} {
		for _, c := range b.candidates {
			c.held = nil
			switch {
			case !wanted(c.skill) || c.behind != behind || errors.Is(c.err, errNoSkill) || errors.Is(c.err, errUnread):
			case c.copied != nil:
				b.problems = append(b.problems, skills.Problem{Severity: skills.Note, Path: c.skill.File, Message: "it is left out: it has the same files as " + c.copied.skill.File, Remedy: "remove one of them"})
			case c.err != nil:
				b.problems = append(b.problems, manifest.ProblemOf(c.skill.File, c.err))
			default:
				b.addSkill(c.skill, c.root)
			}
		}
	}
	for _, c := range b.candidates {
		if c.err == nil && c.copied == nil && wanted(c.skill) {
			b.addTools(c.skill, c.root)
		}
	}
}

// prefixUntrusted gives a prefix to the skills and plugins of untrusted workspaces whose
// names are claimed by the admitted skills: each claims the names by which it can be
// called.
func (b *builder) prefixUntrusted() {
	c := b.newClaims()
	for _, s := range b.skills {
		c.add(s.QualifiedName(), s.Name, s.Folder, s.HashedToolName())
	}
	for _, broken := range b.candidates {
		if s := broken.skill; broken.err != nil && !errors.Is(broken.err, errNoSkill) && !s.Untrusted() {
			c.add(broken.folder, joinNames(s.Plugin, broken.folder)) // the person may be writing it now
		}
	}
	for _, p := range b.plugins {
		if p.Untrusted() {
			p.Prefix = c.prefix(p.Name)
		}
	}
	for _, candidate := range b.candidates {
		s := candidate.skill
		if candidate.err != nil || !s.Untrusted() {
			continue
		}
		names := []string{s.QualifiedName()}
		for _, tool := range s.Tools {
			names = append(names, tool.QualifiedName())
		}
		candidate.settle(candidate.above, c.prefix(names...))
	}
}

// newClaims returns the names of the trusted plugins.
func (b *builder) newClaims() claims {
	c := claims{}
	for _, p := range b.plugins {
		if !p.Untrusted() {
			c.add(p.Name)
		}
	}
	return c
}
