package consent

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// Missing protected paths are empty folders while calls of any server may write to the
// workspace, and gone afterwards, also where one of the servers was killed.
func TestProtectedPathsOfKilledServer(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, lab.AllForms)
		a.Skill("slow/SKILL.md", "---\nname: slow\ndescription: d\nclass: mutating\nscript: run.sh\n---\n")
		a.Skill("slow/run.sh", "cd /workspace; echo >begun; read -r _ <go; mkdir .vscode .claude && echo made; echo ended\n")
		lab.WriteFile(t, filepath.Join(a.Workspace, ".idea", "a.xml"), "<a/>\n")
		begun, proceed := a.Fifo("begun"), a.Fifo("go")
		before := a.Names()
		start := func() *lab.ToolClient {
			c := a.Start("legacy", `{"elicitation":{}}`)
			asked := c.Call("slow", map[string]any{})
			c.Send(`{"jsonrpc":"2.0","id":` + string(asked.Asked.Id) + `,"result":` + asked.Choice(c, "once") + `}`)
			if _, err := begun.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			return c
		}
		restart := func() {
			if err := a.Start("legacy", `{}`).Close(); err != nil {
				t.Error(err)
			}
		}
		killed, other := start(), start()
		during := append(slices.Clone(before), ".claude", ".envrc", ".git", ".github", ".mcp.json", ".skills-mcp.yaml", ".vscode")
		slices.Sort(during)
		if got := a.Names(); !slices.Equal(got, during) {
			t.Errorf("while calls run there are %q, want %q", got, during)
		}
		if out, code := a.Run("list"); code != 0 || regexp.MustCompile("does not count").MatchString(out) {
			t.Errorf("list: exit %d, %s", code, out)
		}
		if err := killed.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.Close()
		restart()
		if got := a.Names(); !slices.Equal(got, during) {
			t.Errorf("after a server was killed there are %q, want %q", got, during)
		}
		if _, err := io.WriteString(proceed, "\n\n"); err != nil {
			t.Fatal(err)
		}
		ended := other.Next(lab.ToolCall{Name: "slow", Args: map[string]any{}})
		if text := ended.Text(); !regexp.MustCompile(`^ended`).MatchString(text) {
			t.Errorf("the call ended with %q", text)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		if driver == "docker" { // whose container may live on for a while: the time is over
			journal := filepath.Join(a.Home, ".cache", "skills-mcp", "protect", "journal")
			text, err := os.ReadFile(journal)
			if err != nil {
				t.Fatalf("the folders are not kept for the container of the killed server: %v", err)
			}
			text = regexp.MustCompile(`"until":"\d+`).ReplaceAll(text, []byte(`"until":"2001`))
			if err := os.WriteFile(journal, text, 0o600); err != nil {
				t.Fatal(err)
			}
			restart()
		}
		if got := a.Names(); !slices.Equal(got, before) {
			t.Errorf("after all calls there are %q, want %q", got, before)
		}
	})
}
