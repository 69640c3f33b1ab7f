package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestClientRoots has a skill read a file of the project that a client has open,
// which the server was started far from.
func TestClientRoots(t *testing.T) {
	drivers(t, func(t *testing.T, driver string) {
		home, top := t.TempDir(), t.TempDir()
		project := filepath.Join(top, "shop")
		write(t, filepath.Join(home, "skills", "count", "SKILL.md"), "---\nname: count\ndescription: Counts.\nscript: run.sh\n---\n")
		write(t, filepath.Join(home, "skills", "count", "run.sh"), "echo \"$SKILL_WORKSPACE\"\ncat /workspace/notes\n")
		write(t, filepath.Join(project, "notes"), "seven\n")
		write(t, filepath.Join(project, ".git", "HEAD"), "")
		skills := []string{"--sandbox", driver, "--skills", filepath.Join(home, "skills")}

		w := speak(t, home, skills...)
		w.greet(`{"roots":{}}`)
		w.send(counting)
		asked := w.receive()
		if asked.Method != "roots/list" {
			t.Fatalf("got %+v, want to be asked for the roots", asked)
		}
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"},{"uri":"file://%s"},{"uri":"file:///"}]}}`, asked.ID, home, project))
		w.says(w.receive(), project+"\nseven")

		// Who names a workspace means that one.
		w = speak(t, home, append(skills, "--workspace", project)...)
		w.greet(`{"roots":{}}`)
		w.send(counting)
		w.says(w.receive(), project+"\nseven")
	})
}

const counting = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}`

// greet initializes as a legacy client with capabilities.
func (w *wire) greet(capabilities string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`)
	w.receive()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
