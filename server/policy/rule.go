package policy

import (
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Mode says who confirms the calls of skills that are not safe.
type Mode string

// The modes.
const (
	ReadOnly Mode = "read-only" // nobody can: they are refused
	Confirm  Mode = "confirm"   // one person
	DualSign Mode = "dual-sign" // two people
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{ReadOnly, Confirm, DualSign} }

// Narrows reports whether a mode allows nothing that the other one does not.
func (m Mode) Narrows(other Mode) bool {
	strictness := []Mode{Confirm, DualSign, ReadOnly}
	return slices.Index(strictness, m) >= slices.Index(strictness, other)
}

// A Scope bounds the calls that one confirmation covers.
type Scope string

// The scopes of a [Rule]. Without one, the person chooses when they confirm.
const (
	Once    Scope = "once"    // the call itself
	Session Scope = "session" // at most the session of the client
	Always  Scope = "always"  // all later calls, while the skill gains no capability
	Each    Scope = "each"    // the call itself, like Once
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{Once, Session, Always, Each} }

// A Rule is a decision of the person about the skills that a pattern matches. Fields that
// are not set say nothing: the next wider rule that sets them counts.
type Rule struct {
	// Pattern is a qualified name, or a glob: "*" matches every name; elsewhere * and ?
	// match letters of one part of a name. The name of a skill also matches its tools.
	Pattern string
	// Name names the rule for people, such as "policy.skills.weather in the
	// configuration".
	Name string
	// Origin limits the rule to skills of an origin, as [skills.Origin.String] writes
	// it, of a kind, or of a folder and those in it; "" does not.
	Origin string
	// Digest is the digest of the skill that the rule was made for; "" is any.
	Digest string
	// Narrows says that the rule is of somebody who may narrow and not widen.
	Narrows bool
	// Stored says that the rule is of a [Book].
	Stored bool

	Enabled *bool
	Class   skills.Class // "" is not set
	Approve Scope        // "" is not set
	// Hosts replace the hosts that the skill declares; nil is not set.
	Hosts []egress.Rule
	// Write grants writable workspaces, or read-only ones.
	Write *bool
	// Unprotected are protected paths that the skill may write to in writable workspaces,
	// as [sandbox.Protected] names them; nil is not set.
	Unprotected []string
	// Env are names of variables that the skill is given beside those that it names.
	Env []string
	// Secrets gives the skill secrets, on the terms of [CheckSecret]; nil is not set.
	Secrets []run.SecretGrant
	// Calls are patterns of the skills that the skill may call, of those that it declares,
	// as [skills.MatchesCall] reads them; nil is not set.
	Calls []string
	// Timeout bounds each call; 0 is not set.
	Timeout time.Duration
}

// empty reports whether a rule says nothing.
func (r *Rule) empty() bool {
	return r.Enabled == nil && r.Class == "" && r.Approve == "" && r.Hosts == nil && r.Write == nil && r.Unprotected == nil && r.Env == nil && r.Secrets == nil && r.Calls == nil && r.Timeout == 0
}

// Lines describes the rule to the person who makes it.
func (r *Rule) Lines() []string {
	var lines []string
	if r.Hosts != nil {
		names := make([]string, len(r.Hosts))
		for i, host := range r.Hosts {
			names[i] = host.String()
		}
		lines = append(lines, "connects to "+strings.Join(names, ", "))
	}
	if r.Env != nil {
		lines = append(lines, "is given "+strings.Join(r.Env, ", "))
	}
	for _, g := range r.Secrets {
		lines = append(lines, "uses your secret "+g.String())
	}
	if r.Calls != nil {
		lines = append(lines, "may call the skills "+strings.Join(r.Calls, ", "))
	}
	if r.Write != nil {
		access := "reads"
		if *r.Write {
			access = "writes to"
		}
		lines = append(lines, access+" the workspaces")
	}
	if r.Unprotected != nil {
		lines = append(lines, "writes there also to what your own programs run: "+strings.Join(r.Unprotected, ", "))
	}
	if r.Class != "" {
		lines = append(lines, "is of the class "+string(r.Class))
	}
	if r.Approve != "" {
		lines = append(lines, "is asked about: "+string(r.Approve))
	}
	return lines
}

// exact is the width of a pattern that matches one name, and the width of the name of a
// skill for its tools is one less.
const exact = math.MaxInt

// width returns how narrow a pattern is for a skill: the higher, the narrower. It is
// negative for a pattern that does not match.
func width(pattern string, skill *skills.Skill) int {
	if w := widthOf(pattern, skill.QualifiedName()); w >= 0 || skill.Of == nil {
		return w
	}
	return min(widthOf(pattern, skill.Of.QualifiedName()), exact-1)
}

// widthOf is width for a name.
func widthOf(pattern, name string) int {
	if pattern == name {
		return exact
	}
	if pattern == "*" {
		return 0
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		return -1
	}
	if matched, err := path.Match(pattern, name); err != nil || !matched {
		return -1
	}
	return len(pattern) - strings.Count(pattern, "*") - strings.Count(pattern, "?")
}

// CheckPattern returns an error for a pattern that matches nothing.
func CheckPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return path.ErrBadPattern
	}
	return nil
}

// names reports whether the pattern of a rule names skills rather than any: it is a
// name, or a glob of one plugin's skills.
func (r *Rule) names() bool {
	first, _, several := strings.Cut(r.Pattern, "/")
	if several {
		return !strings.ContainsAny(first, `*?[\`)
	}
	return !strings.ContainsAny(r.Pattern, `*?[\`)
}

// belongs reports whether a rule of the configuration belongs to the first skill of a name
// that it is applied to: it names skills, and gives this one something.
func (r *Rule) belongs(skill *skills.Skill) bool {
	gives := r.Class != "" || len(r.Hosts) > 0 || len(r.Env)+len(r.Secrets)+len(r.Calls)+len(r.Unprotected) > 0 || r.Write != nil && *r.Write || r.Approve == Always || skill.Class == skills.Dangerous
	return gives && r.Origin == "" && r.names()
}

// of reports whether a rule is about skills of an origin.
func (r *Rule) of(origin skills.Origin) bool {
	if r.Origin == "" || r.Origin == string(origin.Kind) || r.Origin == origin.String() {
		return true
	}
	kind, place, found := strings.Cut(r.Origin, ":")
	if !found || !slices.Contains(originKinds(), skills.OriginKind(kind)) { // a path alone
		kind, place = string(origin.Kind), r.Origin
	}
	rest, inside := strings.CutPrefix(origin.Place, strings.TrimRight(place, `/\`))
	return kind == string(origin.Kind) && inside && (rest == "" || rest[0] == '/' || rest[0] == '\\')
}

func originKinds() []skills.OriginKind {
	return []skills.OriginKind{skills.OriginOwn, skills.OriginInstalled, skills.OriginPlugin, skills.OriginSystem, skills.OriginBundled, skills.OriginWorkspace, skills.OriginMCP}
}

// A match is a rule about one skill.
type match struct {
	*Rule
	width  int
	widens bool   // it may give the skill more than it has without rules
	owner  string // the origin that it belongs to; "" is none yet
}

// matches adds the rules about a skill to found, in their order.
func matches(found []match, rules []Rule, skill *skills.Skill, origin skills.Origin) []match {
	for i := range rules {
		if w := width(rules[i].Pattern, skill); w >= 0 && rules[i].of(origin) {
			found = append(found, match{Rule: &rules[i], width: w, widens: !rules[i].Narrows && !skill.Untrusted()})
		}
	}
	return found
}

// narrowest returns the width of the narrowest of patterns for a skill, and that pattern.
func narrowest(patterns []string, skill *skills.Skill) (best int, pattern string) {
	best = -1
	for _, p := range patterns {
		if w := width(p, skill); w > best {
			best, pattern = w, p
		}
	}
	return best, pattern
}

// stricter returns the higher one of two classes, of which "" is the lowest.
func stricter(a, b skills.Class) skills.Class {
	if rank(a) >= rank(b) {
		return a
	}
	return b
}

// rank orders classes.
func rank(c skills.Class) int {
	return slices.Index([]skills.Class{skills.Safe, skills.Mutating, skills.Dangerous}, c)
}
