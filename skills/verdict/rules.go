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
	Severity          []Severity
	Order, Near, Also [][]string
	Within            int
	Wants, Unless     string
	Hidden            string
	Code, Spoken      bool
	Flow, Announced   bool

	wants, unless, hidden *lazyregexp.Regexp // nil without
}

//go:embed rules.yaml
var table []byte

// Rules returns the rules, which tests have read.
func Rules() []Rule { return tables().Rules }

type tableOfRules struct {
	Severities  map[string][]Severity
	Expressions map[string][]string // alternatives by name
	Sets        map[string][]string
	Rules       []Rule

	expressions map[string]*lazyregexp.Regexp
}

var tables = sync.OnceValue(func() (t tableOfRules) {
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	if err := decoder.Decode(&t); err != nil {
		panic(fmt.Sprintf("rules.yaml: %v", err))
	}
	for name, set := range t.Sets {
		t.Sets[name] = expand(set, t.Sets)
	}
	var names []string
	t.expressions = map[string]*lazyregexp.Regexp{}
	for name, alternatives := range t.Expressions {
		all := strings.Join(alternatives, "|")
		names = append(names, "{{"+name+"}}", "(?:"+all+")")
		t.expressions[name] = lazyregexp.New(all)
	}
	for i := range t.Rules {
		for j := range t.Rules[i].Match {
			t.Rules[i].Match[j].prepare(t.Sets, strings.NewReplacer(names...))
		}
	}
	return t
})

func (m *match) prepare(sets map[string][]string, named *strings.Replacer) {
	for _, all := range [][][]string{m.Order, m.Near, m.Also} {
		for i := range all {
			all[i] = expand(all[i], sets)
		}
	}
	for expression, re := range map[string]**lazyregexp.Regexp{m.Wants: &m.wants, m.Unless: &m.unless, m.Hidden: &m.hidden} {
		if expression != "" {
			*re = lazyregexp.New(named.Replace(expression))
		}
	}
	if len(m.Order) > 0 {
		m.Near = append([][]string{m.Order[0]}, m.Near...)
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
			all = append(all, expand(sets[passage[1:]], sets)...)
		case passage[0] == '@' && surface.Passages(surface.Kind(kind), value) != nil:
			all = append(all, surface.Passages(surface.Kind(kind), value)...)
		default:
			all = append(all, passage)
		}
	}
	return all
}
