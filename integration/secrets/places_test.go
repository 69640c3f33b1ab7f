package secrets

import (
	"runtime"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
)

// reading returns a command that prints files of secrets.
func reading(t *testing.T, script string, files ...egress.File) sandbox.Command {
	t.Helper()
	cmd, err := egress.Equip(&sandbox.Command{RunID: "places", Skill: "places", Folder: openFolder(t), Argv: []string{"sh", "-c", script}, Limits: sandbox.Limits{Timeout: lab.Patience}}, files...)
	if err != nil {
		t.Fatal(err)
	}
	return *cmd
}

// A file that cannot be written ends the run before its program; one of the most bytes that a
// value has is whole, and its variable gone.
func TestFilesThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the sandboxes are Linux's")
	}
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	runner := sandbox.New(native.New(nil), nil)
	defer runner.Close()
	r, err := runner.Run(t.Context(), reading(t, "echo begun", egress.File{Path: "~/a", Text: "text"}, egress.File{Path: "~/a/b", Text: "text"}))
	if err != nil || r.Code != 126 || len(r.Stdout.Bytes()) > 0 || !strings.Contains(string(r.Stderr.Bytes()), "the file /tmp/a/b of a secret cannot be written: its place is taken") {
		t.Errorf("%v, %d, %s%s", err, r.Code, r.Stdout.Bytes(), r.Stderr.Bytes())
	}
	large := strings.Repeat("%s\\n'\"$(id)\n", 64<<10/12)
	r, err = runner.Run(t.Context(), reading(t, "cat ~/.config/large; env | grep -c SKILLS_MCP >&2", egress.File{Path: "~/.config/large", Text: large}))
	if err != nil || string(r.Stdout.Bytes()) != large || string(r.Stderr.Bytes()) != "0\n" {
		t.Errorf("%v, %d bytes of %d, %.300s", err, len(r.Stdout.Bytes()), len(large), r.Stderr.Bytes())
	}
}

// In a kept sandbox an earlier command may have put links in the place of a file.
func TestFilesInPlaceOfLinks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the sandboxes are Linux's")
	}
	runner := sandbox.New(engine("", "")(t, &egress.Options{}), nil)
	defer runner.Close()
	sessions := session.New(runner, nil)
	defer sessions.Close()
	if err := sessions.Open(t.Context(), sandbox.Command{RunID: "kept", Skill: "places", Folder: openFolder(t)}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		cmd  sandbox.Command
		code int
		want string
	}{
		{reading(t, "touch ~/target; ln -s ~/target ~/.netrc; mkdir ~/elsewhere; ln -s ~/elsewhere ~/.config; echo linked"), 0, "linked\n"},
		{reading(t, "cat ~/.netrc; wc -c <~/target; stat -c %F ~/.netrc", egress.File{Path: "~/.netrc", Text: "text "}), 0, "text 0\nregular file\n"},
		{reading(t, "echo begun", egress.File{Path: "~/.config/app", Text: "text"}), 126, ""},
		{reading(t, "ls ~/elsewhere"), 0, ""},
	} {
		r, err := sessions.Run(t.Context(), "kept", test.cmd)
		if err != nil {
			t.Fatal(err)
		}
		if r.Code != test.code || string(r.Stdout.Bytes()) != test.want {
			t.Errorf("%q: %d, %s%s", test.cmd.Argv, r.Code, r.Stdout.Bytes(), r.Stderr.Bytes())
		}
	}
}
