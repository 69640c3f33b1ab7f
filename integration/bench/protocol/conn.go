package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/transport"
)

// A question is a request without its id.
type question struct {
	method string
	name   string // in params, of what is called or read; may be ""
	params string // the rest of them, as fields of JSON; may be ""
}

func (q question) key() string {
	if q.method == "resources/read" {
		return "uri"
	}
	return "name"
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// line is the request as one line, without its end.
func (q question) line(id int, modern bool) string {
	var fields []string
	if q.name != "" {
		fields = append(fields, fmt.Sprintf("%q:%q", q.key(), q.name))
	}
	if q.params != "" {
		fields = append(fields, q.params)
	}
	if modern {
		fields = append(fields, modernMeta)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, q.method, strings.Join(fields, ","))
}

// A conn is a connection to a server. It does what is needed and no more, so that
// little of what is measured is its own.
type conn interface {
	// send sends a request.
	send(id int, q question) error
	// receive returns the next reply, until the next call.
	receive() ([]byte, error)
	close()
}

// hello initializes a legacy client.
var hello = question{"initialize", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}`}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// ask makes one request.
func ask(c conn, id int, q question) ([]byte, error) {
	if err := c.send(id, q); err != nil {
		return nil, err
	}
	reply, err := c.receive()
	if err != nil {
		return nil, err
	}
	got, err := check(reply)
	if err == nil && got != id {
		err = fmt.Errorf("the reply to %d came to %d", got, id)
	}
	return reply, err
}

// check returns the id of a reply, which must be a result.
func check(reply []byte) (id int, err error) {
	head := reply[:min(len(reply), 100)]
	_, after, _ := bytes.Cut(head, []byte(`"id":`))
	end := bytes.IndexByte(after, ',')
	if end < 0 || !bytes.Contains(after, []byte(`"result":`)) {
		return 0, fmt.Errorf("not a result: %.300s", reply)
	}
	return strconv.Atoi(string(after[:end]))
}

// A pipe is a connection by standard input and output.
type pipe struct {
	*process
	modern bool
}

func (p *pipe) hello() error {
	if p.modern {
		return nil
	}
	if _, err := ask(p, 0, hello); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdin, initialized+"\n")
	return err
}

func (p *pipe) send(id int, q question) error {
	_, err := io.WriteString(p.stdin, q.line(id, p.modern)+"\n")
	return err
}

func (p *pipe) receive() ([]byte, error) { return p.stdout.ReadSlice('\n') }

// close leaves the pipe to the process.
func (p *pipe) close() {}

// An httpConn is a connection of HTTP, kept alive.
type httpConn struct {
	net.Conn
	in     *bufio.Reader
	header string // of every request: the session or the version
	modern bool
	body   bytes.Buffer
}

func dial(address string, modern bool) (*httpConn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	h := &httpConn{Conn: c, in: bufio.NewReaderSize(c, 32<<10), modern: modern, header: "MCP-Protocol-Version: 2026-07-28\r\n"}
	if modern {
		return h, nil
	}
	h.header = ""
	r, err := h.post(hello.line(0, false), "")
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	h.header = "Mcp-Session-Id: " + r.Header.Get("Mcp-Session-Id") + "\r\n"
	_, err = h.post(initialized, "")
	return h, err
}

func (c *httpConn) post(body, more string) (*http.Response, error) {
	if err := c.write(http.MethodPost, body, more); err != nil {
		return nil, err
	}
	return c.read()
}

func (c *httpConn) write(method, body, more string) error {
	_, err := fmt.Fprintf(c.Conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n%s%s\r\n%s",
		method, transport.Path, len(body), c.header, more, body)
	return err
}

func (c *httpConn) send(id int, q question) error {
	more := ""
	if c.modern {
		more = "Mcp-Method: " + q.method + "\r\n"
		if q.name != "" {
			more += "Mcp-Name: " + q.name + "\r\n"
		}
	}
	return c.write(http.MethodPost, q.line(id, c.modern), more)
}

func (c *httpConn) receive() ([]byte, error) {
	r, err := c.read()
	if err != nil {
		return nil, err
	}
	body := c.body.Bytes()
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		body = body[bytes.LastIndex(body, []byte("\ndata: "))+len("\ndata: "):] // the last event's
	}
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %.300s", r.Status, body)
	}
	return body, nil
}

// read reads a response into body.
func (c *httpConn) read() (*http.Response, error) {
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(r.Body)
	return r, err
}

// close ends the session and the connection.
func (c *httpConn) close() {
	if !c.modern && c.write(http.MethodDelete, "", "") == nil {
		_, _ = c.read()
	}
	hangUp(c.Conn)
}
