package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// lasts is a command that is half done after a second, and ends after some time.
func lasts(d time.Duration) *script {
	return &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		time.Sleep(time.Second)
		_, _ = io.WriteString(cmd.Stderr, "1/2 counting\n")
		select {
		case <-time.After(d - time.Second):
			_, _ = io.WriteString(cmd.Stdout, "counted")
			return &sandbox.Exit{Sandbox: "script"}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// slow serves three skills that do the same, in virtual time.
func slow(t *testing.T, driver *script, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, driver, allTools)
		b.files = fstest.MapFS{}
		for name, more := range map[string]string{"count": "", "now": "\ntask: always", "must": "\ntask: required"} {
			b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Counts.\nscript: run.sh" + more + "\n---\n")}
			b.files["p/skills/"+name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
		}
		b.files["p/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "demo", "version": "1.0"}`)}
		b.publish()
		test(t, b)
	})
}

// dialled is a modern client on a stream of its own.
type dialled struct {
	b            *bench
	in           io.WriteCloser
	out          *bufio.Reader
	capabilities string
	done         chan error // of who serves it
}

func (b *bench) dial(capabilities string) *dialled {
	return b.dialAs(identity.Principal{Kind: identity.Model}, capabilities)
}

func (b *bench) dialAs(who identity.Principal, capabilities string) *dialled {
	in, requests := io.Pipe()
	replies, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- transport.ServeStdio(identity.NewContext(context.WithoutCancel(b.t.Context()), who), b.Backend(), in, out, nil)
	}()
	c := &dialled{b, requests, bufio.NewReader(replies), capabilities, done}
	b.t.Cleanup(c.hangUp)
	return c
}

// hangUp ends the stream. It may be called again.
func (c *dialled) hangUp() {
	c.in.Close()
	if err := <-c.done; err != nil {
		c.b.t.Error(err)
	}
	c.done <- nil
}

const knowsTasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// taskReply has the fields of a task that are in every reply.
type taskReply struct {
	Result struct {
		ResultType, TaskID, Status, StatusMessage string
		IsError                                   bool
		Content                                   []struct{ Text string }
		InputRequests                             map[string]struct{ Method string }
		Result                                    struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	Error *struct {
		Code int
		Data json.RawMessage
	}
}

func (c *dialled) ask(method, params string) (r taskReply) {
	c.b.t.Helper()
	c.send(method, params)
	line := c.line()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		c.b.t.Fatalf("%v in %s", err, line)
	}
	return r
}

func (c *dialled) send(method, params string) {
	c.b.t.Helper()
	if params != "{}" {
		params = strings.TrimSuffix(params, "}") + ","
	} else {
		params = "{"
	}
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`+"\n", method, params, c.capabilities)
	if err != nil {
		c.b.t.Fatal(err)
	}
}

func (c *dialled) line() string {
	c.b.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.b.t.Fatal(err)
	}
	return line
}

func (c *dialled) call(tool, args string) taskReply {
	c.b.t.Helper()
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// A call of whatever runs something is a task when it takes long.
func TestLasting(t *testing.T) {
	for tool, args := range map[string]string{
		"demo__count": `{}`, "run_skill": `{"name":"demo/count"}`, "run_code": `{"language":"bash","code":"sleep 8"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			slow(t, lasts(8*time.Second), func(t *testing.T, b *bench) {
				begun := time.Now()
				c := b.dial(knowsTasks)
				got := c.call(tool, args).Result
				if after := time.Since(begun); got.ResultType != "task" || got.Status != "working" || got.StatusMessage != "50% counting" || after != patience {
					t.Fatalf("after %s: %+v", after, got)
				}
				task := fmt.Sprintf(`{"taskId":%q}`, got.TaskID)
				time.Sleep(4 * time.Second)
				got = c.ask("tasks/get", task).Result
				if got.ResultType != "complete" || got.Status != "completed" || !strings.Contains(fmt.Sprint(got.Result.Content), "counted") {
					t.Errorf("at its end: %+v", got)
				}
				if other := b.dial(knowsTasks).ask("tasks/get", task); other.Error == nil || other.Error.Code != -32602 {
					t.Errorf("another client got %+v", other.Result)
				}
			})
		})
	}
}

// Calls that end soon, and clients that know no tasks, have results.
func TestNotLasting(t *testing.T) {
	for name, test := range map[string]struct {
		takes        time.Duration
		capabilities string
	}{
		"soon": {4 * time.Second, knowsTasks}, "no tasks": {8 * time.Second, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			slow(t, lasts(test.takes), func(t *testing.T, b *bench) {
				got := b.dial(test.capabilities).call("demo__count", `{}`).Result
				if got.ResultType != "complete" || got.TaskID != "" || len(got.Content) != 2 || got.Content[0].Text != "counted" {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// A skill says when it is a task at once, and when nobody else may call it.
func TestTasksOfSkills(t *testing.T) {
	slow(t, lasts(2*time.Second), func(t *testing.T, b *bench) {
		knows, other := b.dial(knowsTasks), b.dial(`{}`)
		for _, tool := range []string{"now", "must"} {
			begun := time.Now()
			for _, r := range []taskReply{knows.call("demo__"+tool, `{}`), knows.call("run_skill", fmt.Sprintf(`{"name":"demo/%s"}`, tool))} {
				if r.Result.ResultType != "task" || !time.Now().Equal(begun) {
					t.Errorf("%s: after %s: %+v %+v", tool, time.Since(begun), r.Result, r.Error)
				}
			}
		}
		if r := other.call("demo__now", `{}`); r.Result.ResultType != "complete" || r.Result.IsError {
			t.Errorf("always: %+v %+v", r.Result, r.Error)
		}
		const missing = `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
		if r := other.call("demo__must", `{}`); r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != missing {
			t.Errorf("required: %+v %+v", r.Result, r.Error)
		}
		if legacy := b.call("demo__must", `{}`); !legacy.IsError || !strings.HasPrefix(legacy.text(), "UNAVAILABLE: this skill is run for clients that know") {
			t.Errorf("a legacy client: %+v", legacy)
		}
	})
}

// A run ends when its task is cancelled, or its client leaves.
func TestEndOfTasks(t *testing.T) {
	var ended chan error // of the bubble
	driver := &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}}
	slow(t, driver, func(t *testing.T, b *bench) {
		ended = make(chan error)
		begin := func(c *dialled) (task string) {
			r := c.call("demo__now", `{}`)
			synctest.Wait() // until it runs
			return fmt.Sprintf(`{"taskId":%q}`, r.Result.TaskID)
		}
		c := b.dial(knowsTasks)
		task := begin(c)
		if r := c.ask("tasks/cancel", task); r.Error != nil || r.Result.ResultType != "complete" || r.Result.TaskID != "" {
			t.Errorf("%+v", r)
		}
		<-ended
		synctest.Wait()
		if r := c.ask("tasks/get", task); r.Result.Status != "cancelled" {
			t.Errorf("%+v", r.Result)
		}
		begin(c)
		go c.hangUp()
		<-ended
		begin(b.dial(knowsTasks))
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			b.Close()
		}()
		<-ended
		<-closed
	})
}

// A task asks by itself. An answer that does not fit is asked for again; one that
// is cancelled meanwhile ends the run.
func TestAskingTask(t *testing.T) {
	slow(t, asksOnce(), func(t *testing.T, b *bench) {
		b.files["p/skills/now/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: now\ndescription: Asks.\nscript: run.sh\ntask: always\nasks: person\n---\n")}
		b.publish()
		c := b.dial(`{"elicitation":{},` + strings.TrimPrefix(knowsTasks, "{"))
		begin := func() (id string, task string) {
			id = c.call("demo__now", `{}`).Result.TaskID
			synctest.Wait()
			return id, fmt.Sprintf(`{"taskId":%q}`, id)
		}
		id, task := begin()
		answer := func(key, answer string) taskReply {
			c.ask("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:%s}}`, id, key, answer))
			synctest.Wait()
			return c.ask("tasks/get", task)
		}
		if r := c.ask("tasks/get", task).Result; r.Status != "input_required" || r.InputRequests["ask-1"].Method != "elicitation/create" {
			t.Fatalf("%+v", r)
		}
		if r := answer("ask-1", `{"action":"perhaps"}`).Result; r.Status != "input_required" || r.InputRequests["ask-1-2"].Method == "" {
			t.Fatalf("after what is no answer: %+v", r)
		}
		if r := answer("ask-1-2", `{"action":"decline"}`).Result; r.Status != "completed" || !strings.Contains(fmt.Sprint(r.Result.Content), "decline") {
			t.Errorf("%+v", r)
		}
		_, task = begin()
		c.ask("tasks/cancel", task)
		synctest.Wait()
		if r := c.ask("tasks/get", task).Result; r.Status != "cancelled" {
			t.Errorf("%+v", r)
		}
		_, task = begin()
		time.Sleep(time.Hour) // nobody answers
		synctest.Wait()
		if r := c.ask("tasks/get", task).Result; r.Status != "completed" || !r.Result.IsError || !strings.HasPrefix(fmt.Sprint(r.Result.Content), "[{TIMEOUT: ") {
			t.Errorf("%+v", r)
		}
	})
}
