package lab

import (
	"os"
)

// Names returns the names in the workspace.
func (a *Account) Names() []string {
	a.T.Helper()
	entries, err := os.ReadDir(a.Workspace)
	if err != nil {
		a.T.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
