package transport

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// The deprecated transport: all answers come on the stream, as over stdio.
func TestSSE(t *testing.T) {
	b := asking()
	s := serveHTTP(t, b.backend(), nil)
	open := func() (*replies, string) {
		v := &visitor{site: s, header: http.Header{}}
		r := v.request(t.Context(), http.MethodGet, "")
		r.URL.Path = SSEPath
		stream := v.read(v.do(r))
		event, _ := stream.lines.ReadString('\n')
		data, _ := stream.lines.ReadString('\n')
		if event != "event: endpoint\n" || !strings.HasPrefix(data, "data: /message?sessionId=sse-") {
			t.Fatalf("%q %q", event, data)
		}
		return stream, s.url + strings.TrimSpace(strings.TrimPrefix(data, "data: "))
	}
	post := func(url, body string) int {
		response, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	stream, url := open()
	other, _ := open()
	for _, body := range []string{strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1), `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		if status := post(url, body); status != http.StatusAccepted {
			t.Fatal(status)
		}
	}
	if m, err := stream.next(); err != nil || m.Result == nil {
		t.Fatal(m, err)
	}
	post(url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":2},"_meta":{"progressToken":"t"}}}`)
	stream.want(`: notifications/progress{"progress":1,"progressToken":"t"}`)
	stream.want(`: notifications/progress{"progress":2,"progressToken":"t"}`)
	stream.want(text("1", "done"))
	post(url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"method":"elicitation/create"}}}`)
	stream.want(`"ask-1": elicitation/create{"message":"?"}`)
	post(url, `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`)
	stream.want(text("2", `{"action":"decline"}`))
	b.AddTool(mcp.NewTool("new"), echo)
	stream.want(": notifications/tools/list_changed")
	if status := post(s.url+MessagePath+"?sessionId=none", pinging); status != http.StatusNotFound {
		t.Errorf("no such stream: %d", status)
	}
	post(url, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"block"}}`)
	<-b.started
	stream.body.Close() // the client leaves
	<-b.causes
	s.h.stop(errShutdown)
	other.wantEnd()
}
