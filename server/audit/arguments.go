package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds of the texts of a row, in bytes.
const (
	maxArgs    = 8 << 10
	maxText    = 1 << 10 // of one string in the arguments
	maxMessage = 1 << 10
	maxList    = 8 << 10 // of connections
	maxSearch  = 2 << 20 // of arguments that are looked through for secrets: more than code has
)

// arguments returns the arguments of a proposal without secrets, bounded; nil for none.
func arguments(p *run.Proposal, secrets []string) json.RawMessage {
	args := p.Args
	if len(args) == 0 {
		return nil
	}
	if n := size(args, maxSearch); n > maxSearch {
		return encode(map[string]any{"not recorded": fmt.Sprintf("more than %d bytes", maxSearch)}, maxArgs)
	}
	if p.Action != run.ActionCode && p.Skill != nil && p.Skill.Entry != nil {
		var marked []string
		args, marked = hideMarked(p.Skill.Entry.Params(), args)
		secrets = append(marked, secrets...)
	}
	value := NewRedactor(secrets...).Value(args)
	return encode(walk(value, func(text string) string { return cut(p.Concealed(text), maxText) }), maxArgs)
}

// size returns the length of the strings in a value, up to a little above most.
func size(value any, most int) int {
	n := 0
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		for _, item := range v {
			if n += 1 + size(item, most); n > most {
				break
			}
		}
	case map[string]any:
		for key, item := range v {
			if n += len(key) + size(item, most); n > most {
				break
			}
		}
	}
	return n
}

// hideMarked returns the arguments without those of which a schema marks a part as secret,
// and the texts in them.
func hideMarked(params []skills.Param, args map[string]any) (_ map[string]any, marked []string) {
	shown := maps.Clone(args)
	for _, p := range params {
		value, given := args[p.Name]
		if !given || !marks(p.Schema, 0) {
			continue
		}
		shown[p.Name] = Redacted
		walk(value, func(text string) string {
			marked = append(marked, text)
			return text
		})
	}
	return shown, marked
}

// maxDepth bounds how far into a schema marks are looked for: a deeper one counts as
// marked.
const maxDepth = 16

// marks reports whether a schema marks a value or a part of it as secret: writeOnly, or
// format: password.
func marks(s *jsonschema.Schema, depth int) bool {
	if s == nil {
		return false
	}
	if s.WriteOnly || s.Format == "password" || depth > maxDepth {
		return true
	}
	parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Items, s.AdditionalProperties})
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			parts = append(parts, p.Value)
		}
	}
	return slices.ContainsFunc(parts, func(part *jsonschema.Schema) bool { return marks(part, depth+1) })
}

// encode returns a value as JSON of at most so many bytes. A longer one becomes a string
// with its beginning.
func encode(value any, most int) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	if len(data) <= most {
		return data
	}
	data, _ = json.Marshal(cut(string(data), most/2-64)) // escapes at most double it
	return data
}

// cut returns a text of at most a little more than so many bytes, which says what it
// lacks.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d more bytes)", text[:end], len(text)-end)
}
