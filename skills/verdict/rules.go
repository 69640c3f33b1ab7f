package verdict

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Rule recognizes passages. Its ID does not change: people write it down. The reason is a
// sentence for a person, and the remedy an imperative.
type Rule struct {
	ID, Reason, Remedy string
	Match              []match
}

// A match is one way in which a rule matches, as rules.yaml says.
type match struct {
	Severity      []Severity
	Near, Also    [][]string
	Within        int
	Wants, Hidden string
	Unless        []string
	Code, Spoken  bool

	wants, hidden *lazyregexp.Regexp // nil without
}

//go:embed rules.yaml
var table []byte

// Rules returns the rules, which tests have read.
var Rules = sync.OnceValue(func() []Rule {
	var t struct {
		Sets  map[string][]string
		Rules []Rule
	}
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	if err := decoder.Decode(&t); err != nil {
		panic(fmt.Sprintf("rules.yaml: %v", err))
	}
	for name, set := range t.Sets {
		t.Sets[name] = expand(set, nil)
	}
	for i := range t.Rules {
		for j := range t.Rules[i].Match {
			t.Rules[i].Match[j].prepare(t.Sets)
		}
	}
	return t.Rules
})

func (m *match) prepare(sets map[string][]string) {
	for _, all := range [][][]string{m.Near, m.Also} {
		for i := range all {
			all[i] = expand(all[i], sets)
		}
	}
	if m.Wants != "" {
		m.wants = lazyregexp.New(m.Wants)
	}
	if m.Hidden != "" {
		m.hidden = lazyregexp.New(m.Hidden)
	}
}

// expand replaces the names of a set by their passages.
func expand(set []string, sets map[string][]string) (all []string) {
	for _, passage := range set {
		kind, value, _ := strings.Cut(passage[1:], " ")
		switch {
		case passage[0] == '$' && sets[passage[1:]] != nil:
			if len(set) == 1 {
				return sets[passage[1:]] // the same set, so that it is looked for once
			}
			all = append(all, sets[passage[1:]]...)
		case passage[0] == '@' && surface.Passages(surface.Kind(kind), value) != nil:
			all = append(all, surface.Passages(surface.Kind(kind), value)...)
		default:
			all = append(all, passage)
		}
	}
	return all
}
