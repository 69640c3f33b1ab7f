package approval

import (
	"strings"
	"testing"
)

// TestProtectedPaths wants the paths that are granted by name in the question, and a yes
// without them not to count with them.
func TestProtectedPaths(t *testing.T) {
	plain, named, other := proposed(nil), proposed(nil), proposed(nil)
	named.Command.Grant.Unprotected = []string{".vscode"}
	other.Command.Grant.Unprotected = []string{".git"}
	text := newQuestion(named).Form()
	if want := "There also to what your own programs run:\n> \".vscode\""; !strings.Contains(text, want) {
		t.Errorf("the question is\n%s\nwithout %q", text, want)
	}
	grants := map[string]bool{}
	for _, p := range []*struct{ grant string }{
		{bind(plain, newQuestion(plain), true).Grant}, {bind(named, newQuestion(named), true).Grant}, {bind(other, newQuestion(other), true).Grant},
	} {
		grants[p.grant] = true
	}
	if len(grants) != 3 {
		t.Errorf("%d different grants are bound, want 3", len(grants))
	}
}
