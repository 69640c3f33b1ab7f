package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A client is a client of one server, whose calls may be concurrent.
type client struct {
	server *process
	modern bool   // each request says who makes it, and that it knows tasks
	leave  func() // ends the session over HTTP
	// exchange sends a request and returns the response.
	exchange func(id int, line string) (response, error)

	heard *log // over standard input and output: what answers nothing

	mu        sync.Mutex
	sent      int
	announced []announcement // in the order in which they came
}

// A response is a line that a server sends.
type response struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct{ Message string }
}

// An announcement is one that came ahead of a result.
type announcement struct{ label, status, result string }

var announcementText = regexp.MustCompile(`(?s)^\[Subagent Complete\] "([^"]*)" \((\w+)\)\. Result: (.*)$`)

// errGone is returned for a request to a server that has ended.
var errGone = errors.New("the server has ended")

// request makes a request.
func (c *client) request(method string, params map[string]any) (response, error) {
	if c.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
		}
	}
	c.mu.Lock()
	c.sent++
	id := c.sent
	c.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return response{}, err
	}
	return c.exchange(id, string(line))
}

// call calls a tool, and takes the announcements ahead of its result.
func (c *client) call(tool string, args map[string]any) (text string, failed bool, err error) {
	m, err := c.request("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return "", false, err
	}
	if m.Error != nil {
		return m.Error.Message, true, nil
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		return "", false, err
	}
	for i, block := range result.Content {
		found := announcementText.FindStringSubmatch(block.Text)
		if found == nil || i == len(result.Content)-1 {
			text += block.Text
			continue
		}
		c.mu.Lock()
		c.announced = append(c.announced, announcement{found[1], found[2], found[3]})
		c.mu.Unlock()
	}
	return text, result.IsError, nil
}

// must calls a tool that has to succeed.
func (c *client) must(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	text, failed, err := c.call(tool, args)
	if err != nil || failed {
		t.Fatalf("%s %v: %v, %s", tool, args, err, text)
	}
	return text
}

// fails calls a tool that has to fail, with a text in its error.
func (c *client) fails(t *testing.T, tool string, args map[string]any, want string) string {
	t.Helper()
	text, failed, err := c.call(tool, args)
	if err != nil || !failed || !strings.Contains(text, want) {
		t.Errorf("%s %v: %v, %v, %s, want the error %q", tool, args, err, failed, text, want)
	}
	return text
}

// spawn spawns a session, and returns its run ID.
func (c *client) spawn(t *testing.T, args map[string]any) string {
	t.Helper()
	var spawned struct {
		RunID string `json:"run_id"`
	}
	text := c.must(t, "sessions_spawn", args)
	if err := json.Unmarshal([]byte(text), &spawned); err != nil || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(spawned.RunID) {
		t.Fatalf("%v: %s", err, text)
	}
	return spawned.RunID
}

// A session is one of sessions_list.
type session struct {
	RunID   string `json:"run_id"`
	Label   string
	Status  string
	Depth   int
	Timeout float64 `json:"timeout_seconds"`
	Used    struct{ Turns, Tokens int }
}

// list returns the sessions that the client sees.
func (c *client) list(status string) ([]session, error) {
	args := map[string]any{}
	if status != "" {
		args["status_filter"] = status
	}
	text, failed, err := c.call("sessions_list", args)
	if err == nil && failed {
		err = errors.New(text)
	}
	if err != nil {
		return nil, err
	}
	var list struct{ Sessions []session }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return list.Sessions, nil
}

// await returns the announcement of a label, which has to come ahead of a result.
func (c *client) await(t *testing.T, label string) announcement {
	t.Helper()
	for began := time.Now(); time.Since(began) < lab.Patience; {
		c.mu.Lock()
		for i, a := range c.announced {
			if a.label == label {
				c.announced = append(c.announced[:i:i], c.announced[i+1:]...)
				c.mu.Unlock()
				return a
			}
		}
		c.mu.Unlock()
		if _, err := c.list("running"); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%q is not announced", label)
	return announcement{}
}

// A process is a server that a test has started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed after its end
	log   *log
}

type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// end ends the process, unless it has ended.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
}

// command returns a server of an account, which ends with the test.
func command(a *lab.Account, args ...string) *process {
	t := a.T
	cmd := a.Command(lab.Binary, append([]string{"serve"}, args...)...)
	p := &process{cmd: &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}, ended: make(chan struct{}), log: &log{}}
	t.Cleanup(func() {
		if p.cmd.Process != nil {
			p.end()
		}
		if t.Failed() && p.log.String() != "" {
			t.Logf("the server says: %.4000s", p.log)
		}
	})
	return p
}

// start starts a server on standard input and output.
func start(a *lab.Account) *client {
	t := a.T
	t.Helper()
	p := command(a)
	p.cmd.Stderr = p.log
	input, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards pending and writes
	pending := map[int]chan response{}
	heard := &log{}
	gone := make(chan struct{}) // closed at the end of the output
	go func() {
		lines := bufio.NewReader(output)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var m response
			var id int
			if json.Unmarshal(line, &m) != nil || m.Method != "" || json.Unmarshal(m.ID, &id) != nil {
				_, _ = heard.Write(line)
				continue
			}
			mu.Lock()
			reply := pending[id]
			delete(pending, id)
			mu.Unlock()
			if reply != nil {
				reply <- m
			}
		}
		close(gone)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	c := &client{server: p, heard: heard, exchange: func(id int, line string) (response, error) {
		reply := make(chan response, 1)
		mu.Lock()
		pending[id] = reply
		_, err := io.WriteString(input, line+"\n")
		mu.Unlock()
		if err != nil {
			return response{}, errGone
		}
		select {
		case m := <-reply:
			return m, nil
		case <-gone:
		}
		select { // it came with the end
		case m := <-reply:
			return m, nil
		default:
			return response{}, errGone
		}
	}}
	return c
}

// stdio starts a server and connects to it by its standard input and output.
func stdio(a *lab.Account) *client {
	t := a.T
	t.Helper()
	c := start(a)
	initialize(t, c)
	return c
}

// modern is stdio for a client of the modern protocol, which knows tasks.
func modern(a *lab.Account) *client {
	c := start(a)
	c.modern = true
	return c
}

func initialize(t *testing.T, c *client) {
	t.Helper()
	m, err := c.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "clientInfo": map[string]string{"name": "t", "version": "1"}, "capabilities": map[string]any{}})
	if err != nil || m.Error != nil {
		t.Fatalf("%v, %+v: %s", err, m.Error, c.server.log)
	}
}

// listen starts a server that listens, and returns its address. An open one asks for no token.
func listen(a *lab.Account, open bool) (*process, string) {
	t := a.T
	t.Helper()
	p := command(a, "--transport", "http", "--listen", "127.0.0.1:0", fmt.Sprintf("--no-token=%v", open))
	output, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			fmt.Fprintln(p.log, lines.Text())
			if found := regexp.MustCompile(`serving MCP at (http://\S+/mcp)`).FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	select {
	case url := <-address:
		return p, url
	case <-p.ended:
		t.Fatalf("the server says: %s", p.log)
		return nil, ""
	}
}

// connect connects to a server that listens, with a token; "" is none.
func connect(t *testing.T, p *process, url, token string) *client {
	t.Helper()
	session := ""
	headers := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
	}
	c := &client{server: p, leave: func() {
		r, err := http.NewRequest(http.MethodDelete, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		headers(r)
		reply, err := http.DefaultClient.Do(r)
		if err != nil || reply.StatusCode >= 300 {
			t.Fatal(err, reply)
		}
		reply.Body.Close()
	}, exchange: func(id int, line string) (response, error) {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(line))
		if err != nil {
			return response{}, err
		}
		headers(r)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			return response{}, err
		}
		defer reply.Body.Close()
		if id == 1 {
			session = reply.Header.Get("Mcp-Session-Id")
		}
		return message(reply.Body, id)
	}}
	initialize(t, c)
	return c
}

// message returns the response with an id in a body: JSON, or events.
func message(body io.Reader, id int) (m response, err error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		var found response
		if json.Unmarshal([]byte(line), &found) == nil && string(found.ID) == fmt.Sprint(id) {
			return found, nil
		}
	}
	return m, fmt.Errorf("there is no response to %d in %s", id, text)
}

// eachTransport runs a test with a client of each transport.
func eachTransport(t *testing.T, account func(t *testing.T) *lab.Account, test func(t *testing.T, c *client)) {
	t.Run("stdio", func(t *testing.T) { test(t, stdio(account(t))) })
	t.Run("http", func(t *testing.T) {
		p, url := listen(account(t), true)
		test(t, connect(t, p, url, ""))
	})
}

// task calls a tool as a task, and returns the task's ID.
func (c *client) task(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	m, err := c.request("tools/call", map[string]any{"name": tool, "arguments": args})
	var result struct{ ResultType, TaskID string }
	if err != nil || m.Error != nil || json.Unmarshal(m.Result, &result) != nil || result.ResultType != "task" {
		t.Fatalf("%v, %+v, %s", err, m.Error, m.Result)
	}
	return result.TaskID
}

// taskResult returns a task when it has ended, as JSON.
func (c *client) taskResult(t *testing.T, id string) string {
	t.Helper()
	return c.taskWhen(t, id, func(task string) bool { return !strings.Contains(task, `"status":"working"`) })
}

// taskWhen returns a task when it is as is reports, as JSON.
func (c *client) taskWhen(t *testing.T, id string, is func(task string) bool) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < lab.Patience; {
		m, err := c.request("tasks/get", map[string]any{"taskId": id})
		if err != nil || m.Error != nil {
			t.Fatalf("%v, %+v", err, m.Error)
		}
		if is(string(m.Result)) {
			return string(m.Result)
		}
	}
	t.Fatal("the task stays as it is")
	return ""
}
