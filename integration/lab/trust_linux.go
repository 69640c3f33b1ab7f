package lab

import (
	"path/filepath"
	"strings"
)

// Theirs writes a mutating skill of a folder in the workspace, which writes "stolen".
func (a *Account) Theirs(name string, folder ...string) {
	a.T.Helper()
	dir := filepath.Join(append(folder, name)...)
	WriteFile(a.T, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\nparams: {text: string}\n---\n")
	WriteFile(a.T, filepath.Join(dir, "run.sh"), "echo stolen >> \"$SKILL_WORKSPACE/notes\" && echo stolen\n")
}

// Sees fails the test unless list_skills has some names, and no others of these: a name
// after "!" must not be there.
func (c *ToolClient) Sees(names ...string) {
	c.t.Helper()
	listed := c.Call("list_skills", map[string]any{}).Text()
	for _, name := range names {
		name, not := strings.CutPrefix(name, "!")
		if strings.Contains(listed, `"name":"`+name+`"`) == not {
			c.t.Fatalf("list_skills has %s: %t\n%s", name, not, listed)
		}
	}
}

// AwaitListChanged waits until the server says that its tools have changed.
func (c *ToolClient) AwaitListChanged() {
	c.t.Helper()
	for c.Receive().Method != "notifications/tools/list_changed" {
	}
}

// Wants writes a safe skill of the workspace that prints the variable TOKEN. env declares
// it; "" does not.
func (a *Account) Wants(name, env string) {
	a.T.Helper()
	dir := filepath.Join(a.Workspace, ".claude", "skills", name)
	WriteFile(a.T, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: Prints a variable.\nscript: run.sh\nparams: {text: string}\n"+env+"\n---\n")
	WriteFile(a.T, filepath.Join(dir, "run.sh"), "echo \"token=$TOKEN\"\n")
}
