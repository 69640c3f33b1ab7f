package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// seer is a driver whose commands print which workspaces they see.
type seer struct{ keeper }

func (s *seer) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	first := ""
	for _, variable := range cmd.Env {
		if value, ok := strings.CutPrefix(variable, "SKILL_WORKSPACE="); ok {
			first = value
		}
	}
	_, _ = fmt.Fprint(cmd.Stdout, cmd.Grant.Workspaces, " first ", first)
	return &sandbox.Exit{Sandbox: "seer"}, nil
}

// The workspaces that are chosen from a legacy client's roots are those of all its
// calls, and of no other client's.
func TestRoots(t *testing.T) {
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "notes.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	options := allTools
	options.Roots = func(folders []string) []string { return folders[1:] }
	b := newBenchWith(t, &seer{}, options)
	b.files["p/skills/see/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: see\ndescription: Sees.\nscript: run.sh\nparams: {file: {type: string, format: path}}\n---\n")}
	b.files["p/skills/see/run.sh"] = &fstest.MapFile{}
	b.publish()
	c := legacy{b.dial("")}
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`)
	c.send(`"id":1,"method":"tools/call","params":{"name":"demo__see","arguments":{}}`)
	c.send(fmt.Sprintf(`"id":%s,"result":{"roots":[{"uri":"file:///"},{"uri":"file://%s"}]}`, c.asked(), project))
	sees := fmt.Sprintf("[%s] first %s", project, project)
	c.want(sees, c.line())
	c.want(sees, c.call("run_skill", fmt.Sprintf(`{"name":"see","params":{"file":"%s/notes.md"}}`, project)))
	c.want(sees, c.call("run_code", `{"language":"bash","code":"true"}`))
	c.want(`"workspaces":["`+project+`"]`, c.call("open_sandbox", `{}`))
	c.want(`"values":["notes.md"]`, c.ask("completion/complete", `{"ref":{"type":"ref/prompt","name":"demo__see"},"argument":{"name":"file","value":"no"}}`))
	if got := b.call("demo__see", `{}`).text(); !strings.Contains(got, "[] first ") {
		t.Errorf("another client sees %s", got)
	}

	c.send(`"method":"notifications/roots/list_changed"`)
	c.send(`"id":1,"method":"tools/call","params":{"name":"demo__see","arguments":{}}`)
	c.send(fmt.Sprintf(`"id":%s,"result":{"roots":[{"uri":"file:///"}]}`, c.asked()))
	c.want("[] first ", c.line())
}

// A client that initializes anew is asked anew, if it can be.
func TestRootsInitialize(t *testing.T) {
	b := newBenchWith(t, &seer{}, Options{Roots: func(folders []string) []string { return folders }})
	c := legacy{b.dial("")}
	for _, test := range []struct{ capabilities, root string }{{`{"roots":{}}`, "/srv/a"}, {`{"roots":{}}`, "/srv/b"}, {"{}", ""}} {
		c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+test.capabilities+`,"clientInfo":{"name":"t","version":"1"}}`)
		c.send(`"id":1,"method":"tools/call","params":{"name":"demo__run","arguments":{"target":"x"}}`)
		if test.root != "" {
			c.send(fmt.Sprintf(`"id":%s,"result":{"roots":[{"uri":"file://%s"}]}`, c.asked(), test.root))
		}
		c.want("["+test.root+"] first", c.line())
	}
}

// legacy is a client that initializes, on a stream of its own.
type legacy struct{ *dialled }

// send sends a message, of which these are the fields.
func (c legacy) send(fields string) {
	c.b.t.Helper()
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0",`+fields+"}\n"); err != nil {
		c.b.t.Fatal(err)
	}
}

// asked returns the id of the question for the client's roots.
func (c legacy) asked() (id json.RawMessage) {
	c.b.t.Helper()
	line := c.line()
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != "roots/list" {
		c.b.t.Fatalf("%v in %s, want roots/list", err, line)
	}
	return m.ID
}

func (c legacy) ask(method, params string) (line string) {
	c.b.t.Helper()
	c.send(fmt.Sprintf(`"id":0,"method":%q,"params":%s`, method, params))
	return c.line()
}

func (c legacy) call(tool, args string) (line string) {
	c.b.t.Helper()
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

func (c legacy) want(part, line string) {
	c.b.t.Helper()
	if !strings.Contains(line, part) {
		c.b.t.Errorf("no %s in %s", part, line)
	}
}
