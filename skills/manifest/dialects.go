package manifest

import (
	"sync"

	"github.com/agext/levenshtein"
)

// A dialect is a family of keys at the top of a SKILL.md.
type dialect struct {
	name string
	keys []string
}

// Standard is the dialect of the Agent Skills standard.
const Standard = "Agent Skills"

// dialects returns the supported dialects, with the keys that each of them owns. A key
// that several share belongs to the first.
func dialects() []dialect {
	return []dialect{
		{Standard, []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}},
		{"Claude Code", []string{
			"when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable",
			"disallowed-tools", "model", "effort", "context", "agent", "hooks", "paths", "shell",
		}},
		{"Colony", []string{"script", "params", "sandbox_image_role", "timeout_seconds"}},
		{"skills-mcp", []string{"additional", "asks", "calls", "class", "output_schema", "pin", "resources", "sandbox", "task"}},
		{"ongrid", []string{"activation", "category", "env_allow"}},
		{"OpenClaw", []string{"requires", "command-dispatch", "command-tool", "command-arg-mode", "homepage"}},
		{"LinX", []string{
			"skill_type", "required_capabilities", "entry_points", "execution_timeout", "display_name", "gating",
		}},
	}
}

// owners returns the name of the dialect that owns each key.
var owners = sync.OnceValue(func() map[string]string {
	owners := map[string]string{}
	for _, d := range dialects() {
		for _, key := range d.keys {
			owners[key] = d.name
		}
	}
	return owners
})

// DialectOf returns the name of the dialect that owns a key at the top of a
// SKILL.md, or "" for one that nobody is known to own.
func DialectOf(key string) string { return owners()[key] }

// misspelt returns the key that somebody who wrote another one meant, or "": it
// has one letter more, less or other, or two exchanged. Short keys are like too
// many others: of those only the plural is meant, or one with a letter left out.
func misspelt(key string, known map[string]string) string {
	const short, long = 5, 32
	if known[key+"s"] != "" {
		return key + "s"
	}
	if len(key) < short || len(key) > long {
		return ""
	}
	best := ""
	for meant := range known {
		near := len(meant) > short && len(meant)-len(key) <= 1 && len(key)-len(meant) <= 1
		if near && (best == "" || meant < best) && (levenshtein.Distance(key, meant, nil) == 1 || exchanged(key, meant)) {
			best = meant
		}
	}
	return best
}

// exchanged reports whether two words differ in the order of two neighbours.
func exchanged(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
