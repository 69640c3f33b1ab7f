package main

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The verdict follows the way of a call: from a driver that has no sandbox to offer
// to the next one, and from no other.
func TestVerdict(t *testing.T) {
	fine, broken := []sandbox.Finding{ok("a", "b")}, []sandbox.Finding{{Subject: "a", Level: sandbox.LevelFailed}}
	nothing := "nothing: instructions are served, but no script can run (driver: auto)"
	for _, test := range []struct {
		name           string
		setup          []sandbox.Finding
		docker, native section
		level          sandbox.Level
		want           string
	}{
		{"both work", fine, section{Findings: fine, outcome: ran}, section{Findings: fine, outcome: ran}, sandbox.LevelOK, "docker"},
		{"no engine", fine, section{Findings: broken}, section{Findings: fine, outcome: ran}, sandbox.LevelOK, "native"},
		{"neither", fine, section{Findings: broken}, section{Findings: broken}, sandbox.LevelFailed, nothing},
		{"no cache", broken, section{Findings: fine, outcome: ran}, section{Findings: fine, outcome: ran}, sandbox.LevelFailed, nothing},
		{"an image to pull", fine, section{Findings: fine, outcome: untried}, section{Findings: fine, outcome: ran}, sandbox.LevelOK, "docker, if the first call can pull its image; else native"},
		{"an image to pull alone", fine, section{Findings: fine, outcome: untried}, section{Findings: broken}, sandbox.LevelWarning, "docker, if the first call can pull its image"},
		{"a call would fail in docker", fine, section{Findings: broken, outcome: failed}, section{Findings: fine, outcome: ran}, sandbox.LevelFailed, nothing},
		{"without limits", fine, section{Findings: broken, outcome: ran}, section{Findings: fine, outcome: ran}, sandbox.LevelFailed, "docker, without what failed above"},
	} {
		test.docker.Name, test.native.Name = "docker", "native"
		got := verdict("auto", []section{{Findings: test.setup}, {}, test.docker, test.native})
		if got.Level != test.level || got.Detail != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
