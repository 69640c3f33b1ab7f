package server

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a driver with a function in place of a sandbox.
type script struct {
	run func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error)
}

func (s *script) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return s.run(ctx, cmd)
}

func (s *script) Close() error { return nil }

// ends is a command that prints and ends with a code.
func ends(code int, stdout, stderr string) *script {
	return &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte(stdout))
		_, _ = cmd.Stderr.Write([]byte(stderr))
		return &sandbox.Exit{Code: code, Sandbox: "script"}, nil
	}}
}

// library returns the skills of most tests.
func library() fstest.MapFS {
	return fstest.MapFS{
		"p/plugin.json": {Data: []byte(`{"name": "demo", "version": "1.0", "description": "For tests."}`)},
		"p/skills/run/SKILL.md": {Data: []byte("---\nname: run\ndescription: Runs a thing.\nwhen_to_use: When a thing is to be run.\nscript: run.sh\n" +
			"params:\n  target: {type: string, required: true, description: What to run.}\n  count: {type: integer, minimum: 1, default: 2}\n---\nCall it.\n")},
		"p/skills/run/run.sh":       {Data: []byte("echo")},
		"p/skills/guide/SKILL.md":   {Data: []byte("---\nname: guide\ndescription: Tells how to do a thing.\n---\nFirst $ARGUMENTS, then rest.\n")},
		"p/skills/broken/SKILL.md":  {Data: []byte("---\nname: broken\ndescription: [\n---\n")},
		"p/skills/gone/SKILL.md":    {Data: []byte("---\nname: gone\ndescription: Its script is missing.\nscript: gone.sh\n---\n")},
		"p/skills/private/SKILL.md": {Data: []byte("---\nname: private\ndescription: For persons.\nscript: run.sh\ndisable-model-invocation: true\n---\n")},
		"p/skills/private/run.sh":   {Data: []byte("echo")},
		"p/skills/write/SKILL.md":   {Data: []byte("---\nname: write\ndescription: Writes files.\nscript: run.sh\nclass: mutating\n---\n")},
		"p/skills/write/run.sh":     {Data: []byte("echo")},
	}
}

// bench is a server under test, with its files.
type bench struct {
	*Server
	t     *testing.T
	files fstest.MapFS
}

func (b *bench) scan(ctx context.Context) (*skills.Catalog, error) {
	return scan.Scan(ctx, []scan.Root{{Source: skills.SourceExtra, FS: b.files, Label: "bundled", Plugins: true}}, nil)
}

func newBench(t *testing.T, driver sandbox.Driver) *bench {
	t.Helper()
	return newBenchWith(t, driver, Options{})
}

func newBenchWith(t *testing.T, driver sandbox.Driver, options Options) *bench {
	t.Helper()
	runner := sandbox.New(driver, nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	snapshots := snapshot.New(t.TempDir())
	b := &bench{t: t, files: library()}
	sessions := session.New(runner, nil)
	t.Cleanup(sessions.Close)
	options.Version, options.Snapshots = "test", snapshots
	if options.Reloader == nil {
		options.Reloader = b
	}
	b.Server = New(run.New(runner, snapshots, policy.New(&policy.Options{Agents: func(string) (policy.Profile, bool) { return policy.Profile{}, true }}), &run.Options{Sessions: sessions}), &options)
	t.Cleanup(b.Server.Close)
	b.publish()
	return b
}

// newBook returns feedback in a store of its own.
func newBook(t *testing.T) *feedback.Book {
	t.Helper()
	s := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return feedback.New(s)
}

// Reload implements [Reloader].
func (b *bench) Reload(ctx context.Context) (*skills.Catalog, bool, error) {
	catalog, err := b.scan(ctx)
	return catalog, err == nil && b.Publish(catalog), err
}

// Refresh implements [Reloader]. The files of a bench change in the next Reload only.
func (b *bench) Refresh(context.Context, *skills.Skill) error { return nil }

// publish scans the files and publishes the catalog.
func (b *bench) publish() (changed bool) {
	b.t.Helper()
	catalog, err := b.scan(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return b.Publish(catalog)
}

// ask sends one request and returns the result, or the error, as JSON.
func (b *bench) ask(method, params string) string {
	b.t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	answer, err := json.Marshal(b.core.HandleMessage(b.t.Context(), json.RawMessage(message)))
	if err != nil {
		b.t.Fatal(err)
	}
	var a struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(answer, &a); err != nil {
		b.t.Fatal(err)
	}
	if a.Error != nil {
		return "error " + string(a.Error)
	}
	return string(a.Result)
}

// answer is the result of a tool.
type answer struct {
	IsError bool
	Content []struct{ Type, Text string }
	// StructuredContent is decoded by those who need it.
	StructuredContent json.RawMessage
	Meta              struct {
		Name, URI string
		BaseDir   string `json:"base_dir"`
	} `json:"_meta"`
}

// text joins the texts of an answer.
func (a answer) text() string {
	var all []string
	for _, c := range a.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n--\n")
}

func (b *bench) call(tool, args string) answer {
	b.t.Helper()
	result := b.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var a answer
	if err := json.Unmarshal([]byte(result), &a); err != nil {
		b.t.Fatalf("%s: %v in %s", tool, err, result)
	}
	return a
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was (-update writes it anew):\n%s", file, got)
	}
}

func indent(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return b.String() + "\n"
}

// client is a session that collects its notifications.
type client struct {
	id string
	in chan mcp.JSONRPCNotification
}

func (c *client) Initialize()       {}
func (c *client) Initialized() bool { return true }
func (c *client) SessionID() string { return c.id }
func (c *client) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return c.in
}

// connect registers a client.
func (b *bench) connect() *client {
	b.t.Helper()
	c := &client{id: b.t.Name(), in: make(chan mcp.JSONRPCNotification, 100)}
	if err := b.core.RegisterSession(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// notices takes the notifications that have come.
func (c *client) notices() (methods []string) {
	for {
		select {
		case n := <-c.in:
			methods = append(methods, n.Method)
		default:
			return methods
		}
	}
}
