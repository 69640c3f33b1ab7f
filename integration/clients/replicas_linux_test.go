package clients

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A teammate is a client of servers that share a store, with a token and perhaps a session.
type teammate struct {
	t       *testing.T
	token   string
	session string // of a legacy client
	last    int
}

const (
	forms = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	fails = `{}` // of a client that shows no forms
)

// send sends a request to a server, and returns the answer.
func (c *teammate) send(s *lab.HttpServer, method, params, capabilities string) *http.Response {
	c.t.Helper()
	c.last++
	headers := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream", "Authorization: Bearer " + c.token}
	if c.session != "" {
		headers = append(headers, "Mcp-Session-Id: "+c.session)
	} else if method != "initialize" {
		params = strings.TrimSuffix(params, "}") + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}`
		headers = append(headers, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: "+method)
		var named struct{ Name, TaskID string }
		if err := json.Unmarshal([]byte(params), &named); err != nil {
			c.t.Fatal(err, params)
		}
		if named.Name+named.TaskID != "" {
			headers = append(headers, "Mcp-Name: "+named.Name+named.TaskID)
		}
	}
	return lab.Request(c.t, "POST", s.Address+"/mcp", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.last, method, params)), headers...)
}

// messages returns the messages of an answer.
func messages(t *testing.T, response *http.Response) <-chan string {
	all := make(chan string, 100)
	go func() {
		defer close(all)
		for lines := bufio.NewReader(response.Body); ; {
			line, err := lines.ReadString('\n')
			line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
			if strings.HasPrefix(line, "{") {
				all <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return all
}

// ask sends a request, and returns its only reply.
func (c *teammate) ask(s *lab.HttpServer, method, params string) string {
	c.t.Helper()
	return only(c.t, messages(c.t, c.send(s, method, params, forms)))
}

// only returns the only reply among messages.
func only(t *testing.T, all <-chan string) (reply string) {
	t.Helper()
	for m := range all {
		var message struct{ Method string }
		if err := json.Unmarshal([]byte(m), &message); err != nil || message.Method != "" {
			continue
		}
		if reply != "" {
			t.Errorf("a second reply: %s after %s", m, reply)
		}
		reply = m
	}
	if reply == "" {
		t.Error("no reply")
	}
	return reply
}

func toolCall(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
}

func (c *teammate) wants(got string, parts ...string) {
	c.t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.t.Fatalf("got %s\nwant %s", got, part)
		}
	}
}

// found returns the text that the group of a pattern matches.
func (c *teammate) found(pattern, in string) string {
	c.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(in)
	if m == nil {
		c.t.Fatalf("%s is not in %s", pattern, in)
	}
	return m[1]
}

// legacy returns a legacy client of the same token, which has initialized.
func (c *teammate) legacy(s *lab.HttpServer) *teammate {
	c.t.Helper()
	l := &teammate{t: c.t, token: c.token}
	response := l.send(s, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`, "")
	l.session = response.Header.Get("Mcp-Session-Id")
	if l.session == "" {
		c.t.Fatal(response.Status)
	}
	return l
}

// replies posts the client's answer to a question of a server.
func (c *teammate) replies(s *lab.HttpServer, question, result string) {
	c.t.Helper()
	id := c.found(`"id":("[^"]+")`, question)
	response := lab.Request(c.t, "POST", s.Address+"/mcp", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)), "Content-Type: application/json", "Accept: application/json, text/event-stream", "Authorization: Bearer "+c.token, "Mcp-Session-Id: "+c.session)
	if response.StatusCode != http.StatusAccepted {
		c.t.Fatal(response.Status)
	}
}

// eachStore runs a test with the file that servers of one machine share, and with a database.
// The test gets the program for it, and a part of the configuration.
func eachStore(t *testing.T, test func(t *testing.T, program, more string)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "", "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		address := os.Getenv("SKILLS_MCP_TEST_POSTGRES")
		if address == "" {
			lab.Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", errors.New(`SKILLS_MCP_TEST_POSTGRES is not set; eval "$(integration/postgres env)"`))
		}
		schema := strings.ToLower("replicas_" + rand.Text())
		sql := func(statement string) {
			if out, err := exec.Command("psql", "--quiet", address, "--command", statement).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		sql("CREATE SCHEMA " + schema)
		program, err := withCluster()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sql("DROP SCHEMA " + schema + " CASCADE") }) // after the servers have ended
		test(t, program, fmt.Sprintf("store: %q\n", address+"&search_path="+schema))
	})
}

// withCluster builds the program with PostgreSQL.
var withCluster = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(lab.Binary), "skills-mcp-cluster")
	build := exec.Command("go", "build", "-trimpath", "-tags", "cluster", "-o", program, "./cmd/skills-mcp")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, err
})

// A stand of replicas has two servers of one store, and two people with a token each.
type replicas struct {
	*lab.Account
	a, b     *lab.HttpServer
	ann, bob *teammate
}

func newReplicas(t *testing.T, program, more string) *replicas {
	r := &replicas{Account: lab.NativeAccount(t, "tools: {run_code: true, kept_sandboxes: true}\nserve: {ui: true}\n"+more)}
	r.Program = program
	r.Skill("echo/SKILL.md", "---\nname: echo\ndescription: Echoes.\nclass: safe\nscript: run.sh\nparams: {text: string}\n---\n")
	r.Skill("echo/run.sh", "echo \"said $*\"\n")
	r.Skill("slow/SKILL.md", "---\nname: slow\ndescription: Waits.\nclass: safe\nscript: run.sh\ntask: always\n---\n")
	r.Skill("slow/run.sh", "sleep 600\n")
	for name, c := range map[string]**teammate{"ann": &r.ann, "bob": &r.bob} {
		out, code := r.Terminal("yes", "token", "add", name, "--scope", "run", "--scope", "approve") // their forms count
		token := regexp.MustCompile(`smcp_\w+`).FindString(out)
		if code != 0 || token == "" {
			t.Fatal(out)
		}
		*c = &teammate{t: t, token: token}
	}
	r.a, r.b = r.member(), r.member()
	return r
}

// asked returns the question among the messages of an answer.
func asked(t *testing.T, all <-chan string) string {
	t.Helper()
	for m := range all {
		if strings.Contains(m, "elicitation/create") {
			return m
		}
		t.Log(m)
	}
	t.Fatal("nothing is asked")
	return ""
}

// member starts another server.
func (r *replicas) member() *lab.HttpServer {
	return r.Listens("127.0.0.1:0", "--replica", "http://127.0.0.1")
}

// What one server has begun, the other goes on with, for its principal alone.
func TestReplicas(t *testing.T) { eachStore(t, testReplicas) }

func testReplicas(t *testing.T, program, more string) {
	r := newReplicas(t, program, more+lab.AllForms)
	a, b := r.a, r.b
	test := func(name string, do func(t *testing.T, ann, bob *teammate)) {
		t.Run(name, func(t *testing.T) { do(t, &teammate{t: t, token: r.ann.token}, &teammate{t: t, token: r.bob.token}) })
	}
	test("session", func(t *testing.T, ann, bob *teammate) {
		l, other := ann.legacy(a), bob.legacy(a)
		l.wants(l.ask(b, "tools/call", toolCall("echo", `{"text":"hello"}`)), "said --text hello")
		for _, s := range []*lab.HttpServer{a, b} {
			thief := &teammate{t: t, token: bob.token, session: l.session}
			thief.wants(thief.ask(s, "tools/list", "{}"), "there is no such session")
		}
		other.wants(other.ask(b, "tools/call", toolCall("echo", `{"text":"bob"}`)), "said --text bob")
		for i, s := range []*lab.HttpServer{a, b} {
			all := messages(t, l.send(b, "tools/call", toolCall("note", fmt.Sprintf(`{"text":"legacy %d"}`, i)), ""))
			question := asked(t, all)
			l.replies(s, question, `{"action":"accept","content":{"answer":"once"}}`)
			l.wants(only(t, all), "wrote")
			r.Wrote(i + 1)
		}
	})
	test("question", func(t *testing.T, ann, bob *teammate) {
		question := ann.ask(a, "tools/call", toolCall("note", `{"text":"modern"}`))
		again := ann.yes(question, toolCall("note", `{"text":"modern"}`))
		bob.wants(bob.ask(b, "tools/call", again), "requestState is not valid")
		ann.wants(ann.ask(b, "tools/call", again), "wrote")
		r.Wrote(3)
	})
	test("task", func(t *testing.T, ann, bob *teammate) {
		id := ann.found(`"taskId":"([^"]+)"`, ann.ask(a, "tools/call", toolCall("slow", `{}`)))
		named := fmt.Sprintf(`{"taskId":%q}`, id)
		ann.wants(ann.ask(b, "tasks/get", named), `"status":"working"`)
		for _, s := range []*lab.HttpServer{a, b} {
			bob.wants(bob.ask(s, "tasks/get", named), "there is no such task")
			bob.wants(bob.ask(s, "tasks/cancel", named), "there is no such task")
		}
		ann.ask(b, "tasks/cancel", named)
		for _, s := range []*lab.HttpServer{a, b} {
			ann.until(s, named, `"status":"cancelled"`)
		}
	})
	test("sandbox and output", func(t *testing.T, ann, bob *teammate) {
		box := ann.found(`"container_id":"([^"]+)"`, ann.ask(a, "tools/call", toolCall("open_sandbox", `{}`)))
		code := fmt.Sprintf(`{"language":"bash","code":"echo kept >> /tmp/x; wc -l < /tmp/x","container_id":%q}`, box)
		ann.wants(ann.ask(a, "tools/call", toolCall("run_code", code)), `"stdout":"1\n"`)
		ann.wants(ann.ask(b, "tools/call", toolCall("run_code", code)), `"stdout":"2\n"`)
		bob.wants(bob.ask(b, "tools/call", toolCall("run_code", code)), "there is no sandbox")
	})
	test("run of the REST API", func(t *testing.T, ann, bob *teammate) {
		rest := func(s *lab.HttpServer, c *teammate, method, path string) (int, string) {
			response := lab.Request(t, method, s.Address+"/v1/"+path, strings.NewReader("{}"), "Content-Type: application/json", "Prefer: respond-async", "Authorization: Bearer "+c.token)
			text, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(text)
		}
		_, started := rest(a, ann, "POST", "skills/slow/execute")
		id := ann.found(`"(?:run_)?id":"(run-[^"]+)"`, started)
		if status, text := rest(b, ann, "GET", "runs/"+id); status != 200 || !strings.Contains(text, `"running"`) {
			t.Errorf("%d %s", status, text)
		}
		for _, s := range []*lab.HttpServer{a, b} {
			if status, text := rest(s, bob, "DELETE", "runs/"+id); status != 404 {
				t.Errorf("%d %s", status, text)
			}
		}
		if status, text := rest(b, ann, "DELETE", "runs/"+id); status != 204 {
			t.Errorf("%d %s", status, text)
		}
	})
	test("page", func(t *testing.T, ann, _ *teammate) {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		signed, err := client.Post(a.Address+"/ui/signin", "application/x-www-form-urlencoded", strings.NewReader("token="+ann.token))
		if err != nil || len(signed.Cookies()) == 0 {
			t.Fatal(signed, err)
		}
		defer signed.Body.Close()
		cookie := signed.Cookies()[0]
		for _, s := range []*lab.HttpServer{a, b} {
			host := strings.TrimPrefix(a.Address, "http://") // the address that both are behind
			request, err := http.NewRequestWithContext(t.Context(), "GET", s.Address+"/ui/", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			request.AddCookie(cookie)
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", s.Address, response.Status)
			}
		}
	})
}

// yes returns the params of a call with a yes to the question that it was answered with.
func (c *teammate) yes(question, params string) string {
	c.t.Helper()
	key, state := c.found(`"(approval-[^"]+)":\{`, question), c.found(`"requestState":"([^"]+)"`, question)
	return strings.TrimSuffix(params, "}") + fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":"once"}}}}`, state, key)
}

// until polls a task until it has a text.
func (c *teammate) until(s *lab.HttpServer, named, text string) string {
	c.t.Helper()
	for end := time.Now().Add(lab.Patience); ; time.Sleep(200 * time.Millisecond) {
		got := c.ask(s, "tasks/get", named)
		if strings.Contains(got, text) {
			return got
		}
		if time.Now().After(end) {
			c.t.Fatalf("got %s\nwant %s", got, text)
		}
	}
}

// A yes is used by one call, at whichever server.
func TestReplicasApproval(t *testing.T) { eachStore(t, testReplicasApproval) }

func testReplicasApproval(t *testing.T, program, more string) {
	r := newReplicas(t, program, more)
	refused := only(t, messages(t, r.ann.send(r.a, "tools/call", toolCall("note", `{"text":"x"}`), fails)))
	r.Approve(r.ann.found(`\\?"approval\\?":\\?"([a-z0-9]+)`, refused))
	var all sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		one := &teammate{t: t, token: r.ann.token}
		at := []*lab.HttpServer{r.a, r.b}[i%2]
		all.Go(func() {
			answers[i] = only(t, messages(t, one.send(at, "tools/call", toolCall("note", `{"text":"x"}`), fails)))
		})
	}
	all.Wait()
	if ran := strings.Count(strings.Join(answers, "\n"), "wrote"); ran < 1 {
		t.Errorf("%d calls ran: %q", ran, answers)
	}
	r.Wrote(1)
}

// When a server is killed, its call through another is answered once, its sessions go on for
// their principals, and its tasks fail once.
func TestReplicaKilled(t *testing.T) { eachStore(t, testReplicaKilled) }

func testReplicaKilled(t *testing.T, program, more string) {
	r := newReplicas(t, program, more+lab.AllForms)
	a, b, ann, bob := r.a, r.b, r.ann, r.bob
	l := ann.legacy(a)
	named := fmt.Sprintf(`{"taskId":%q}`, ann.found(`"taskId":"([^"]+)"`, ann.ask(a, "tools/call", toolCall("slow", `{}`))))
	waiting := messages(t, l.send(b, "tools/call", toolCall("note", `{"text":"lost"}`), ""))
	asked(t, waiting)
	kept := ann.yes(ann.ask(a, "tools/call", toolCall("note", `{"text":"kept"}`)), toolCall("note", `{"text":"kept"}`))
	a.Kill()
	l.wants(only(t, waiting), `"error"`, "it may have run")

	thief := &teammate{t: t, token: bob.token, session: l.session}
	thief.wants(thief.ask(b, "tools/list", "{}"), "there is no such session")
	l.wants(l.ask(b, "tools/call", toolCall("echo", `{"text":"again"}`)), "said --text again")
	all := messages(t, l.send(b, "tools/call", toolCall("note", `{"text":"asked again"}`), "")) // its capabilities are known
	question := asked(t, all)
	c := r.member()
	l.replies(c, question, `{"action":"accept","content":{"answer":"once"}}`)
	l.wants(only(t, all), "wrote")
	r.Wrote(1)

	// A yes to a form of the killed server counts, for its principal, once.
	bob.wants(bob.ask(c, "tools/call", kept), "requestState is not valid")
	ann.wants(ann.ask(c, "tools/call", kept), "wrote")
	r.Wrote(2)
	for _, s := range []*lab.HttpServer{b, c} {
		ann.wants(ann.ask(s, "tools/call", kept), `"input_required"`)
	}
	r.Wrote(2)

	began := time.Now()
	failed := ann.until(b, named, `"status":"failed"`)
	ann.wants(failed, "its server has ended before it; it may have run")
	t.Logf("the task failed %s after it was polled first", time.Since(began).Round(100*time.Millisecond))
	at := ann.found(`"lastUpdatedAt":"([^"]+)"`, failed)
	for _, s := range []*lab.HttpServer{b, c} {
		ann.wants(ann.until(s, named, `"status":"failed"`), at) // each finds out by itself
		bob.wants(bob.ask(s, "tasks/get", named), "there is no such task")
		ann.wants(ann.ask(s, "tasks/cancel", named), `"resultType":"complete"`)
	}
}
