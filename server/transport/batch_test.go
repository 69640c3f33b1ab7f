package transport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func batchOf(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/x"},`, n), ",") + "]"
}

// mixed is a batch of messages of all kinds: with an answer, without one and invalid.
const mixed = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"tag":"x"}}},` +
	`{"jsonrpc":"2.0","id":3,"method":"initialize"},{"jsonrpc":"2.0","id":4,"Method":"ping"},7,{"jsonrpc":"2.0","id":"ask-7","result":{}}]`

var mixedReplies = []string{
	"1: {}",
	`2: {"content":[{"type":"text","text":"x"}]}`,
	"3: error -32600: this request cannot be in a batch: initialize",
	`4: error -32600: the member "Method" must be spelt "method"`,
	": error -32600: not a JSON-RPC message",
}

// Servers of 2025-03-26 must take batches, and those of other revisions must not.
func TestBatches(t *testing.T) {
	c := dial(t, newBench().backend(), nil)
	c.send(batchOf(1))
	c.want(": error -32600: batches are not supported: send one message a line")
	c.send(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	c.recv()
	replies := func() []string {
		t.Helper()
		line, err := c.lines.ReadBytes('\n')
		var all []reply
		if err != nil || json.Unmarshal(line, &all) != nil {
			t.Fatalf("%s %v", line, err)
		}
		var texts []string
		for _, r := range all {
			texts = append(texts, r.String())
		}
		slices.Sort(texts)
		return texts
	}
	c.send(mixed)
	if got := replies(); !slices.Equal(got, mixedReplies) {
		t.Errorf("%q", got)
	}
	c.send(batchOf(maxBatch)) // nothing is answered
	c.ping()
	for _, line := range []string{"[]", batchOf(maxBatch + 1)} {
		c.send(line)
		c.want(": error -32600: a batch has 1 to 100 messages")
	}
	c.send(`[{"jsonrpc":"2.0"`)
	c.want(": error -32700: not valid JSON: unexpected end of JSON input")
	c.hangUp()
}

// TestBatchWaits answers a batch when all its requests are answered or cancelled.
func TestBatchWaits(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), &StdioOptions{Calls: 1})
	c.send(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	c.recv()
	call := func(id int, tool string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id, callParams(tool, "{}"))
	}
	c.send("[" + call(1, "block") + "," + call(2, "block") + "," + call(3, "echo") + "," + call(1, "echo") + "]")
	<-b.started
	c.cancelCall("2", "") // which waits
	c.ping()
	b.release <- struct{}{}
	line, err := c.lines.ReadString('\n')
	want := `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is already in flight"}},` +
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"released"}]}},{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":""}]}}]` + "\n"
	if err != nil || line != want {
		t.Errorf("got %s, %v\nwant %s", line, err, want)
	}
	c.send("[" + call(1, "block") + "]")
	<-b.started
	c.cancelCall("1", "")
	<-b.causes
	c.ping() // no answer: there is nothing to say
	c.hangUp()
}

// Over HTTP the replies come on a stream.
func TestBatchesOverHTTP(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	latest := s.legacy("{}")
	response := latest.read(latest.post(mixed))
	response.want(": error -32600: batches are not supported: send one message a line")

	old := &visitor{site: s, header: latest.header.Clone()}
	first := old.post(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	first.Body.Close()
	old.header.Set(SessionHeader, first.Header.Get(SessionHeader))
	answer := old.read(old.post(mixed))
	if answer.kind != "text/event-stream" {
		t.Error(answer.kind)
	}
	var got []string
	for range mixedReplies {
		m, err := answer.next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.String())
	}
	answer.wantEnd()
	if slices.Sort(got); !slices.Equal(got, mixedReplies) {
		t.Errorf("%q", got)
	}
	if accepted := old.read(old.post(batchOf(3))); accepted.status != 202 {
		t.Errorf("status %d", accepted.status)
	}
}
