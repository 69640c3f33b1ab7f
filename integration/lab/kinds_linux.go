package lab

import (
	"path/filepath"
	"strings"
)

// Deny says no to a question.
func (a *Account) Deny(id string) {
	a.T.Helper()
	if out, code := a.Run("deny", id); code != 0 {
		a.T.Fatalf("deny: exit %d\n%s", code, out)
	}
}

// ApproveAs answers a question on a terminal with a word after the number.
func (a *Account) ApproveAs(id, word string) (screen string) {
	a.T.Helper()
	screen, code := a.Terminal("$1 "+word, "approve", id)
	if code != 0 {
		a.T.Fatalf("approve as %s: exit %d\n%s", word, code, screen)
	}
	return screen
}

// Found returns the folder of a skill as show prints it.
func (a *Account) Found(name string) string {
	a.T.Helper()
	out, code := a.Run("show", name, "--json")
	_, rest, there := strings.Cut(out, `"file": "`)
	file, _, _ := strings.Cut(rest, `"`)
	if code != 0 || !there {
		a.T.Fatalf("show %s: exit %d\n%s", name, code, out)
	}
	return filepath.Dir(file)
}
