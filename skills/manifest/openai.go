package manifest

import (
	"bytes"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// OpenAIFile is Codex's file with a skill's presentation and policy.
const OpenAIFile = "agents/openai.yaml"

// openAI reads the file, where there is one:
//
//	interface: {display_name, short_description, default_prompt}
//	policy: {allow_implicit_invocation}
//	dependencies: {tools: [{type: mcp, value, description}]}
//
// Icons and colours are for Codex alone. A file that cannot be read might keep
// models from the skill, so it does.
func (p attributeReader) openAI() {
	file := p.options.Agent
	if file.Err == nil && len(bytes.TrimSpace(file.Data)) == 0 {
		return
	}
	node, report := p.sideFile(OpenAIFile, file)
	if node == nil {
		p.skill.ModelInvocable = false
		return
	}
	top := newFields(node, report)
	shown := newFields(top.get("interface"), report)
	p.skill.DisplayName = strings.TrimSpace(shown.text("display_name"))
	p.skill.DefaultPrompt = strings.TrimSpace(shown.text("default_prompt"))
	p.skill.ShortDescription = strings.TrimSpace(shown.text("short_description"))
	policy := newFields(top.get("policy"), report)
	implicit, ok := policy.flag("allow_implicit_invocation", true)
	if !ok {
		report(skills.Error, policy.pos("allow_implicit_invocation"), "write true or false", `"allow_implicit_invocation" is not true or false, so only a person can call the skill`)
	}
	p.skill.ModelInvocable = p.skill.ModelInvocable && implicit && ok
	tools := newFields(top.get("dependencies"), report).get("tools")
	if tools == nil || tools.Kind != yaml.SequenceNode {
		return
	}
	for _, node := range tools.Content {
		tool := newFields(deref(node), discard)
		if name := tool.text("value"); tool.text("type") == "mcp" && name != "" {
			report(skills.Note, posOf(deref(node)), "", "it relies on the MCP server %s, which your client has to have", show(name))
		}
	}
}
