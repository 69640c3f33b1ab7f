package skills

import (
	"gopkg.in/yaml.v3"
)

// hooks reads which hooks a plugin has.
func (s *scanner) hooks(dir string, m *manifest, report reportFunc) {
	s.shown(dir, "hooks/hooks.json", m.hooks, report, func(node *yaml.Node) bool {
		hooks, ok := parseHooks(node)
		s.inPlugin.Hooks = capped(append(s.inPlugin.Hooks, hooks...))
		return ok
	})
	if len(s.inPlugin.Hooks) > 0 {
		report(Note, position{}, "", "its hooks are not run")
	}
}
