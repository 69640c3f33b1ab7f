package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Exists reports whether a process of the machine has the mark as an argument.
func Exists(t *testing.T, mark string) bool {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commands {
		line, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(line), mark) {
			return true
		}
	}
	return false
}
