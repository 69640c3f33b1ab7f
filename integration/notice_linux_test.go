package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// awaits waits until a pattern matches a text, and returns the text.
func awaits(t *testing.T, pattern string, text func() string) string {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		seen := text()
		if regexp.MustCompile(pattern).MatchString(seen) {
			return seen
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%q is not to be seen:\n%s", pattern, seen)
		}
	}
}

// A question that waits is told to the person: the command of notify gets it, with the
// address of its screen where the page is open.
func TestWaitingIsNotified(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.noteSkill("other")
	told := filepath.Join(a.home, "told")
	a.configure(fmt.Sprintf("notify: [sh, -c, 'echo \"$1|$SKILLS_MCP_APPROVAL|$SKILLS_MCP_PAGE\" >> \"$0\"', %q]\n", told))
	c := a.serve("legacy", `{}`)
	lines := func() string {
		text, err := os.ReadFile(told)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	first := c.waits(c.call("note", text("one")))
	awaits(t, fmt.Sprintf(`(?m)^skills-mcp: note waits for your yes\|%s\|$`, first), lines)
	v := a.visit()
	second := c.waits(c.call("other", text("two")))
	awaits(t, fmt.Sprintf(`(?m)^skills-mcp: other waits for your yes\|%s\|%s/ui/approvals/%[1]s$`, second, v.origin), lines)
	c.waits(c.call("note", text("one"))) // the same question
	if got := strings.Count(lines(), "\n"); got != 2 {
		t.Errorf("told %d times:\n%s", got, lines())
	}
	v.show("/ui/runs")
	v.await(`document.title.startsWith("(2) ")`)
	third := c.waits(c.call("note", text("three")))
	v.await(`document.title.startsWith("(3) ") && document.getElementById("nav-approvals").dataset.waiting.startsWith("` + third + `")`)
	v.show("/ui/approvals/" + third)
	v.click(`button[value="once"]`)
	v.says("Now tell your client to try again")
	v.await(`document.title.startsWith("(2) ")`)
	c.succeeds(c.call("note", text("three")), "wrote")
}

// A command of notify that fails, hangs or is missing harms no call.
func TestNotifyFails(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"fails": "[\"false\"]", "is missing": "no-such-program", "leaves a program behind": "[sh, -c, 'sleep 300 & echo $! > \"$0\"', left]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := nativeAccount(t, "notify: "+command+"\n")
			c := a.start("legacy", `{}`)
			a.approve(c.waits(c.call("note", text("one"))))
			c.succeeds(c.call("note", text("one")), "wrote")
			if err := c.close(); err != nil { // not before the command has ended, or is ended
				t.Error(err)
			}
			if pid, err := os.ReadFile(filepath.Join(a.workspace, "left")); err == nil {
				_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run() // it may have ended
			}
		})
	}
}
