package integration

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Missing protected paths are empty folders while calls of any server may write to the
// workspace, and gone afterwards, also where one of the servers was killed.
func TestProtectedPathsOfKilledServer(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		a := newAccount(t, driver, allForms)
		a.skill("slow/SKILL.md", "---\nname: slow\ndescription: d\nclass: mutating\nscript: run.sh\n---\n")
		a.skill("slow/run.sh", "cd /workspace; echo >begun; read -r _ <go; mkdir .vscode .claude && echo made; echo ended\n")
		writeFile(t, filepath.Join(a.workspace, ".idea", "a.xml"), "<a/>\n")
		begun, proceed := a.fifo("begun"), a.fifo("go")
		before := a.names()
		start := func() *toolClient {
			c := a.start("legacy", `{"elicitation":{}}`)
			asked := c.call("slow", map[string]any{})
			c.send(`{"jsonrpc":"2.0","id":` + string(asked.asked.id) + `,"result":` + asked.choice(c, "once") + `}`)
			if _, err := begun.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			return c
		}
		restart := func() {
			if err := a.start("legacy", `{}`).close(); err != nil {
				t.Error(err)
			}
		}
		killed, other := start(), start()
		during := append(slices.Clone(before), ".claude", ".envrc", ".git", ".github", ".mcp.json", ".skills-mcp.yaml", ".vscode")
		slices.Sort(during)
		if got := a.names(); !slices.Equal(got, during) {
			t.Errorf("while calls run there are %q, want %q", got, during)
		}
		if out, code := a.run("list"); code != 0 || regexp.MustCompile("does not count").MatchString(out) {
			t.Errorf("list: exit %d, %s", code, out)
		}
		if err := killed.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.close()
		restart()
		if got := a.names(); !slices.Equal(got, during) {
			t.Errorf("after a server was killed there are %q, want %q", got, during)
		}
		if _, err := io.WriteString(proceed, "\n\n"); err != nil {
			t.Fatal(err)
		}
		ended := other.next(toolCall{"slow", map[string]any{}})
		if text := ended.text(); !regexp.MustCompile(`^ended`).MatchString(text) {
			t.Errorf("the call ended with %q", text)
		}
		if err := other.close(); err != nil {
			t.Error(err)
		}
		if driver == "docker" { // whose container may live on for a while: the time is over
			journal := filepath.Join(a.home, ".cache", "skills-mcp", "protect", "journal")
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
		if got := a.names(); !slices.Equal(got, before) {
			t.Errorf("after all calls there are %q, want %q", got, before)
		}
	})
}

// names returns the names in the workspace.
func (a *account) names() []string {
	a.t.Helper()
	entries, err := os.ReadDir(a.workspace)
	if err != nil {
		a.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
