package lab

import (
	"os"
	"path/filepath"
)

// OtherServer makes the home of another server, with a skill that has a script, and
// returns it with the address of a program that serves it.
func (a *Account) OtherServer() (home string, address []string) {
	a.T.Helper()
	home = a.T.TempDir()
	a.OtherSkill(home, "Say the magic word.")
	return home, []string{"mcp+stdio:/usr/bin/env", "-i", "PATH=" + os.Getenv("PATH"), "HOME=" + home, Binary, "serve"}
}

// OtherSkill writes the skill of another server.
func (a *Account) OtherSkill(home, body string) {
	a.T.Helper()
	dir := filepath.Join(home, ".claude", "skills", "greeter")
	WriteFile(a.T, filepath.Join(dir, "SKILL.md"), "---\nname: greeter\ndescription: Greets people by their name.\nallowed-tools: Bash\n---\n"+body+"\n")
	WriteFile(a.T, filepath.Join(dir, "scripts", "greet.sh"), "#!/bin/sh\necho greetings from afar\n")
}

// Cached returns the files that were fetched from servers.
func (a *Account) Cached() []string {
	a.T.Helper()
	found, err := filepath.Glob(filepath.Join(a.Home, ".local", "state", "skills-mcp", "mcp", "*", "files", "*"))
	if err != nil {
		a.T.Fatal(err)
	}
	return found
}
