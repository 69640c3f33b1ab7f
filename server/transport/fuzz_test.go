package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// referenceLines says what lineReader must do, with no bound on memory.
func referenceLines(data []byte, max int) (lines []string) {
	for rest := data; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			after = nil
		}
		line, _ = bytes.CutSuffix(line, []byte("\r"))
		if len(line) > max {
			line = []byte("too long")
		}
		lines, rest = append(lines, string(line)), after
	}
	return lines
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\n", "a\r\nb\n\n", "\r", "\r\r\n", "12345678\n1\n", "1234567\r\n", "123456789", "a\rb\n"} {
		f.Add([]byte(s), 7)
	}
	f.Add([]byte("123456789abcde\r\nnext"), 14) // the line end is split
	f.Add(bytes.Repeat([]byte("123456789abcdef\n"), 9), 15)
	f.Fuzz(func(t *testing.T, data []byte, max int) {
		if max < 0 || max > 1000 {
			t.Skip()
		}
		want := referenceLines(data, max)
		lines := newLineReader(nil, max)
		lines.r = bufio.NewReaderSize(bytes.NewReader(data), 16) // lines of many parts
		for i := 0; ; i++ {
			line, err := lines.next()
			if err == io.EOF {
				if i != len(want) {
					t.Fatalf("%d lines, want %d", i, len(want))
				}
				return
			}
			if err == errLineTooLong {
				line = []byte("too long")
			}
			if i >= len(want) || string(line) != want[i] {
				t.Fatalf("line %d is %q, want %q", i, line, want)
			}
		}
	})
}

// FuzzParse holds parse against mcp-go: they must agree on what is answered,
// or a request would be answered twice or never.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		hello,
		`{"jsonrpc":"2.0","id":"a\u0062","method":"tools/call","params":{"name":"x","_meta":{"progressToken":9007199254740993}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`,
		`{"JSONRPC":"2.0","ID":1,"Method":"ping","id":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1e999,"method":"ping","params":[]}`,
		`{"jsonrpc":"2.0","method":"","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a_b":"_met","_META":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\u005fmeta":{}}}`,
		`[{}]`, `null`, `"`, `{}`, `7`,
	} {
		f.Add([]byte(s))
	}
	core := mcpserver.NewMCPServer("fuzz", "1")
	f.Fuzz(func(t *testing.T, line []byte) {
		m, rpcError := parse(line)
		if rpcError != nil {
			checkLine(t, rpcError.encode())
			return
		}
		if m.kind == response {
			return
		}
		key(m.id)
		m.cancellation()
		var params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		if json.Unmarshal(m.params, &params) == nil && params.Meta != nil && !mayHaveMeta(m.params) {
			t.Fatalf("_meta was not seen in %s", m.params)
		}
		if m.method == "subscriptions/listen" {
			return // blocks
		}
		answer := core.HandleMessage(t.Context(), m.raw)
		if m.kind == notification {
			return // mcp-go answers malformed ones, which is not for the client
		}
		if answer == nil {
			t.Fatal("a request that mcp-go does not answer")
		}
		encoded, err := encodeReply(m.id, answer)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkLine(t, encoded); !bytes.Equal(got, m.id) {
			t.Fatalf("id %s came back as %s", m.id, got)
		}
	})
}

// checkLine wants one JSON object on one line and returns its id.
func checkLine(t *testing.T, line []byte) json.RawMessage {
	t.Helper()
	var m struct{ ID json.RawMessage }
	if bytes.IndexByte(line, '\n') != len(line)-1 || json.Unmarshal(line, &m) != nil {
		t.Fatalf("not a message: %q", line)
	}
	return m.ID
}

// Whatever comes on standard input, each line of the output is a message that
// JSON-RPC allows, and the end of the input is the end.
func FuzzStdio(f *testing.F) {
	f.Add([]byte(hello + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	for _, line := range malformed() {
		if len(line) < 4096 {
			f.Add([]byte(line + "\n" + hello))
		}
	}
	b := newBench()
	b.DeleteTools("block")
	f.Fuzz(func(t *testing.T, input []byte) {
		var output bytes.Buffer
		if err := ServeStdio(t.Context(), b.backend(), bytes.NewReader(input), &output, &Options{bounds: bounds{message: 4096}}); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(output.Bytes()) {
			if bytes.IndexByte(line, '\n') < 0 {
				t.Errorf("half a line: %q", line)
			}
			if !bytes.Contains(line, []byte(`"method"`)) {
				checkReply(t, line)
			}
		}
	})
}
