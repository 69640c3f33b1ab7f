package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// modernMeta are the fields of _meta that make a request one of the modern
// protocol.
const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// lastWords is a script that sends progress as its last act.
const lastWords = "#!/bin/bash\necho \"result $2\"\necho \"last words of $2\" >&2\n"

// progressCalls is how many calls are made in each way, and progressAtOnce how
// many of them at a time.
const progressCalls, progressAtOnce = 300, 8

// Calls send progress as their last act, eight at a time. None of it comes after
// its result, none is lost, and none comes to another call.
func TestProgressOfSkills(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	for _, generation := range []string{"legacy", "modern"} {
		t.Run("stdio, "+generation, func(t *testing.T) {
			t.Parallel()
			progressOnStdio(t, generation == "modern")
		})
	}
	dir := t.TempDir()
	lab.WriteFile(t, filepath.Join(dir, "last", "SKILL.md"), "---\nname: last\ndescription: Speaks last.\nscript: run.sh\n---\n")
	lab.WriteFile(t, filepath.Join(dir, "last", "run.sh"), lastWords)
	url, stop := lab.ServeHTTP(t, nil, "--skills", dir)
	t.Cleanup(func() { stop() })
	url += "/mcp"
	for _, generation := range []string{"legacy", "modern"} {
		t.Run("HTTP, "+generation, func(t *testing.T) {
			t.Parallel()
			progressOverHTTP(t, url, generation == "modern")
		})
	}
}

// lastCall is a call whose progress token is its id.
func lastCall(id int, modern bool) string {
	meta := fmt.Sprintf(`"progressToken":%d`, id)
	if modern {
		meta += "," + modernMeta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"last","arguments":{"tag":"tag-%d"},"_meta":{%s}}}`, id, id, meta)
}

// A wireMessage is a reply or a notification.
type wireMessage struct {
	ID     *int
	Method string
	Params struct {
		ProgressToken int
		Message       string
	}
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
	Error json.RawMessage
}

// A caller follows the calls of one client.
type caller struct {
	t      *testing.T
	flying map[int]bool // by id: whether its last words have come
}

// take takes the next message, and reports whether it ends a call.
func (c *caller) take(line string) (ended bool) {
	c.t.Helper()
	var m wireMessage
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		c.t.Errorf("%v: %s", err, line)
		return false
	}
	switch {
	case m.Method == "notifications/progress":
		id := m.Params.ProgressToken
		if _, flies := c.flying[id]; !flies {
			c.t.Errorf("progress of a call that is over, or another's: %s", line)
			return false
		}
		c.flying[id] = c.flying[id] || m.Params.Message == fmt.Sprintf("last words of tag-%d", id)
		return false
	case m.ID == nil:
		return false // a change notice
	}
	said, flies := c.flying[*m.ID]
	switch {
	case !flies || m.Error != nil || m.Result.IsError || len(m.Result.Content) == 0:
		c.t.Errorf("call %d: %s", *m.ID, line)
	case !said:
		c.t.Errorf("call %d: its last words did not come before its result", *m.ID)
	case strings.TrimSpace(m.Result.Content[0].Text) != fmt.Sprintf("result tag-%d", *m.ID):
		c.t.Errorf("call %d: it got the result of another: %s", *m.ID, line)
	}
	delete(c.flying, *m.ID)
	return true
}

func progressOnStdio(t *testing.T, modern bool) {
	s := start(t, "native", "last", lastWords)
	c := &caller{t, map[int]bool{}}
	send := func(id int) {
		if id < 100+progressCalls {
			c.flying[id] = false
			s.send(lastCall(id, modern))
		}
	}
	next := 100
	for ; next < 100+progressAtOnce; next++ {
		send(next)
	}
	for len(c.flying) > 0 {
		if !s.lines.Scan() {
			t.Fatal("the server has ended its output: ", s.lines.Err())
		}
		if c.take(s.lines.Text()) {
			send(next)
			next++
		}
	}
	if next != 100+progressCalls+progressAtOnce {
		t.Errorf("the last call was %d", next)
	}
}

func progressOverHTTP(t *testing.T, url string, modern bool) {
	headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: last"}
	if !modern {
		headers = []string{"Mcp-Session-Id: " + post(t, url, initialize).Header.Get("Mcp-Session-Id")}
	}
	ids := make(chan int, progressCalls)
	for id := range progressCalls {
		ids <- 100 + id
	}
	close(ids)
	var all sync.WaitGroup
	for range progressAtOnce {
		all.Go(func() {
			for id := range ids {
				c := &caller{t, map[int]bool{id: false}}
				response := post(t, url, lastCall(id, modern), headers...)
				lines := bufio.NewScanner(response.Body)
				for lines.Scan() {
					if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "" { // else it only has an id
						c.take(data)
					}
				}
				if len(c.flying) > 0 {
					t.Errorf("call %d was not answered: %s, %v", id, response.Status, lines.Err())
				}
				response.Body.Close()
			}
		})
	}
	all.Wait()
}
