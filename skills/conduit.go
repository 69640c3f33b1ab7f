package skills

import "strings"

// Always reports whether the author wants the instructions in every conversation:
// "activation: always", or ongrid's "activation: {mode: always}", in the frontmatter, its
// metadata, or Conduit's or ongrid's part of that.
func (s *Skill) Always() bool {
	for _, fields := range []map[string]any{s.Frontmatter, s.metadata(), s.conduit(), object(s.metadata()["ongrid"])} {
		activation := fields["activation"]
		if mode, ok := object(activation)["mode"]; ok {
			activation = mode
		}
		if text, ok := activation.(string); ok && strings.EqualFold(strings.TrimSpace(text), "always") {
			return true
		}
	}
	return false
}

// ConduitAgent returns the name of the agent to which Conduit routes a message that the
// skill matches (metadata.conduit.agent), or "".
func (s *Skill) ConduitAgent() string {
	agent, ok := s.conduit()["agent"].(string)
	if !ok {
		agent, _ = s.metadata()["conduit.agent"].(string)
	}
	return strings.TrimSpace(agent)
}

// metadata returns the metadata of the frontmatter, which some write as a JSON text.
func (s *Skill) metadata() map[string]any { return object(s.Frontmatter["metadata"]) }

// conduit returns Conduit's part of the metadata.
func (s *Skill) conduit() map[string]any { return object(s.metadata()["conduit"]) }

// object returns a map, or the one that a text holds as JSON; nil for other values.
func object(value any) map[string]any {
	if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		value, _ = DecodeJSON(text)
	}
	fields, _ := value.(map[string]any)
	return fields
}
