package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// conversation speaks with one server.
type conversation struct {
	ts     *testscript.TestScript
	in     io.Writer
	out    *bufio.Reader
	modern bool
	tasks  bool // a modern client knows them: a call that takes long is one

	names   map[string]string // what {{name}} matched
	asked   json.RawMessage   // the id of the server's last request
	request string            // the last that was sent, but for its id
	count   int               // requests sent
}

// talk is the command mcp.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	kind := ""
	if len(args) > 0 && strings.HasPrefix(args[0], "--") {
		kind, args = args[0], args[1:]
	}
	if neg || len(args) == 0 || !slices.Contains([]string{"", "--legacy", "--tasks"}, kind) {
		ts.Fatalf("usage: mcp [--legacy|--tasks] FILE [arguments of serve...]")
	}
	steps := ts.ReadFile(args[0])
	cmd := exec.Command(Binary, append([]string{"serve"}, args[1:]...)...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), ts.Stderr()
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "SKILLS_MCP_SANDBOX", "SKILLS_MCP_CONFIG", "DOCKER_HOST"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ended := false
	ts.Defer(func() { // where a step fails
		if !ended {
			_ = in.Close()
			_ = cmd.Wait()
		}
	})
	c := &conversation{ts: ts, in: in, out: bufio.NewReader(out), modern: kind != "--legacy", tasks: kind == "--tasks", names: map[string]string{}}
	if !c.modern {
		c.initialize()
	}
	for n, line := range strings.Split(steps, "\n") {
		if kind, rest, ok := strings.Cut(line, " "); ok && kind != "#" {
			c.step(fmt.Sprintf("%s:%d", args[0], n+1), kind, rest)
		} else if line != "" && kind != "#" {
			ts.Fatalf("%s:%d: %q is no step", args[0], n+1, line)
		}
	}
	ts.Check(in.Close())
	ended = true
	ts.Check(cmd.Wait())
}

func (c *conversation) initialize() {
	c.send("initialize", `{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{"elicitation":{},"sampling":{}}}`)
	c.expect("initialize", `"protocolVersion":"2025-11-25"`)
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *conversation) step(at, kind, rest string) {
	for name, value := range c.names {
		if kind == ">" || kind == "=" {
			rest = strings.ReplaceAll(rest, "{{"+name+"}}", value)
		}
	}
	switch kind {
	case ">":
		method, params, _ := strings.Cut(rest, " ")
		c.send(method, params)
	case "=":
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.asked, rest))
	case "<":
		c.expect(at, rest)
	case "~":
		c.poll(at, rest)
	default:
		c.ts.Fatalf("%s: a step begins with one of > = < ~, not %q", at, kind)
	}
}

func (c *conversation) poll(at, rest string) {
	pattern := c.pattern(rest)
	line := c.receive(at)
	for began := time.Now(); !c.match(pattern, line); {
		if time.Since(began) > Patience || strings.Contains(line, `"error":`) {
			c.ts.Fatalf("%s: the server sent\n%s\nwhich does not match\n%s", at, line, rest)
		}
		c.repeat()
		line = c.receive(at)
	}
}

// send sends a request. A modern one says each time who makes it.
func (c *conversation) send(method, params string) {
	var fields map[string]any
	c.ts.Check(json.Unmarshal([]byte(params), &fields))
	if c.modern {
		capabilities := `{"elicitation":{},"sampling":{},"roots":{}}`
		if c.tasks {
			capabilities = `{"elicitation":{},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
		}
		fields["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(capabilities),
		}
	}
	encoded, err := json.Marshal(fields)
	c.ts.Check(err)
	c.request = fmt.Sprintf(`"method":%q,"params":%s`, method, encoded)
	c.repeat()
}

func (c *conversation) repeat() {
	c.count++
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, c.count, c.request))
}

func (c *conversation) write(line string) {
	_, err := io.WriteString(c.in, line+"\n")
	c.ts.Check(err)
}

func (c *conversation) expect(at, pattern string) {
	if line := c.receive(at); !c.match(c.pattern(pattern), line) {
		c.ts.Fatalf("%s: the server sent\n%s\nwhich does not match\n%s", at, line, pattern)
	}
}

// receive returns the next response, or request of the server.
func (c *conversation) receive(at string) string {
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.ts.Fatalf("%s: the server ended: %v", at, err)
		}
		var message struct {
			ID     json.RawMessage
			Method string
		}
		c.ts.Check(json.Unmarshal([]byte(line), &message))
		if len(message.ID) == 0 {
			continue // a notification
		}
		if message.Method != "" {
			c.asked = message.ID
		}
		return strings.TrimSpace(line)
	}
}

var patternParts = regexp.MustCompile(`…|\{\{\w+\}\}`)

// pattern compiles a PATTERN. A name that is known already stands for its text.
func (c *conversation) pattern(text string) *regexp.Regexp {
	var expression strings.Builder
	end := 0
	for _, at := range patternParts.FindAllStringIndex(text, -1) {
		expression.WriteString(regexp.QuoteMeta(text[end:at[0]]))
		end = at[1]
		name := strings.Trim(text[at[0]:at[1]], "{}")
		switch value, known := c.names[name]; {
		case name == "…":
			expression.WriteString(".*")
		case known:
			expression.WriteString(regexp.QuoteMeta(value))
		default:
			expression.WriteString(`(?P<` + name + `>[^"]*)`)
		}
	}
	return regexp.MustCompile(expression.String() + regexp.QuoteMeta(text[end:]))
}

// match reports whether a line matches, and keeps its names.
func (c *conversation) match(pattern *regexp.Regexp, line string) bool {
	found := pattern.FindStringSubmatch(line)
	for i, name := range pattern.SubexpNames() {
		if found != nil && name != "" {
			c.names[name] = found[i]
		}
	}
	return found != nil
}
