package transport

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FuzzEnvelope compares the reader that finds ids in malformed messages with parse
// on valid ones, and with itself on messages in parts.
func FuzzEnvelope(f *testing.F) {
	for _, line := range malformed() {
		if len(line) < 4096 {
			f.Add([]byte(line), 7)
		}
	}
	f.Add([]byte(`{"method":"x","params":{"id":2,"a":"}\"{"},"jsonrpc":"2.0","id":"a\"b"}`), 3)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		whole, parts := envelopeOf(data), &envelope{}
		if size < 1 || size > len(data) {
			size = 1
		}
		for part := range slices.Chunk(data, size) {
			parts.feed(part)
		}
		if !bytes.Equal(whole.ID(), parts.ID()) || whole.isResponse() != parts.isResponse() {
			t.Fatalf("whole %s, in parts %s", whole.ID(), parts.ID())
		}
		m, f := parse(data)
		if f != nil || m.id == nil || bytes.Contains(data, []byte(`\`)) {
			return
		}
		if whole.isResponse() != (m.kind == response) || m.kind == request && !bytes.Equal(whole.ID(), m.id) {
			t.Fatalf("%s is %s, response %t", m.id, whole.ID(), whole.isResponse())
		}
	})
}

// A message that is too long or not valid is answered to who waits.
func TestUnreadableMessagesAreAnsweredByTheirID(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	c := dial(t, newBench().backend(), &StdioOptions{MaxLine: 2000}).greet()
	for _, test := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"tag":"` + long + `"}}}`, "1: error -32600: message longer than 2000 bytes"},
		{`{"method":"tools/call","params":{"name":"echo","arguments":{"id":9,"tag":"` + long + `\"}"}},"jsonrpc":"2.0","id":"last"}`, `"last": error -32600: message longer than 2000 bytes`},
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":"` + long + `","id":2}`, ": error -32600: message longer than 2000 bytes"},
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":"` + long, ": error -32600: message longer than 2000 bytes"},
		{`{"jsonrpc":"2.0","id":[1],"method":"a","params":"` + long + `"}`, ": error -32600: message longer than 2000 bytes"},
		{`{"jsonrpc":"2.0","id":"` + long + `","method":"a"}`, ": error -32600: message longer than 2000 bytes"},
		{`[{"jsonrpc":"2.0","id":1,"method":"a","params":"` + long + `"}]`, ": error -32600: message longer than 2000 bytes"},
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}", "7: error -32700: not valid UTF-8"},
	} {
		c.send(test.line)
		c.want(test.want)
	}
	c.hangUp()
}

// Nobody waits for an answer that could not be read.
func TestUnreadableAnswerEndsTheWait(t *testing.T) {
	c := dial(t, asking().backend(), &StdioOptions{MaxLine: 2000})
	c.send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	c.recv()
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"a":"` + strings.Repeat("x", 5000) + `"}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"action\":\"\xff\"}}",
	} {
		c.call("1", "ask", `{"method":"elicitation/create"}`)
		c.send(fmt.Sprintf(answer, c.recv().ID))
		if got := c.recv().String(); !strings.HasPrefix(got, `1: {"content":[{"type":"text","text":"the client answered with error -32`) {
			t.Error(got)
		}
	}
	c.hangUp()
}
