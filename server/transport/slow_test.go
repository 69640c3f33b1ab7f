package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// patience is that of a transport without options.
const patience = 30 * time.Second

// raw opens a connection to a site.
func (s *site) raw() net.Conn {
	s.t.Helper()
	c, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// post is the head of a request with a body of so many bytes.
func posts(length int, more ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", Path, length, strings.Join(more, ""))
}

// A client that does not send what it has announced is let go, whatever its
// request was answered with: net/http waits without end for what is left.
func TestSlowWriters(t *testing.T) {
	for name, head := range map[string]string{
		"a message":      posts(100) + `{"jsonrpc"`,
		"another type":   strings.Replace(posts(100), "application/json", "text/plain", 1),
		"a method":       strings.Replace(posts(100), "POST", "PUT", 1),
		"no session":     strings.Replace(posts(100), "POST", "DELETE", 1),
		"chunked":        strings.Replace(posts(100), "Content-Length: 100", "Transfer-Encoding: chunked", 1) + "5\r\n{\"js",
		"100-continue":   posts(100, "Expect: 100-continue\r\n"),
		"no body at all": posts(1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := servePipes(t, newBench().backend(), nil).raw()
				began := time.Now()
				io.WriteString(c, head)
				if _, err := io.Copy(io.Discard, c); err != nil { // until the server closes it
					t.Error(err)
				}
				if took := time.Since(began); took > patience+time.Second {
					t.Errorf("it was let go after %s", took)
				}
			})
		})
	}
}

// A client that does not take its answer is let go, and keeps no place from
// others.
func TestSlowReaders(t *testing.T) {
	const long = 2 << 20 // more than the system takes for a client
	b := newBench()
	b.AddTool(mcp.NewTool("long"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", long)), nil
	})
	for name, body := range map[string]string{
		"one message": `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"long"}}`,
		"a stream":    `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"progress","arguments":{"n":100000},"_meta":{"progressToken":1}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 1
				if name == "a stream" { // which keeps its place, as long as the client has patience
					calls = 2
				}
				s := servePipes(t, b.backend(), &Options{bounds: bounds{calls: calls, keepAlive: time.Hour}}) // no comment waits for the client too
				answered := make(chan struct{}, 10)
				s.over = func() { answered <- struct{}{} }
				v := s.legacy("{}")
				<-answered
				<-answered
				c := s.raw()
				io.WriteString(c, posts(len(body), "Mcp-Session-Id: "+v.header.Get(SessionHeader)+"\r\n")+body)
				began := time.Now()
				lines := bufio.NewReaderSize(c, 16)
				if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
					t.Fatalf("%q, %v", line, err)
				}
				v.call("echo", `{"tag":"x"}`).want(text("1", "x")) // meanwhile
				<-answered
				if took := time.Since(began); took > 0 {
					t.Errorf("another client waited %s", took)
				}
				<-answered // the slow one's
				if took := time.Since(began); took != patience {
					t.Errorf("it was let go after %s", took)
				}
				if n, _ := io.Copy(io.Discard, lines); n > long {
					t.Errorf("it was given all %d bytes", n)
				}
			})
		})
	}
}
