package connect

import (
	"fmt"
	"path/filepath"
)

// An answering is a setting of a client with which a program, and no person, answers forms.
type answering struct {
	client   string
	file     string   // in the client's folder of the person
	projects []string // in a project
	format   interface {
		tree(data []byte) (map[string]any, error)
	}
	holds func(tree map[string]any) bool
	means string // after the path of the file
}

// answerings returns the settings that are known, from the documentation of each client.
func answerings() []answering {
	claude, json := []string{filepath.Join(".claude", "settings.json"), filepath.Join(".claude", "settings.local.json")}, jsonFormat{}
	return []answering{
		// code.claude.com/docs/en/hooks
		{"claude-code", "settings.json", claude, json, hook("Elicitation"), "has hooks.Elicitation: a program of yours can answer the forms of Claude Code"},
		{"claude-code", "settings.json", claude, json, hook("ElicitationResult"), "has hooks.ElicitationResult: a program of yours can change the answers to forms of Claude Code"},
		// openai/codex#17164
		{
			"codex", "config.toml", []string{filepath.Join(".codex", "config.toml")}, tomlFormat{},
			func(tree map[string]any) bool {
				return tree["approval_policy"] == "never" && tree["sandbox_mode"] == "danger-full-access"
			},
			`has approval_policy = "never" with sandbox_mode = "danger-full-access": Codex accepts forms itself, and shows them to nobody`,
		},
	}
}

// hook reports whether Claude Code's settings have hooks for an event.
func hook(event string) func(map[string]any) bool {
	return func(tree map[string]any) bool {
		hooks, _ := tree["hooks"].(map[string]any)
		of, _ := hooks[event].([]any)
		return len(of) > 0
	}
}

// Answering returns a sentence for each setting of a client, or of all for "", with which a
// program answers forms: the person's, and those of a project. It leaves out files that
// cannot be read.
func Answering(client string, places Places, project string) (all []string) {
	for _, a := range answerings() {
		if client != "" && client != a.client {
			continue
		}
		folder := codex(places).Folder
		if a.client == "claude-code" {
			folder = claudeCode(places).Folder
		}
		targets := []Target{{File: filepath.Join(folder, a.file)}}
		for _, file := range a.projects {
			targets = append(targets, Target{File: filepath.Join(project, file), Within: project})
		}
		for _, target := range targets {
			f, err := open(target)
			if err != nil || !f.exists {
				continue
			}
			if tree, err := a.format.tree(f.data); err == nil && a.holds(tree) {
				all = append(all, fmt.Sprintf("%s %s", target.File, a.means))
			}
		}
	}
	return all
}
