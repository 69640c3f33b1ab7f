package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func proposed(args map[string]any) *run.Proposal {
	return &run.Proposal{
		Skill:   &skills.Skill{Name: "deploy", Source: skills.SourceSession, Workspace: "/work", Dir: "/work/a\u202eb", Class: skills.Mutating, Entry: &skills.Entry{Script: "run.sh"}},
		Command: &sandbox.Command{Skill: "deploy", Grant: sandbox.Grant{Workspaces: []string{"/work"}, Write: true, Hosts: []string{"a.example:443"}}},
		Args:    args, Digest: "sha256:0", Variables: []string{"KEY"}, Decision: &run.Decision{Class: skills.Mutating, Signatures: 1},
	}
}

// A yes is the code, in the line that follows the question, and nothing else.
func TestConsent(t *testing.T) {
	for in, want := range map[string]string{
		"1234\nanswer": "answer", " 1234 \r\n": "", "1234": "",
		"": "no", "\n": "no", "y\n": "no", "12345\n": "no", "yes\n1234\n": "no",
	} {
		var out strings.Builder
		from := strings.NewReader(in)
		err := (&terminalConfirmer{from, &out, "1234"}).Approve(t.Context(), proposed(nil))
		if (err == nil) != (want != "no") {
			t.Errorf("%q: %v", in, err)
		}
		if rest, _ := io.ReadAll(from); err == nil && string(rest) != want {
			t.Errorf("%q: left %q for the skill", in, rest)
		}
		if !strings.HasSuffix(out.String(), "Type 1234 to run it, anything else to leave it: ") {
			t.Errorf("asked %q", out.String())
		}
	}
	waiting, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&terminalConfirmer{waiting, io.Discard, "1234"}).Approve(ctx, proposed(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Nothing that is shown moves the cursor, hides or turns characters, or begins a
// line of its own.
func TestProposal(t *testing.T) {
	hostile := "a\x1b[2K\r\n  skill      other\u202e\u200b\u009b\xff\U000E0041\u00a0\u3164b"
	got := proposal(proposed(map[string]any{hostile: hostile, "list": []any{hostile, 1.5}, "z": nil}))
	want := `skills-mcp: deploy is mutating, so it runs only if you say so.
  arguments  --a\x1b[2K\r\n  skill      other\u202e\u200b\u009b\ufffd\U000e0041\u00a0\u3164b "a\x1b[2K\r\n  skill      other\u202e\u200b\u009b\xff\U000e0041\u00a0\u3164b"
             --list ["a\u001b[2K\r\n  skill      other\u202e\u200b\u009b\ufffd\U000e0041\u00a0\u3164b",1.5]
             --z null
  runs       run.sh
  skill      deploy, source session: a workspace's, which somebody else may have written
  from       /work/a\u202eb
  digest     sha256:0
  writes     /work
  connects   a.example:443
  is given   KEY
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
