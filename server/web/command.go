package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
)

// commandLine returns the command that runs a skill with arguments, for a shell. Texts,
// numbers and truth values are options, which people can edit; the rest is JSON.
func commandLine(skill string, args map[string]any) string {
	words, rest := []string{"skills-mcp", "run", skill}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch value := args[name].(type) {
		case string, bool, json.Number:
			if text, err := skills.Render(value, ""); err == nil && skills.IsParamName(name) && !ownOption(name) {
				words = append(words, option(name, text)...)
				continue
			}
		}
		rest[name] = args[name]
	}
	if len(rest) > 0 {
		words = append(words, "--args-json", plainJSON(rest))
	}
	return shellWords(words)
}

// option returns the words of an option: one, where the value would be taken for another.
func option(name, value string) []string {
	if strings.HasPrefix(value, "--") {
		return []string{"--" + name + "=" + value}
	}
	return []string{"--" + name, value}
}

// ownOption reports whether run has an option of a name, so that a skill's parameter of that
// name is better passed as JSON.
func ownOption(name string) bool {
	return slices.Contains([]string{"args-json", "stdin", "timeout", "out", "force", "json", "help"}, name)
}

// shellWords quotes words for bash, with characters that nobody sees as codes.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		text, err := syntax.Quote(word, syntax.LangBash)
		if err != nil { // of a NUL, which no program can be passed
			text = "…"
		}
		quoted[i] = text
	}
	return strings.Join(quoted, " ")
}

// toolCall returns the MCP request that runs a skill with arguments.
func toolCall(skill *describe.Skill, args map[string]any) (string, error) {
	if args == nil {
		args = map[string]any{}
	}
	params := map[string]any{"name": skill.Tool, "arguments": args}
	if skill.Tool == "" {
		params = map[string]any{"name": "run_skill", "arguments": map[string]any{"name": skill.Name, "params": args}}
	}
	return indented(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

// plainJSON returns a value of encoding/json as JSON of one line.
func plainJSON(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
