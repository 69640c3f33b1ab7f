package skills

import "strings"

// An OriginKind says whose a skill is.
type OriginKind string

// The kinds of origins.
const (
	OriginOwn       OriginKind = "own"       // a folder that the person edits, such as ~/.claude/skills
	OriginInstalled OriginKind = "installed" // the folder of the skills that the person has installed
	OriginPlugin    OriginKind = "plugin"    // a plugin that somebody else publishes
	OriginSystem    OriginKind = "system"    // the machine's folders
	OriginBundled   OriginKind = "bundled"   // part of this program
	OriginWorkspace OriginKind = "workspace" // a workspace, whose author may be a stranger
	OriginMCP       OriginKind = "mcp"       // another MCP server that the person has connected
)

// PlaceMCP begins the places of skills of other MCP servers.
const PlaceMCP = "mcp:"

// An Origin is the place that a skill comes from. Grants, pins and approvals belong to an
// origin: a name alone could be claimed by another skill.
type Origin struct {
	Kind OriginKind
	// Place is the absolute host path of the skill's folder, or of its file if the
	// skill is one file or packed. Tools of a skill have the place of their owner.
	Place string
}

// String returns "KIND:PLACE". It is unique for a place.
func (o Origin) String() string { return string(o.Kind) + ":" + o.Place }

// ParseOrigin returns the origin that [Origin.String] has written.
func ParseOrigin(text string) (o Origin, ok bool) {
	kind, place, ok := strings.Cut(text, ":")
	return Origin{OriginKind(kind), place}, ok
}

// Origin returns the skill's origin.
func (s *Skill) Origin() Origin {
	owner := s.Owner()
	o := Origin{OriginOwn, owner.Dir}
	if owner.Dir == "" || owner.Command {
		o.Place = owner.File
	}
	if owner.Entry != nil && owner.Entry.Server != nil { // a plugin may have several
		o.Place += "#" + owner.Entry.Server.Server.Name
	} else if owner.OfHooks() {
		o.Place += "#hooks"
	}
	switch {
	case owner.Workspace != "":
		o.Kind = OriginWorkspace
	case owner.Dir == "" && strings.HasPrefix(owner.File, "bundled:"):
		o.Kind = OriginBundled
	case owner.Dir == "" && strings.HasPrefix(owner.File, PlaceMCP):
		o = Origin{OriginMCP, strings.TrimPrefix(owner.File, PlaceMCP+"/")}
	case owner.Source == SourceSystem:
		o.Kind = OriginSystem
	case owner.Installed:
		o.Kind = OriginInstalled
	case owner.Plugin != "":
		o.Kind = OriginPlugin
	}
	return o
}

// Guarded reports whether a change that adds capabilities blocks the skill until a person
// accepts it. Skills that the person edits are not guarded, nor those of a workspace that
// is not trusted: these are granted nothing. Those of other MCP servers are used only as
// they were consented to, file by file: any change asks again.
func (s *Skill) Guarded() bool {
	switch s.Origin().Kind {
	case OriginOwn, OriginBundled, OriginMCP:
		return false
	case OriginWorkspace:
		return s.Trusted
	}
	return true
}

// Consented returns the skill that a person's yes to this one names: a yes to a hook is to all
// hooks of its plugin, as they see the same.
func (s *Skill) Consented() *Skill {
	if s.OfHooks() {
		return s.Owner()
	}
	return s
}

// SeesCalls reports whether hooks of the skill run around calls, once a person lets them.
func (s *Skill) SeesCalls() bool {
	return s.OfHooks() || s.Entry != nil && s.Entry.Server != nil && len(s.Entry.Server.Hooks) > 0
}

// OfHooks reports whether a skill has a plugin's hooks as its tools, or is one of them.
func (s *Skill) OfHooks() bool {
	tools := s.Owner().Tools
	return len(tools) > 0 && tools[0].Entry != nil && tools[0].Entry.Hook != nil
}
