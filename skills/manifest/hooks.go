package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// ParseHookFile reads a hooks.json.
func ParseHookFile(data []byte) ([]skills.Hook, error) { return parsePart(data, parseHooks) }

// parseHooks reads the content of a hooks.json: a map of events, each with a list
// of hooks or of groups of hooks; or a list of hooks with events. Either is bare
// or under "hooks".
func parseHooks(node *yaml.Node) (hooks []skills.Hook, ok bool) {
	if inner := newFields(node, discard).get("hooks"); inner != nil {
		node = inner
	}
	switch node.Kind {
	case yaml.SequenceNode:
		hooks = hooksOf(skills.Hook{}, node, 0)
	case yaml.MappingNode:
		for _, f := range newFields(node, discard).list {
			hooks = append(hooks, hooksOf(skills.Hook{Event: f.key}, f.node, 0)...)
		}
	default:
		return nil, false
	}
	return hooks, len(hooks) > 0 || len(node.Content) == 0
}

// hooksOf reads the hooks in a node: a list, a group, or a hook. outer has the
// event and the matcher of the group around it.
func hooksOf(outer skills.Hook, node *yaml.Node, depth int) (hooks []skills.Hook) {
	const deepest = 4 // lists and groups in one another
	if depth > deepest {
		return nil
	}
	node = deref(node)
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			hooks = append(hooks, hooksOf(outer, item, depth+1)...)
		}
	case yaml.MappingNode:
		f := newFields(node, discard)
		outer.Event = cmp.Or(f.text("event"), outer.Event)
		outer.Matcher = cmp.Or(f.text("matcher"), outer.Matcher)
		if group := f.get("hooks"); group != nil {
			return hooksOf(outer, group, depth+1)
		}
		if runs(&outer, f); outer.Event != "" && outer.Runs != "" {
			return []skills.Hook{outer}
		}
	}
	return hooks
}

// runs reads what a hook runs. Source of the keys: Claude Code's hooks have
// command, prompt or url; Copilot's have bash and powershell.
func runs(hook *skills.Hook, f fields) {
	hook.Type = cmp.Or(f.text("type"), "command")
	hook.Timeout, hook.Env = f.seconds("timeout"), keys(f, "env")
	for _, key := range []string{"command", "bash", "powershell", "prompt", "url"} {
		words := f.words(key, one)
		text := strings.Join(words, " ")
		if text == "" {
			continue
		}
		hook.Runs = text
		switch {
		case key == "powershell":
			hook.Argv = []string{"powershell", "-Command", text}
		case key == "prompt" || key == "url":
		case f.get(key).Kind == yaml.SequenceNode || f.get("args") != nil:
			hook.Argv = slices.Concat(words, f.words("args", one))
		default:
			hook.Argv = []string{"bash", "-c", text}
		}
		return
	}
}
