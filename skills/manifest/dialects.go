package manifest

import (
	"slices"
	"strings"
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
		{"skills-mcp", []string{"additional", "asks", "calls", "class", "output_schema", "pin", "resources", "sandbox", "secrets", "task"}},
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

// parentOf returns the key below which a key is read, "" for one that has no such place.
func parentOf(key string) string {
	switch key {
	case "network", "warm", "env":
		return "sandbox"
	case "skillKey", "primaryEnv", "bins", "anyBins":
		return "metadata.openclaw"
	case "binaries", "env_vars":
		return "gating"
	}
	return ""
}

// isOwn reports whether a key at the top runs something, or is this program's own.
func isOwn(key string) bool {
	of := DialectOf(key)
	return of == "Colony" || of == "skills-mcp" || key == "disable-model-invocation"
}

// misspelt returns the key that somebody who wrote another one meant, or "": the
// plural of it, or a long one with a letter more, less or other, or two exchanged.
func misspelt(key string) string {
	known := owners()
	if known[key+"s"] != "" {
		return key + "s"
	}
	best := ""
	for meant := range known {
		alike := len(key) >= 5 && len(meant) > 5 && max(len(key), len(meant))-min(len(key), len(meant)) < 2
		if alike && (best == "" || meant < best) && (levenshtein.Distance(key, meant, nil) == 1 || levenshtein.Distance(key, meant, nil) == 2 && sorted(key) == sorted(meant)) {
			best = meant
		}
	}
	return best
}

// sorted returns the letters of a word in their order.
func sorted(word string) string {
	all := strings.Split(word, "")
	slices.Sort(all)
	return strings.Join(all, "")
}
