package plugins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// reference matches ${NAME} and ${NAME:-default}.
var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// references returns the names of the variables that a server's declaration refers to, but
// for those that every server has.
func references(server *skills.MCPServer) []string {
	texts := append(slices.Clone(server.Argv), server.Dir, server.Address)
	texts = slices.AppendSeq(slices.AppendSeq(texts, maps.Values(server.Env)), maps.Values(server.Headers))
	var names []string
	for _, m := range reference.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		switch m[1] {
		case rootVariable, dataVariable, projectVariable, "HOME", "TMPDIR":
		default:
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// An expander replaces references to variables by the values that a command was granted.
type expander struct {
	values  map[string]string
	missing []string
}

// newExpander returns the expander of a command. Its variables are the granted ones, and
// sentinels in place of masked secrets.
func newExpander(cmd *sandbox.Command) *expander {
	e := &expander{values: ownVariables(cmd)}
	for _, variable := range cmd.Env {
		name, value, _ := strings.Cut(variable, "=")
		e.values[name] = value
	}
	return e
}

// expand returns a text with its references replaced, once: a value is no text with
// references.
func (e *expander) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		if value, set := e.values[m[1]]; set {
			return value
		}
		if m[2] == "" {
			e.missing = append(e.missing, m[1])
		}
		return m[3]
	})
}

// all returns the values of a map, expanded, as "NAME" and separator and value, sorted.
func (e *expander) all(texts map[string]string, separator string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, name+separator+e.expand(texts[name]))
	}
	return list
}

// err returns an error that names the variables without a value.
func (e *expander) err(skill *skills.Skill) error {
	if len(e.missing) == 0 {
		return nil
	}
	slices.Sort(e.missing)
	names := slices.Compact(e.missing)
	if slices.Contains(names, projectVariable) {
		return &sandbox.UnavailableError{Reason: "the MCP server needs a workspace for ${" + projectVariable + "}", Remedy: "a person can name one with --workspace DIR, or let the server read it"}
	}
	host := append(slices.Clone(skill.Entry.Network), "HOST")[0]
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the MCP server needs %s, which it is not granted", skills.Enumerate(names, "and")),
		Remedy: fmt.Sprintf("a person can grant a secret with: skills-mcp secret set %[2]s, and then skills-mcp secret grant %[1]s %[2]s --host %[3]s; and a variable of their own with: skills-mcp grant %[1]s --secret %[2]s", skill.Owner().QualifiedName(), names[0], host),
	}
}

// The variables that the sandbox has a value for.
const (
	rootVariable    = "CLAUDE_PLUGIN_ROOT"
	dataVariable    = "CLAUDE_PLUGIN_DATA"
	projectVariable = "CLAUDE_PROJECT_DIR"
)

// ownVariables returns the values of the variables that need no grant.
func ownVariables(cmd *sandbox.Command) map[string]string {
	own := map[string]string{rootVariable: sandbox.SkillDir, "HOME": "/tmp", "TMPDIR": "/tmp"}
	if cmd.Grant.Data != "" {
		own[dataVariable] = sandbox.DataDir
	}
	if len(cmd.Grant.Workspaces) > 0 {
		own[projectVariable] = cmd.Grant.Workspaces[0]
	}
	return own
}
