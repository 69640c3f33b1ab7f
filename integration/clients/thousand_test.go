package clients

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// listLimit is how long an answer to tools/list may be, in bytes.
const listLimit = 20 << 10

// thousand makes a home with a thousand skills, as many of them tools as there is
// room for.
func thousand(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := catalog.Make(home, 1000); err != nil {
		t.Fatal(err)
	}
	lab.WriteFile(t, filepath.Join(home, "config.yaml"), "skills: [skills]\nroots: {session: false, user: false, system: false, samples: false}\ntools: {run_code: true, kept_sandboxes: true, match_skills: true, install_skill: true}\nexpose: {pin: ['skill-0*']}\n")
	return home
}

// A listener is a client's stream, on which change notices come.
type listener struct {
	name          string
	lines         *bufio.Scanner
	count, tagged int // notices, and how many of them name a subscription
}

// next reads a line, and counts it where it is a notice.
func (l *listener) next() (line string, ok bool) {
	ok = l.lines.Scan()
	line = l.lines.Text()
	if ok && strings.Contains(line, `"method":"notifications/tools/list_changed"`) {
		l.count++
		if strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":"l"`) {
			l.tagged++
		}
	}
	return line, ok
}

// until reads until a line with the text has come, and there were so many notices.
func (l *listener) until(t *testing.T, text string, count int) {
	t.Helper()
	for seen := text == ""; l.count < count || !seen; {
		line, ok := l.next()
		if !ok {
			t.Fatalf("%s: ended after %d notices: %v", l.name, l.count, l.lines.Err())
		}
		seen = seen || strings.Contains(line, text)
	}
}

// rest reads to the end, and wants that there were just so many.
func (l *listener) rest(t *testing.T, count, tagged int) {
	t.Helper()
	for ok := true; ok; {
		_, ok = l.next()
	}
	if l.count != count || l.tagged != tagged {
		t.Errorf("%s: %d notices, %d of them of a subscription; want %d and %d", l.name, l.count, l.tagged, count, tagged)
	}
}

// edits are two new skills, and between them a change that no tool shows. Whoever
// listens has to hear of the first before the second.
func edits(t *testing.T, home string, heard func(notices int)) {
	t.Helper()
	skills := filepath.Join(home, "skills")
	add := func(name string) {
		lab.WriteFile(t, filepath.Join(skills, name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is new.\n---\nHello.\n")
	}
	add("new-one")
	heard(1)
	if err := catalog.Write(filepath.Join(skills, catalog.Name(999)), 999, 1); err != nil { // it has no tool
		t.Fatal(err)
	}
	heard(1)
	add("new-two")
	heard(2)
}

// Of a thousand skills, tools/list stays short. A new one makes one notice for
// each who listens, of both generations; a change that no tool shows makes none.
func TestThousandSkillsOverHTTP(t *testing.T) {
	t.Parallel()
	home := thousand(t)
	base, stop := lab.ServeHTTP(t, nil, "--config", filepath.Join(home, "config.yaml"))
	url := base + "/mcp"
	session := "Mcp-Session-Id: " + post(t, url, initialize).Header.Get("Mcp-Session-Id")
	post(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	for generation, list := range map[string]func() (string, []string){
		"legacy": func() (string, []string) {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{session}
		},
		"modern": func() (string, []string) {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + modernMeta + `}}}`, []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"}
		},
	} {
		body, headers := list()
		lines := bufio.NewScanner(post(t, url, body, headers...).Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() && !strings.Contains(lines.Text(), `"id":1`) { // a stream, if it waits for the first scan
		}
		checkList(t, generation, lines.Text())
	}
	listeners := []*listener{
		{name: "legacy", lines: bufio.NewScanner(get(t, url, session).Body)},
		{name: "modern", lines: bufio.NewScanner(post(t, url, listenRequest, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen").Body)},
	}
	edits(t, home, func(notices int) {
		for _, l := range listeners {
			l.until(t, "", notices)
		}
		reload := post(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"reload_skills"}}`, session)
		if _, err := io.Copy(io.Discard, reload.Body); err != nil { // waits for scans under way
			t.Error(err)
		}
	})
	stop()
	listeners[0].rest(t, 2, 0)
	listeners[1].rest(t, 2, 2)
}

const listenRequest = `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` + modernMeta + `}}}`

func checkList(t *testing.T, generation, answer string) {
	t.Helper()
	tools := strings.Count(answer, `"inputSchema"`)
	t.Logf("%s: tools/list has %d tools in %d bytes", generation, tools, len(answer))
	if len(answer) > listLimit || tools < 20 {
		t.Errorf("%s: %d tools in %d bytes", generation, tools, len(answer))
	}
}

// On standard input and output one client may do both: what it listens for is
// tagged, and the plain notice is that of the legacy one.
func TestThousandSkillsOnStdio(t *testing.T) {
	t.Parallel()
	home := thousand(t)
	s := startIn(t, home, "native")
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	checkList(t, "legacy", s.await(t, `"id":2`))
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{%s}}}`, modernMeta))
	checkList(t, "modern", s.await(t, `"id":3`))
	s.send(listenRequest)
	s.await(t, "notifications/subscriptions/acknowledged")
	both := &listener{name: "both", lines: s.lines}
	edits(t, home, func(notices int) {
		both.until(t, "", 2*notices)
		s.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"reload_skills"}}`)
		both.until(t, `"id":4`, 0)
	})
	s.stdin.Close()
	both.rest(t, 4, 2)
}
