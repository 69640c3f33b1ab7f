package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultWorkspace(t *testing.T) {
	temporary := t.TempDir()
	project := filepath.Join(temporary, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{
		"/":                                false,
		"/home":                            false, // above the home folder
		"/home/ann":                        false,
		"/home/ann/shop":                   true,
		"/home/bob":                        true, // somebody else's home is as it is
		"/srv/shop":                        true,
		"/usr/local/share/shop":            false,
		"/etc":                             false,
		"/usrlocal":                        true,
		temporary:                          false,
		filepath.Join(temporary, "client"): false,
		project:                            true,
	} {
		if got := len(defaultWorkspace(folder, "/home/ann", temporary)) == 1; got != want {
			t.Errorf("%s: %t, want %t", folder, got, want)
		}
	}
	if len(defaultWorkspace("/srv/shop", "", temporary)) != 1 {
		t.Error("without a home folder nothing is a workspace")
	}
}
