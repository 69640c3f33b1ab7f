package lab

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// NoteSkill is a mutating skill, which adds its arguments to the file notes of the
// workspace.
func (a *Account) NoteSkill(name string) {
	a.T.Helper()
	a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\nparams: {text: string}\n---\n")
	a.Skill(name+"/run.sh", "echo \""+name+" $*\" >> \"$SKILL_WORKSPACE/notes\" && echo \"wrote $*\"\n")
}

// Notes returns the lines of the file notes.
func (a *Account) Notes() []string {
	a.T.Helper()
	text, err := os.ReadFile(filepath.Join(a.Workspace, "notes"))
	if err != nil && !os.IsNotExist(err) {
		a.T.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// Wrote fails the test unless this many notes were written in all.
func (a *Account) Wrote(want int) {
	a.T.Helper()
	if got := a.Notes(); len(got) != want {
		a.T.Fatalf("the notes are %q, want %d", got, want)
	}
}

// Waits fails the test unless a call was refused until a person says yes, and returns the
// id of the question.
func (c *ToolClient) Waits(r Reply) string {
	c.t.Helper()
	c.Fails(r, "APPROVAL_REQUIRED")
	id := ApprovalID.FindStringSubmatch(r.Text())
	if id == nil {
		c.t.Fatalf("the refusal has no id: %s", r.Text())
	}
	return id[1]
}

// Approve says yes on a terminal.
func (a *Account) Approve(id string, more ...string) {
	a.T.Helper()
	if screen, code := a.Terminal("yes", append([]string{"approve", id}, more...)...); code != 0 {
		a.T.Fatalf("approve: exit %d\n%s", code, screen)
	}
}

func Text(s string) map[string]any { return map[string]any{"text": s} }

// NativeAccount returns an account for the native driver, with the skill note.
func NativeAccount(t *testing.T, more string) *Account {
	t.Helper()
	Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", CheckNative(t.Context()))
	a := NewAccount(t, "native", more)
	a.NoteSkill("note")
	return a
}

// Fifo makes a pipe with a name in the workspace. The end that it returns reads and
// writes.
func (a *Account) Fifo(name string) *os.File {
	a.T.Helper()
	path := filepath.Join(a.Workspace, name)
	err := syscall.Mkfifo(path, 0o600)
	if err == nil {
		err = os.Chmod(path, 0o666)
	}
	if err != nil {
		a.T.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		a.T.Fatal(err)
	}
	a.T.Cleanup(func() { file.Close() })
	return file
}
