package skills

import "testing"

// What Conduit's conventions say of a skill, wherever they stand in the frontmatter.
func TestConduit(t *testing.T) {
	type m = map[string]any
	for _, test := range []struct {
		name   string
		front  m
		always bool
		agent  string
	}{
		{"nothing", nil, false, ""},
		{"frontmatter", m{"activation": "always"}, true, ""},
		{"metadata", m{"metadata": m{"activation": " Always "}}, true, ""},
		{"Conduit's part", m{"metadata": m{"conduit": m{"activation": "always", "agent": "home"}}}, true, "home"},
		{"JSON in a text", m{"metadata": `{"conduit": {"agent": "home", "activation": "always"}}`}, true, "home"},
		{"a dotted key", m{"metadata": m{"conduit.agent": "home"}}, false, "home"},
		{"another word", m{"activation": "manual", "metadata": m{"conduit": m{"agent": 7}}}, false, ""},
		{"ongrid's keywords", m{"activation": m{"keywords": []any{"always"}}}, false, ""},
		{"ongrid's mode", m{"activation": m{"mode": "always", "keywords": []any{"x"}}}, true, ""},
		{"ongrid's mode in the metadata", m{"metadata": m{"ongrid": m{"activation": m{"mode": "always"}}}}, true, ""},
		{"another mode", m{"activation": m{"mode": "auto"}}, false, ""},
		{"a broken text", m{"metadata": `{"conduit": `}, false, ""},
		{"a list", m{"metadata": []any{"conduit"}}, false, ""},
	} {
		s := &Skill{Frontmatter: test.front}
		if s.Always() != test.always || s.ConduitAgent() != test.agent {
			t.Errorf("%s: %t, %q", test.name, s.Always(), s.ConduitAgent())
		}
	}
}
