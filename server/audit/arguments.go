package audit

import (
	"encoding/json"
	"fmt"
	"maps"
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
	return encode(walk(value, func(text string) string { return cut(text, maxText) }), maxArgs)
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

// hideMarked returns the arguments without the values that their schemas mark as secret
// (writeOnly, or format: password), and the texts of those.
func hideMarked(params []skills.Param, args map[string]any) (_ map[string]any, marked []string) {
	var hidden map[string]any
	for _, p := range params {
		value, given := args[p.Name]
		if !given {
			continue
		}
		if rest, found := hide(p.Schema, value, 0); found != nil {
			if hidden == nil {
				hidden = maps.Clone(args)
			}
			hidden[p.Name], marked = rest, append(marked, found...)
		}
	}
	if hidden == nil {
		return args, nil
	}
	return hidden, marked
}

// maxDepth bounds how far into a value marks are looked for.
const maxDepth = 16

// hide returns a value without the parts that a schema marks as secret, and the texts
// of those; nil if there are none.
func hide(s *jsonschema.Schema, value any, depth int) (_ any, marked []string) {
	if s == nil || depth > maxDepth {
		return value, nil
	}
	if s.WriteOnly || s.Format == "password" {
		marked = []string{}
		walk(value, func(text string) string {
			marked = append(marked, text)
			return text
		})
		return Redacted, marked
	}
	for _, alternative := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, one := range alternative {
			rest, found := hide(one, value, depth+1)
			value, marked = rest, append(marked, found...)
		}
	}
	switch v := value.(type) {
	case []any:
		rest := make([]any, len(v))
		for i, item := range v {
			var found []string
			rest[i], found = hide(s.Items, item, depth+1)
			marked = append(marked, found...)
		}
		value = rest
	case map[string]any:
		rest := make(map[string]any, len(v))
		for key, item := range v {
			var found []string
			rest[key], found = hide(property(s, key), item, depth+1)
			marked = append(marked, found...)
		}
		value = rest
	}
	return value, marked
}

// property returns the schema of a property of an object; nil if it has none.
func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if s.Properties != nil {
		if own, ok := s.Properties.Get(name); ok {
			return own
		}
	}
	return s.AdditionalProperties
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
