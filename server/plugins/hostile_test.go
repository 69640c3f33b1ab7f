package plugins

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A scriptedDriver runs a server of this process, which has the tool t.
type scriptedDriver struct {
	running atomic.Int64
	lists   atomic.Int64
	// described returns the description of the tool; nil has none.
	described func() string
	// began is called with the server's output when it has started; nil does nothing.
	began func(ctx context.Context, out io.Writer)
	// replies are members of its replies by method, before all others; an error is one.
	replies map[string]string
}

func (d *scriptedDriver) Close() error { return nil }

func (d *scriptedDriver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	d.running.Add(1)
	defer d.running.Add(-1)
	ctx, end := context.WithCancel(ctx)
	cmd.Started()
	go func() {
		defer end()
		in := bufio.NewReader(cmd.Stdin)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(line, &m) != nil || m.ID == nil {
				continue
			}
			if reply := d.replies[m.Method]; reply != "" {
				fmt.Fprintf(cmd.Stdout, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, reply)
				continue
			}
			result := "{}"
			switch m.Method {
			case "initialize":
				result = `{"protocolVersion":"2025-11-25"}`
			case "tools/list":
				d.lists.Add(1)
				description := ""
				if d.described != nil {
					description = d.described()
				}
				result = fmt.Sprintf(`{"tools":[5,{"name":"t","description":%q},{"name":["x"]}]}`, description)
			case "tools/call":
				result = fmt.Sprintf(`{"content":[{"type":"text","text":"%d bytes"}]}`, len(line))
			}
			fmt.Fprintf(cmd.Stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
	}()
	if d.began != nil {
		d.began(ctx, cmd.Stdout)
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A stage has servers over a driver, and one plugin with the server s.
type stage struct {
	t       *testing.T
	runner  *sandbox.Runner
	servers *Servers
	book    *Book
	catalog *skills.Catalog
	env     []string // of calls
}

// newStage returns a stage that the test has to close.
func newStage(t *testing.T, driver sandbox.Driver) *stage {
	catalog := plugin(skills.MCPServer{Name: "s", Transport: "stdio", Argv: []string{"x"}})
	catalog.Plugins[0].Dir = t.TempDir()
	s := &stage{t: t, runner: sandbox.New(driver, nil), book: NewBook(t.TempDir(), nil, func(context.Context) {}), catalog: catalog}
	s.servers = New(s.runner, s.book, nil)
	return s
}

// call calls a skill with a text, in a folder, and returns what it prints.
func (s *stage) call(name, text, folder string) (string, error) {
	s.t.Helper()
	skill, err := s.book.Expand(s.catalog).Lookup(name)
	if err != nil {
		s.t.Fatal(err)
	}
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		s.t.Fatal(err)
	}
	var out strings.Builder
	_, err = s.runner.RunIn(s.t.Context(), s.servers.Call(identity.Principal{}, skill), sandbox.Command{
		RunID: "r", Argv: []string{"x"}, Env: s.env, Folder: folder, Stdin: strings.NewReader(string(args)), Stdout: &out, Redact: hiding{},
	})
	return out.String(), err
}

// hiding is a redactor of the word s3cret.
type hiding struct{}

func (hiding) String(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }

func (hiding) Writer(w io.Writer) io.WriteCloser { return passing{w} }

type passing struct{ io.Writer }

func (passing) Close() error { return nil }

// A server whose prompts or resources are too many or too large, or that refuses to list them,
// keeps its tools.
func TestTooManyResources(t *testing.T) {
	object := func(format string, n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i, strings.Repeat("d", 20_000))
		}
		return strings.Join(all, ",")
	}
	driver := &scriptedDriver{replies: map[string]string{
		"initialize":               `"result":{"protocolVersion":"2025-11-25","capabilities":{"prompts":{},"resources":{}}}`,
		"prompts/list":             `"result":{"prompts":[` + object(`{"name":"p%d","description":"%s","arguments":[{"name":7}]}`, 10) + `],"nextCursor":"again"}`,
		"resources/list":           `"result":{"resources":[{"name":"no URI"},{"uri":"a:` + strings.Repeat("x", 3000) + `","name":"long"},` + object(`{"uri":"a:%d","name":"%s"}`, 100) + `]}`,
		"resources/templates/list": `"error":{"code":-32603,"message":"not today"}`,
	}}
	s := newStage(t, driver)
	defer s.runner.Close()
	if out, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := s.call("p/s__t", "x", "/f"); err != nil || !strings.Contains(out, "bytes") {
		t.Errorf("%s, %v", out, err)
	}
	known := s.book.Expand(s.catalog)
	for _, skill := range known.Skills {
		if len(skill.Description) > 2*maxText {
			t.Errorf("the description of %s has %d bytes", skill.QualifiedName(), len(skill.Description))
		}
	}
	for _, r := range known.Resources() {
		if len(r.Name) > 2*maxName || r.URI == "plugin://p/s/" {
			t.Errorf("resource %.300q %.100q", r.Name, r.URI)
		}
	}
	files, err := filepath.Glob(filepath.Join(s.book.dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() > 2*maxListing {
		t.Errorf("the listing has %d bytes, %v", info.Size(), err)
	}
}

// What a server reads in its whole life has no bound.
func TestLongInput(t *testing.T) {
	s := newStage(t, new(scriptedDriver))
	defer s.runner.Close()
	if _, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for i := range maxQueue/len(text) + 2 {
		if out, err := s.call("p/s__t", text, "/f"); err != nil {
			t.Fatalf("call %d: %v %s", i, err, out)
		}
	}
}

// A server that changes its tools without end is listed ever more rarely.
func TestEndlessChanges(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		driver := &scriptedDriver{}
		driver.described = func() string { return fmt.Sprint(driver.lists.Load()) }
		driver.began = func(ctx context.Context, out io.Writer) {
			for ctx.Err() == nil {
				fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				time.Sleep(100 * time.Millisecond)
			}
		}
		s := newStage(t, driver)
		s.book.dir = dir
		if _, err := s.call("p/s", "", "/f"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if n := driver.lists.Load(); n < 5 || n > 15 {
			t.Errorf("%d lists in 5 minutes", n)
		}
		if err := s.runner.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A server ends when its plugin is removed, and when its next call has other files.
func TestOutdatedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		driver := new(scriptedDriver)
		s := newStage(t, driver)
		for _, folder := range []string{"/f", "/f", "/g"} {
			if _, err := s.call("p/s", "", folder); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := driver.running.Load(); n != 1 {
				t.Fatalf("%d servers run", n)
			}
		}
		if err := os.Remove(s.catalog.Plugins[0].Dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookEvery + time.Second)
		if n := driver.running.Load(); n != 0 {
			t.Errorf("%d servers of a plugin that is gone run", n)
		}
		if err := s.runner.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A server ends when its tool has another grant: at once if it is idle, or else after its
// calls. Tools that always have different grants keep their servers.
func TestChangedGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		driver := new(scriptedDriver)
		s := newStage(t, driver)
		running := func(name, env string) int64 {
			s.env = []string{"GRANT=" + env}
			if _, err := s.call(name, "", "/f"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return int64(driver.running.Load())
		}
		for i, step := range []struct {
			name, env string
			want      int64
		}{{"p/s", "a", 1}, {"p/s__t", "b", 2}, {"p/s", "a", 2}, {"p/s__t", "b", 2}, {"p/s__t", "c", 2}, {"p/s", "c", 1}} {
			if n := running(step.name, step.env); n != step.want {
				t.Errorf("step %d: %d servers run, want %d", i, n, step.want)
			}
		}
		for _, p := range s.servers.running {
			p.use(&skills.Skill{})
		}
		if n := running("p/s", "d"); n != 2 {
			t.Errorf("%d servers run, and one has a call", n)
		}
		for _, p := range s.servers.running {
			if p.callers["s__t"] {
				p.release(idleTime)
			}
		}
		if n := running("p/s", "d"); n != 1 {
			t.Errorf("%d servers run after the call", n)
		}
		if err := s.runner.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A tool that is no tool of MCP costs itself alone.
func TestToolOfAnotherType(t *testing.T) {
	s := newStage(t, new(scriptedDriver))
	defer s.runner.Close()
	if _, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(err)
	}
	owner, err := s.book.Expand(s.catalog).Lookup("p/s")
	if err != nil || len(owner.Tools) != 1 || len(owner.Problems) != 2 || !strings.Contains(owner.Problems[0].Message, `the tool "" of its MCP server s is left out: its name is not usable`) {
		t.Errorf("%+v, %v", owner, err)
	}
}

// Listings of servers that have not started for long are removed, and no others.
func TestExpire(t *testing.T) {
	s := newStage(t, new(scriptedDriver))
	defer s.runner.Close()
	for name, age := range map[string]time.Duration{"old.json": maxAge + time.Hour, "young.json": maxAge - time.Hour} {
		file := filepath.Join(s.book.dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.book.dir, "*"))
	if err != nil || len(files) != 2 || !slices.Contains(files, filepath.Join(s.book.dir, "young.json")) {
		t.Errorf("%v, %v", files, err)
	}
}

// What a server says about itself is kept without secrets.
func TestSecretiveListing(t *testing.T) {
	s := newStage(t, &scriptedDriver{described: func() string { return "it has s3cret" }})
	defer s.runner.Close()
	if _, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(err)
	}
	skill, err := s.book.Expand(s.catalog).Lookup("p/s__t")
	if err != nil || skill.Description != "it has [hidden]" {
		t.Errorf("%+v, %v", skill, err)
	}
	if _, err := s.call("p/s__t", "", "/f"); err != nil {
		t.Error(err)
	}
}

// A server that has ended before it was greeted fails its callers at once.
func TestEndedAtOnce(t *testing.T) {
	s := newStage(t, fakeDriver{})
	defer s.runner.Close()
	skill, err := s.book.Expand(s.catalog).Lookup("p/s")
	if err != nil {
		t.Fatal(err)
	}
	cmd := &sandbox.Command{Argv: []string{"x"}, Progress: func(string) {}}
	p := newProcess(skill, s.book, "", cmd, func(*process, string) {})
	p.client = newClient(transport.NewIO(strings.NewReader(""), passing{io.Discard}, nil), nil, func() {}, p.changes)
	go p.finish(&sandbox.Exit{Code: 4}, nil) // which waits for its last reply
	p.spawn(p.greet)
	p.spawn(p.tend)
	if err := p.await(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "exit code 4") {
		t.Errorf("%v", err)
	}
}

// A failure of a request over HTTP ends the connection, with its reason; the next call makes
// another.
func TestFailedRequest(t *testing.T) {
	s := newStage(t, fakeDriver{})
	defer s.runner.Close()
	skill, err := s.book.Expand(s.catalog).Lookup("p/s")
	if err != nil {
		t.Fatal(err)
	}
	cmd := &sandbox.Command{Argv: []string{"x"}, Stdin: strings.NewReader("{}")}
	p := newProcess(skill, s.book, "", cmd, func(*process, string) {})
	p.client = newClient(brokenWire{transport.NewIO(strings.NewReader(""), passing{io.Discard}, nil)}, nil, func() {}, p.changes)
	close(p.ready)
	p.definitions = map[string]string{skills.CallTool + "t": "d"}
	tool := *skill
	tool.Entry = &skills.Entry{Server: &skills.ServerCall{Server: skills.MCPServer{Address: "https://example.com/mcp"}, Method: skills.CallTool, Tool: "t", Definition: "d"}}
	context.AfterFunc(p.ctx, func() { p.finish(nil, nil) })
	began := time.Now()
	_, err = p.answer(t.Context(), cmd, &tool)
	if err == nil || !strings.Contains(err.Error(), "status 502") || time.Since(began) > 3*time.Second || p.use(skill) {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// A brokenWire has no server any more.
type brokenWire struct {
	transport.BidirectionalInterface
}

func (brokenWire) SendRequest(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return nil, errors.New("status 502")
}

// A line without an end is stopped, however many requests wait for it.
func TestEndlessLine(t *testing.T) {
	over := make(chan struct{})
	q := newQueue(func() { close(over) })
	go func() { _, _ = io.Copy(io.Discard, q) }()
	chunk := make([]byte, 1<<20)
	for range maxQueue/len(chunk) + 1 {
		q.allow()
		_, _ = q.Write(chunk)
	}
	select {
	case <-over:
	case <-time.After(10 * time.Second):
		t.Error("a line has no bound")
	}
}

// A tool never has the name of another skill, in whatever order servers are declared.
func TestTakenNames(t *testing.T) {
	book := NewBook(t.TempDir(), nil, func(context.Context) {})
	for _, names := range [][]string{{"a", "a__b"}, {"a__b", "a"}} {
		var servers []skills.MCPServer
		for _, name := range names {
			servers = append(servers, skills.MCPServer{Name: name, Transport: "stdio", Argv: []string{"x"}})
		}
		catalog := plugin(servers...)
		catalog.Skills = []*skills.Skill{{Name: "a__c", Plugin: "p"}}
		owner, err := book.Expand(catalog).Lookup("p/a")
		if err != nil {
			t.Fatal(err)
		}
		tools := []tool{{Name: "b", InputSchema: []byte(`{}`)}, {Name: "c", InputSchema: []byte(`{}`)}, {Name: "d", InputSchema: []byte(`{}`)}}
		if err := book.write(t.Context(), owner, func(l *listing) { *l = listing{Known: true, Tools: tools} }); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		expanded := book.Expand(catalog)
		for _, skill := range expanded.Skills {
			seen[skill.QualifiedName()]++
		}
		if len(seen) != 4 || len(expanded.Skills) != 4 || seen["p/a__d"] != 1 || len(expanded.Problems) != 2 {
			t.Errorf("%v, %v", seen, expanded.Problems)
		}
	}
}

// What a server lists, or says when it fails, with the secrets and files of one of several
// people is seen by nobody else: the person of this machine lists the tools for all.
func TestListingOfAnother(t *testing.T) {
	driver := &scriptedDriver{described: func() string { return "has the table of ann's customers" }}
	s := newStage(t, driver)
	defer s.runner.Close()
	ann := identity.Principal{Kind: identity.Subject, ID: "ann"}
	call := func(name string) (string, error) {
		skill, err := s.book.Expand(s.catalog).Lookup(name)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		_, err = s.runner.RunIn(t.Context(), s.servers.Call(ann, skill), sandbox.Command{RunID: "r", Argv: []string{"x"}, Folder: "/f", Stdin: strings.NewReader("{}"), Stdout: &out})
		return out.String(), err
	}
	if out, err := call("p/s"); err != nil || !strings.Contains(out, "skills-mcp run p/s") {
		t.Fatalf("%s, %v", out, err)
	}
	for _, p := range s.servers.running {
		p.end(errHung)
		<-p.gone
	}
	owner, err := s.book.Expand(s.catalog).Lookup("p/s")
	if err != nil || len(owner.Tools)+len(owner.Problems) != 0 {
		t.Fatalf("others see %+v, %v", owner, err)
	}
	driver.described = nil
	if _, err := s.call("p/s", "", "/f"); err != nil {
		t.Fatal(err)
	}
	if out, err := call("p/s__t"); err != nil || !strings.Contains(out, "bytes") {
		t.Errorf("the tool that is the same for all: %s, %v", out, err)
	}
}
