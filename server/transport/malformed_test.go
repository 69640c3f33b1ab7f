package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// malformed are messages that no client should send, by what is wrong with them.
// All are one line.
func malformed() map[string]string {
	deep := func(open, close string) string {
		return strings.Repeat(open, 100_000) + "1" + strings.Repeat(close, 100_000)
	}
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":` + arguments + `}}`
	}
	long := strings.Repeat("9", 1<<20)
	return map[string]string{
		"truncated":                   `{"jsonrpc":"2.0","id":1,"method":"tools/li`,
		"truncated escape":            `{"jsonrpc":"2.0","id":"\u12`,
		"two messages":                `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		"a batch":                     `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		"an empty batch":              `[]`,
		"a number":                    `7`,
		"a string":                    `"ping"`,
		"null":                        `null`,
		"an empty object":             `{}`,
		"another version":             `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"no version":                  `{"id":1,"method":"ping"}`,
		"a version of another type":   `{"jsonrpc":2.0,"id":1,"method":"ping"}`,
		"a method of another type":    `{"jsonrpc":"2.0","id":1,"method":["ping"]}`,
		"no method":                   `{"jsonrpc":"2.0","id":1,"params":{}}`,
		"an empty method":             `{"jsonrpc":"2.0","id":1,"method":""}`,
		"an unknown method":           `{"jsonrpc":"2.0","id":1,"method":"tools/none"}`,
		"a long method":               `{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`,
		"a notification as a request": `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}`,
		"a request and a response":    `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`,
		"null as id":                  `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"an object as id":             `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"a boolean as id":             `{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		"a string of 1 MB as id":      `{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`,
		"a number of 1 MB as id":      `{"jsonrpc":"2.0","id":` + long + `,"method":"ping"}`,
		"an id beyond all numbers":    `{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}`,
		"an id that is half a pair":   `{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}`,
		"an id that is NUL":           `{"jsonrpc":"2.0","id":"\u0000","method":"tools/list"}`,
		"an id that is not UTF-8":     "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"tools/list\"}",
		"text that is not UTF-8":      call("{\"tag\":\"\xc3\x28\"}"),
		"NUL":                         "{\"jsonrpc\":\"2.0\",\x00\"id\":1,\"method\":\"ping\"}",
		"a byte order mark":           "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"half a pair":                 call(`{"tag":"\udfff"}`),
		"two ids":                     `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`,
		"two names":                   call(`{"tag":1,"tag":2}`),
		"a name of another case":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"echo"}}`,
		"keys of another case":        `{"JSONRPC":"2.0","ID":1,"METHOD":"tools/list"}`,
		"params of another type":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"echo"}`,
		"params as an array":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo",{}]}`,
		"a name of another type":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`,
		"arguments of another type":   call(`"x"`),
		"_meta of another type":       `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":[]}}`,
		"a token of another type":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":{"a":[1]}}}}`,
		"a level of another type":     `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":{}}}`,
		"a cursor of another type":    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{}}}`,
		"arguments too deep":          call(deep(`{"a":`, "}")),
		"arrays too deep":             call(deep("[", "]")),
		"params too deep":             `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep("[", "]") + `}`,
		"an id too deep":              `{"jsonrpc":"2.0","id":` + deep("[", "]") + `,"method":"ping"}`,
		"nothing but depth":           strings.Repeat("[", 1<<20),
		"a cancellation of nothing":   `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		"a cancellation of an object": `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		"a response to nothing":       `{"jsonrpc":"2.0","id":"ask-1","result":null}`,
		"an error to nothing":         `{"jsonrpc":"2.0","error":{"code":"x"}}`,
	}
}

// checkReply wants what JSON-RPC allows: a result or an error, of that version,
// with an id, which only an error may lack.
func checkReply(t *testing.T, reply []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(reply, &m); err != nil {
		t.Errorf("%v: %.200q", err, reply)
		return
	}
	_, result := m["result"]
	_, failed := m["error"]
	if string(m["jsonrpc"]) != `"2.0"` || result == failed || m["id"] == nil && result || string(m["id"]) == "null" || !bytes.Equal(reply, bytes.ToValidUTF8(reply, nil)) {
		t.Errorf("%.200s", reply)
	}
}

// Each is answered as it may be, or not at all, and harms nothing that comes after.
func TestMalformedOnStdio(t *testing.T) {
	c := dial(t, newBench().backend(), nil).greet()
	for name, line := range malformed() {
		t.Run(name, func(t *testing.T) {
			go io.WriteString(c.in, line+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\n"+`{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"echo"}}`+"\n")
			for seen := 0; seen < 2; { // a call may be answered after a later ping
				reply, err := c.lines.ReadBytes('\n')
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(reply, []byte(`"method"`)) {
					checkReply(t, reply)
				}
				if bytes.Contains(reply, []byte(`"id":"after"`)) || bytes.Contains(reply, []byte(`"id":"last"`)) {
					seen++
				}
			}
		})
	}
}

// Of a message that is too long or not valid, nobody knows the id.
func TestUnreadableMessages(t *testing.T) {
	c := dial(t, newBench().backend(), &Options{bounds: bounds{message: 2000}}).greet()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"tag":"` + strings.Repeat("x", 1<<20) + `"}}}`)
	c.want(": error -32600: message longer than 2000 bytes")
	c.send("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}")
	c.want(": error -32700: not valid UTF-8")
	c.ping()
	c.hangUp()
}

// Over HTTP, too: with a status that a client understands.
func TestMalformedOverHTTP(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	modern := s.modern()
	modern.header.Set("Mcp-Method", "tools/call")
	modern.header.Set("Mcp-Name", "echo")
	for generation, v := range map[string]*visitor{"legacy": s.legacy("{}"), "modern": modern} {
		for name, body := range malformed() {
			t.Run(generation+", "+name, func(t *testing.T) {
				r := v.post(body)
				defer r.Body.Close()
				answer, err := io.ReadAll(r.Body)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case r.StatusCode == http.StatusAccepted && len(answer) == 0:
				case r.StatusCode != 200 && r.StatusCode != 400 && r.StatusCode != 404:
					t.Errorf("%s: %.200s", r.Status, answer)
				case strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream"):
					events := bytes.Split(bytes.TrimSpace(answer), []byte("\n\n"))
					_, data, _ := bytes.Cut(events[len(events)-1], []byte("data: "))
					checkReply(t, data)
				default:
					checkReply(t, answer)
				}
			})
		}
	}
}

// Ids that a reader might take for the same are not, and come back as they were.
func TestIDsAreKeptApart(t *testing.T) {
	b := newBench()
	ids := []string{`1`, `1.0`, `1e0`, `"1"`, `"1.0"`, `-1`, `10e-1`}
	c := dial(t, b.backend(), nil).greet()
	for i, id := range ids {
		c.call(id, "block", fmt.Sprintf(`{"tag":"%d"}`, i))
		<-b.started
	}
	c.cancelCall(`1`, "")
	<-b.causes
	for range ids[1:] {
		b.release <- struct{}{}
	}
	seen := map[string]bool{}
	for range ids[1:] {
		seen[string(c.recv().ID)] = true
	}
	for _, id := range ids {
		if seen[id] != (id != `1`) {
			t.Errorf("%s: answered %t", id, seen[id])
		}
	}
	c.hangUp()
}

// Two clients may have the same ids and progress tokens at the same time.
func TestClientsWithTheSameIDs(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	clients := []*visitor{s.legacy("{}"), s.legacy("{}"), s.modern(), s.modern()}
	answers := make([]*replies, len(clients))
	for i, v := range clients {
		meta := `"_meta":{"progressToken":"m"}`
		if i > 1 {
			meta = `"x":1` // message adds it
		}
		answers[i] = v.read(v.do(v.message(t.Context(), "7", "tools/call", callParams("progress", fmt.Sprintf(`{"n":%d}`, i+1), meta))))
	}
	for i, r := range answers {
		for n := range i + 1 {
			r.want(fmt.Sprintf(`: notifications/progress{"progress":%d,"progressToken":"m"}`, n+1))
		}
		if m, err := r.next(); err != nil || string(m.ID) != "7" || m.Result == nil {
			t.Errorf("client %d: %v, %v", i, m, err)
		}
		r.wantEnd()
	}
}
