package hooks

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Names of tools as Claude Code shows them: of the server "skills", as connect names it.
const toolPrefix = "mcp__skills__"

// Bounds of one hook around a call.
const (
	maxTime   = time.Minute
	startTime = 10 * time.Second
)

// A hook runs around calls, at one event.
type hook struct {
	skill   *skills.Skill // to call
	owner   *skills.Skill
	event   string
	code    bool // it is of Conduit code
	async   bool
	timeout time.Duration
	matches func(name string) bool // of tools, or sources and reasons of sessions
}

// newHook returns the hook of a Claude Code plugin.
func newHook(skill *skills.Skill) hook {
	declared := skill.Entry.Hook
	tools, rule := matcher(declared.Matcher), declared.If
	matches := func(name string) bool { return tools(name) && (rule == "" || permits(rule, name)) }
	return hook{skill, skill.Owner(), declared.Event, false, declared.Async, min(skill.Entry.Timeout, maxTime), matches}
}

// newCodeHook returns the hooks of Conduit code at an event, which the host runs as one.
func newCodeHook(owner *skills.Skill, event string) hook {
	skill, call := *owner, *owner.Entry.Server
	call.Method, call.Tool = skills.RunHooks, event
	skill.Entry, skill.Asks, skill.Tools, skill.Problems = owner.Entry.To(call), nil, nil, nil
	return hook{&skill, owner, event, true, false, maxTime, func(string) bool { return true }}
}

// plain matches a matcher that is a list of names.
var plain = lazyregexp.New(`^[A-Za-z0-9_|]+$`)

// matcher returns the function for a matcher of Claude Code: * or none is all, a list of names
// with | between them those names, and else a regular expression, which may match a part.
func matcher(pattern string) func(string) bool {
	switch {
	case pattern == "" || pattern == "*":
		return func(string) bool { return true }
	case plain.MatchString(pattern):
		names := strings.Split(pattern, "|")
		return func(name string) bool { return slices.Contains(names, name) }
	}
	expression, err := regexp.Compile(pattern)
	if err != nil { // the skill is unavailable
		return func(string) bool { return false }
	}
	return expression.MatchString
}

// permits reports whether a permission rule of Claude Code is about a tool of this server. Rules
// about arguments, such as Bash(git *), are of its own tools.
func permits(rule, name string) bool {
	if start, all := strings.CutSuffix(rule, "*"); all {
		return strings.HasPrefix(name, start)
	}
	return name == rule || rule == strings.TrimSuffix(toolPrefix, "__")
}
