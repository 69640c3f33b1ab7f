package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// SdkScripts copies the scripts to where node finds the libraries beside them.
func SdkScripts(t *testing.T, tools string) string {
	t.Helper()
	scripts := t.TempDir()
	if err := os.CopyFS(scripts, os.DirFS(filepath.Join("testdata", "clients"))); err != nil {
		t.Fatal(err)
	}
	libraries := filepath.Join(tools, "..", "libraries", "node_modules")
	if err := os.Symlink(libraries, filepath.Join(scripts, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return scripts
}
