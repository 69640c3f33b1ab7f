package agents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// modes are the permission modes of agents that say something of a profile.
var modes = map[string]policy.Mode{
	"plan": policy.ReadOnly, "readonly": policy.ReadOnly, "explore": policy.ReadOnly, "": "", "default": "", "ask": "", "confirm": policy.Confirm, "dualsign": policy.DualSign,
}

// Check returns an error for a field of the configuration that means nothing. It begins with
// key and the name of the field.
func (a *Agent) Check(key string) error {
	switch _, known := modes[squeezed(a.PermissionMode)]; {
	case strings.TrimSpace(a.Prompt) == "":
		return fmt.Errorf("%s.prompt is empty; write who the agent is", key)
	case !known:
		return fmt.Errorf("%s.permission_mode is %.70q; write one of plan, confirm, dual-sign, or leave it out", key, a.PermissionMode)
	case a.MaxChildren < 0:
		return fmt.Errorf("%s.max_children is %d; write at least 1, or 0 for the default", key, a.MaxChildren)
	}
	return nil
}

// squeezed returns a key or value in one spelling.
func squeezed(text string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(text))
}

// read returns the agent in a frontmatter. notes say, a line each, which fields are invalid.
func read(front map[string]any) (a Agent, notes []string) {
	fields := map[string]any{}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(front))) { // the first of two spellings counts
		if front[name] != nil {
			fields[squeezed(name)] = front[name]
		}
	}
	list := func(key string) []string {
		if fields[key] == nil {
			return nil
		}
		return words(fields[key])
	}
	a = Agent{Tools: list("tools"), DisallowedTools: list("disallowedtools"), AllowAgents: list("allowagents"), Skills: list("skills")}
	if mode := fields["permissionmode"]; mode != nil {
		a.PermissionMode = strings.TrimSpace(fmt.Sprint(mode))
	}
	if most := fields["maxchildren"]; most != nil {
		n, err := strconv.Atoi(fmt.Sprint(most))
		if a.MaxChildren = n; err != nil || n < 0 {
			a.MaxChildren, notes = 0, append(notes, fmt.Sprintf("max_children: %.70q is no number", fmt.Sprint(most)))
		}
	}
	return a, notes
}

// tool matches a tool in a list, with its parentheses.
var tool = lazyregexp.New(`[^\s,()]+(?:\([^)]*\))?`)

// words returns the tools or names of a field: a text, or a list of texts.
func words(value any) []string {
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	all := []string{}
	for _, one := range list {
		for _, word := range tool.FindAll(fmt.Append(nil, one), -1) { // another value names no skill, and is noted
			all = append(all, string(word))
		}
	}
	return all
}

// FrontmatterProfile returns the profile that an agent's file describes, by its frontmatter: the
// mode, and the tools that are skills of a catalog. notes name, a line each, the parts without
// a counterpart.
func FrontmatterProfile(data []byte, catalog *skills.Catalog) (p policy.Profile, notes []string, err error) {
	front, err := manifest.Frontmatter(data)
	if err != nil {
		return p, nil, err
	}
	a, _ := read(front)
	p, notes = a.profile(catalog)
	return p, notes, nil
}

// profile returns the profile of the agent among the skills of a catalog.
func (a *Agent) profile(catalog *skills.Catalog) (p policy.Profile, notes []string) {
	mode, known := modes[squeezed(a.PermissionMode)]
	if p.Mode = mode; !known {
		notes = append(notes, fmt.Sprintf("permission mode %.70q: has no counterpart; who confirms calls is for policy.mode", a.PermissionMode))
	}
	named := func(key string, tools []string) []string {
		all := []string{}
		for _, tool := range tools {
			found := skillsOf(tool, catalog)
			if _, spawner := spawned(tool); len(found) == 0 && !spawner {
				notes = append(notes, fmt.Sprintf("%s: %.70q is no skill, and is left out", key, tool))
			}
			all = append(all, found...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if allow := named("tools", a.Tools); a.Tools != nil && !slices.Contains(allow, "*") {
		p.Allow = allow
	}
	if deny := named("disallowed_tools", a.DisallowedTools); len(a.DisallowedTools) > 0 {
		p.Deny = deny
	}
	named("skills", a.Skills)
	return p, notes
}

// plainTool returns a tool without the server that an agent names before it, as in
// mcp__skills__report.
func plainTool(tool string) string {
	if parts := strings.SplitN(tool, "__", 3); parts[0] == "mcp" && len(parts) == 3 {
		return parts[2]
	}
	return tool
}

// skillsOf returns the skills that an agent calls by the name of a tool, such as
// mcp__skills__report, Skill(report) or report; Skill is all. The tools that profiles bound
// like skills count as such.
func skillsOf(tool string, catalog *skills.Catalog) (names []string) {
	if tool == "*" || tool == "Skill" {
		return []string{"*"}
	}
	if inner, ok := strings.CutPrefix(tool, "Skill("); ok {
		tool = strings.TrimSuffix(inner, ")")
	}
	if tool = plainTool(tool); tool == string(run.WayCode) || tool == string(run.WaySession) {
		return []string{tool}
	}
	for _, skill := range catalog.Skills {
		if tool == skill.QualifiedName() || tool == skill.PlainToolName() || tool == skill.HashedToolName() || tool == skill.Name && !skill.Untrusted() {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}

// SpawnTool is the name of the tool that starts a session.
const SpawnTool = "sessions_spawn"

// spawned reports whether a tool spawns agents, in our words or Claude Code's, and returns
// those that it names in parentheses, as in Agent(reviewer, tester).
func spawned(tool string) (agents string, spawner bool) {
	name, inner, _ := strings.Cut(plainTool(tool), "(")
	return strings.TrimSuffix(inner, ")"), tool == "*" || slices.Contains([]string{SpawnTool, "Agent", "Task"}, name)
}

// spawns returns the agents that the agent may spawn; nil is any. One whose list of tools has
// none for that spawns those alone that it names. One that is denied an agent spawns none.
func (a *Agent) spawns() []string {
	for _, tool := range a.DisallowedTools {
		if _, spawner := spawned(tool); spawner {
			return []string{}
		}
	}
	switch {
	case slices.Contains(a.AllowAgents, "*"):
		return nil
	case a.AllowAgents != nil || a.Tools == nil:
		return slices.Clone(a.AllowAgents)
	}
	all := []string{}
	for _, tool := range a.Tools {
		switch agents, spawner := spawned(tool); {
		case spawner && agents == "":
			return nil
		case spawner:
			all = append(all, words(agents)...)
		}
	}
	return all
}

// Names that no agent and no model has.
const (
	Auto    = "auto"    // the agent of the skill that fits a task best
	Inherit = "inherit" // the model of the parent
)

// A Role is an agent with its profile.
type Role struct {
	Agent
	Source    string         `json:"source"`              // where it is from: [OfConfiguration], or the source of its file
	File      string         `json:"file,omitempty"`      // "" is none
	Untrusted bool           `json:"untrusted,omitempty"` // it is of a workspace that the person does not trust, and is refused
	Profile   policy.Profile `json:"profile"`
	Notes     []string       `json:"notes,omitempty"` // what of its definition has no counterpart
}

// OfConfiguration is the source of the agents that the configuration defines.
const OfConfiguration = "configuration"

// A Roster knows the agents of the configuration, and those of the catalog that it was applied
// to. It may be used concurrently.
type Roster struct {
	defined map[string]Agent
	mu      sync.Mutex // guards the fields below
	catalog *skills.Catalog
	roles   map[string]*Role // of the catalog, by qualified name, once they are asked for
}

// NewRoster returns the roster with the agents of a configuration, by name.
func NewRoster(defined map[string]Agent) *Roster {
	return &Roster{defined: defined, catalog: &skills.Catalog{}, roles: map[string]*Role{}}
}

// Apply makes the agents of a catalog count, and returns it: it is a filter of a server's
// catalog that removes nothing.
func (r *Roster) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.catalog != catalog {
		r.catalog, r.roles = catalog, map[string]*Role{}
	}
	return catalog
}

// role returns the agent of a qualified name; nil without one.
func (r *Roster) role(name string) *Role {
	r.mu.Lock()
	defer r.mu.Unlock()
	role, made := r.roles[name]
	if !made {
		role = r.newRole(name, r.catalog)
		r.roles[name] = role
	}
	return role
}

func (r *Roster) newRole(name string, catalog *skills.Catalog) *Role {
	role := &Role{Source: OfConfiguration}
	a, defined := r.defined[name]
	if !defined {
		at := slices.IndexFunc(catalog.Agents, func(a *skills.Agent) bool { return a.QualifiedName() == name })
		if at < 0 {
			return nil
		}
		file := catalog.Agents[at]
		a, role.Notes = read(file.Frontmatter)
		a.Description, a.Prompt, a.Model = file.Description, file.Instructions, file.Model
		role.Source, role.File, role.Untrusted = string(file.Source), file.File, file.Untrusted()
	}
	if a.Model == Inherit {
		a.Model = ""
	}
	a.Name, a.AllowAgents = name, a.spawns()
	var notes []string
	role.Profile, notes = a.profile(catalog)
	role.Notes = append(role.Notes, notes...)
	for i, other := range a.AllowAgents {
		if found := r.named(catalog, other); len(found) == 1 {
			a.AllowAgents[i] = found[0]
		}
	}
	role.Agent = a
	return role
}

// named returns the qualified names of the agents that a name means: its own, also as
// plugin:name, or those with that name in a plugin. Untrusted ones count where no other has
// the name.
func (r *Roster) named(catalog *skills.Catalog, name string) (all []string) {
	var untrusted []string
	name = strings.Replace(name, ":", "/", 1) // as Claude Code writes it
	for _, one := range r.names(catalog) {
		if one == name {
			return []string{name}
		}
		if path.Base(one) != name {
			continue
		}
		if slices.ContainsFunc(catalog.Agents, func(a *skills.Agent) bool { return a.QualifiedName() == one && a.Untrusted() }) {
			untrusted = append(untrusted, one)
		} else {
			all = append(all, one)
		}
	}
	if all == nil {
		return untrusted
	}
	return all
}

// names returns the qualified names of the agents of the configuration and a catalog.
func (r *Roster) names(catalog *skills.Catalog) []string {
	all := slices.Sorted(maps.Keys(r.defined))
	for _, a := range catalog.Agents {
		if name := a.QualifiedName(); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Profile returns the profile of an agent that exists, by its qualified name.
func (r *Roster) Profile(name string) (policy.Profile, bool) {
	if role := r.role(name); role != nil && !role.Untrusted {
		return role.Profile, true
	}
	return policy.Profile{}, false
}

// Roles returns the agents of the configuration, and then those of a catalog, which is the
// applied one or a part of it. They must not be changed.
func (r *Roster) Roles(catalog *skills.Catalog) (all []*Role) {
	for _, name := range r.names(catalog) {
		if role := r.role(name); role != nil {
			all = append(all, role)
		}
	}
	return all
}

// Spawnable returns those of [Roster.Roles] that sessions may have, and that the last agent of
// a chain may spawn; a chain of none may spawn all.
func (r *Roster) Spawnable(chain []string, catalog *skills.Catalog) []*Role {
	by := &Role{}
	if len(chain) > 0 {
		by = r.role(chain[len(chain)-1])
	}
	return slices.DeleteFunc(r.Roles(catalog), func(role *Role) bool {
		return role.Untrusted || by == nil || by.AllowAgents != nil && !slices.Contains(by.AllowAgents, role.Name)
	})
}

// Find returns the agent of a name in a catalog as [Roster.Roles] does: a qualified name, or
// the name of one agent in a plugin. The error is a [*run.Error].
func (r *Roster) Find(catalog *skills.Catalog, name string) (*Agent, error) {
	found := r.named(catalog, name)
	if len(found) > 1 {
		return nil, &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("several agents are called %q; name one of %s", name, strings.Join(found, ", "))}
	}
	var role *Role
	if len(found) == 1 {
		role = r.role(found[0])
	}
	switch {
	case role == nil:
		var all []string
		for _, one := range r.Spawnable(nil, catalog) {
			all = append(all, one.Name)
		}
		return nil, &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no agent %.100q; there are: %s", name, truncate.String(cmp.Or(strings.Join(all, ", "), "none"), 1000))}
	case role.Untrusted:
		return nil, &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("the agent %q is of a workspace that the person does not trust; they alone can change that, with trust on a terminal of theirs", role.Name)}
	}
	return &role.Agent, nil
}
