package consent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A question that waits is told to the person: the command of notify gets it, with the
// address of its screen where the page is open.
func TestWaitingIsNotified(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.NoteSkill("other")
	told := filepath.Join(a.Home, "told")
	a.Configure(fmt.Sprintf("notify: [sh, -c, 'echo \"$1|$SKILLS_MCP_APPROVAL|$SKILLS_MCP_PAGE\" >> \"$0\"', %q]\n", told))
	c := a.Serve("legacy", `{}`)
	lines := func() string {
		text, err := os.ReadFile(told)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	first := c.Waits(c.Call("note", lab.Text("one")))
	lab.Awaits(t, fmt.Sprintf(`(?m)^skills-mcp: note waits for your yes\|%s\|$`, first), lines)
	v := a.Visit()
	second := c.Waits(c.Call("other", lab.Text("two")))
	lab.Awaits(t, fmt.Sprintf(`(?m)^skills-mcp: other waits for your yes\|%s\|%s/ui/approvals/%[1]s$`, second, v.Origin), lines)
	c.Waits(c.Call("note", lab.Text("one"))) // the same question
	if got := strings.Count(lines(), "\n"); got != 2 {
		t.Errorf("told %d times:\n%s", got, lines())
	}
	v.Show("/ui/runs")
	v.Await(`document.title.startsWith("(2) ")`)
	third := c.Waits(c.Call("note", lab.Text("three")))
	v.Await(`document.title.startsWith("(3) ") && document.getElementById("nav-approvals").dataset.waiting.startsWith("` + third + `")`)
	v.Show("/ui/approvals/" + third)
	v.Click(`button[value="once"]`)
	v.Says("Now tell your client to try again")
	v.Await(`document.title.startsWith("(2) ")`)
	c.Succeeds(c.Call("note", lab.Text("three")), "wrote")
}

// A command of notify that fails, hangs or is missing harms no call.
func TestNotifyFails(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"fails": "[\"false\"]", "is missing": "no-such-program", "leaves a program behind": "[sh, -c, 'sleep 300 & echo $! > \"$0\"', left]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "notify: "+command+"\n")
			c := a.Start("legacy", `{}`)
			a.Approve(c.Waits(c.Call("note", lab.Text("one"))))
			c.Succeeds(c.Call("note", lab.Text("one")), "wrote")
			if err := c.Close(); err != nil { // not before the command has ended, or is ended
				t.Error(err)
			}
			if pid, err := os.ReadFile(filepath.Join(a.Workspace, "left")); err == nil {
				_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run() // it may have ended
			}
		})
	}
}
