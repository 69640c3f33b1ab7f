package integration

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientRoots has a skill read a file of the project that a client has open,
// which the server was started far from.
func TestClientRoots(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		home, project := t.TempDir(), t.TempDir()
		writeFile(t, filepath.Join(project, "notes"), "seven\n")
		writeFile(t, filepath.Join(project, "go.mod"), "")
		skills := []string{"--sandbox", driver, "--skills", counter(t)}

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

// TestClientRootsHTTP has a client of an HTTP server offer what it likes: it is not
// asked.
func TestClientRootsHTTP(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	url := endpoint(t, "native", "--skills", counter(t))
	begun := post(t, url, initializing(`{"roots":{}}`))
	answered := post(t, url, counting, "Mcp-Session-Id: "+begun.Header.Get("Mcp-Session-Id"), "Accept: application/json, text/event-stream")
	body, err := io.ReadAll(answered.Body)
	if err != nil || strings.Contains(string(body), "roots/list") || !strings.Contains(string(body), "no workspace") {
		t.Errorf("%v in %s", err, body)
	}
}

// counter is a skill that prints its workspace and a file of it.
func counter(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "SKILL.md"), "---\nname: count\ndescription: Counts.\nscript: run.sh\n---\n")
	writeFile(t, filepath.Join(dir, "run.sh"), "echo \"${SKILL_WORKSPACE:-no workspace}\"\ncat /workspace/notes\n")
	return dir
}

const counting = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}`

func initializing(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
}

// greet initializes as a legacy client with capabilities.
func (w *wire) greet(capabilities string) {
	w.t.Helper()
	w.send(initializing(capabilities))
	w.receive()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}
