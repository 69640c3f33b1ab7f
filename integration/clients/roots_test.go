package clients

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// TestClientRoots has a skill read a file of the project that a client has open,
// which the server was started far from.
func TestClientRoots(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		home, project := t.TempDir(), t.TempDir()
		lab.WriteFile(t, filepath.Join(project, "notes"), "seven\n")
		lab.WriteFile(t, filepath.Join(project, "go.mod"), "")
		skills := []string{"--sandbox", driver, "--skills", counter(t)}

		w := lab.Speak(t, home, skills...)
		w.Greet(`{"roots":{}}`)
		w.Send(counting)
		asked := w.Receive()
		if asked.Method != "roots/list" {
			t.Fatalf("got %+v, want to be asked for the roots", asked)
		}
		w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"},{"uri":"file://%s"},{"uri":"file:///"}]}}`, asked.ID, home, project))
		w.Says(w.Receive(), project+"\nseven")

		// Who names a workspace means that one.
		w = lab.Speak(t, home, append(skills, "--workspace", project)...)
		w.Greet(`{"roots":{}}`)
		w.Send(counting)
		w.Says(w.Receive(), project+"\nseven")
	})
}

// TestClientRootsHTTP has a client of an HTTP server offer what it likes: it is not
// asked.
func TestClientRootsHTTP(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	url := endpoint(t, "native", "--skills", counter(t))
	begun := post(t, url, lab.Initializing(`{"roots":{}}`))
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
	lab.WriteFile(t, filepath.Join(dir, "SKILL.md"), "---\nname: count\ndescription: Counts.\nscript: run.sh\n---\n")
	lab.WriteFile(t, filepath.Join(dir, "run.sh"), "echo \"${SKILL_WORKSPACE:-no workspace}\"\ncat /workspace/notes\n")
	return dir
}

const counting = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}`
