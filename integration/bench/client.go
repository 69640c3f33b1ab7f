package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A question is a request without its id.
type question struct {
	method string
	name   string // of the tool or resource; "" for neither
	params string // the other params, as fields of JSON; may be ""
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// hello initializes a legacy client.
var hello = question{"initialize", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}`}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// line returns the request as one line, without its end.
func (q question) line(id int, modern bool) string {
	var fields []string
	if q.name != "" {
		key := "name"
		if q.method == "resources/read" {
			key = "uri"
		}
		fields = append(fields, fmt.Sprintf("%q:%q", key, q.name))
	}
	if q.params != "" {
		fields = append(fields, q.params)
	}
	if modern {
		fields = append(fields, modernMeta)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, q.method, strings.Join(fields, ","))
}

func (q question) String() string { return strings.TrimSpace(q.method + " " + q.name) }

// replyID returns the id of a reply, and false for a notification. It reads the
// first bytes only, so that the client's work adds little to the figures.
func replyID(line []byte) (id int, ok bool) {
	_, after, _ := bytes.Cut(line[:min(len(line), 100)], []byte(`"id":`))
	end := bytes.IndexAny(after, ",}")
	if end < 0 {
		return 0, false
	}
	id, err := strconv.Atoi(string(after[:end]))
	return id, err == nil
}

// checkReply returns an error unless the reply is a result with the id.
func checkReply(reply []byte, id int) error {
	got, ok := replyID(reply)
	if !ok || got != id || !bytes.Contains(reply[:min(len(reply), 100)], []byte(`"result":`)) {
		return fmt.Errorf("not the result of request %d: %.300s", id, reply)
	}
	return nil
}

// closeTimeout bounds how long the cleanup of a contender may take.
const closeTimeout = time.Minute

// A client makes requests of a server.
type client interface {
	// ask makes a request and returns the whole reply, which is a result. The id
	// differs from those of other requests under way.
	ask(ctx context.Context, q question) (reply []byte, err error)
	close()
}

// A pipe is a client over standard input and output. Requests may be under way
// at the same time.
type pipe struct {
	stdin    io.Writer
	stdout   *bufio.Reader
	modern   bool
	blocking bool          // ask reads, and read does not run
	confirms bool          // say yes, for the session, to questions; with blocking only
	kill     func()        // ends the server, and so a read that blocks
	done     chan struct{} // closed by read at the end of the server's output

	mu      sync.Mutex // also held while writing: lines stay whole
	last    int
	waiting map[int]chan []byte // by id; each gets one reply
}

// errGone is the error of requests to a server that has ended its output.
var errGone = errors.New("the server has ended")

// read passes replies to those who wait, and notifications to noticed, until the
// output ends.
func (p *pipe) read(noticed func([]byte)) {
	defer close(p.done)
	for {
		line, err := p.stdout.ReadBytes('\n')
		if err != nil {
			return
		}
		id, ok := replyID(line)
		if !ok {
			if noticed != nil {
				noticed(line)
			}
			continue
		}
		p.mu.Lock()
		waiting := p.waiting[id]
		delete(p.waiting, id)
		p.mu.Unlock()
		if waiting != nil {
			waiting <- line
		}
	}
}

// send writes a request. The channel gets its reply.
func (p *pipe) send(q question) (id int, reply <-chan []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	got := make(chan []byte, 1)
	p.waiting[p.last] = got
	_, err = io.WriteString(p.stdin, q.line(p.last, p.modern)+"\n")
	return p.last, got, err
}

func (p *pipe) ask(ctx context.Context, q question) ([]byte, error) {
	id, got, err := p.send(q)
	if err != nil {
		return nil, err
	}
	if p.blocking {
		return p.await(ctx, id)
	}
	select {
	case reply := <-got:
		return reply, checkReply(reply, id)
	case <-p.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// await reads until the reply to a request.
func (p *pipe) await(ctx context.Context, id int) ([]byte, error) {
	defer context.AfterFunc(ctx, p.kill)()
	for {
		line, err := p.stdout.ReadBytes('\n')
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), errGone)
		}
		if p.confirms && bytes.Contains(line, []byte(`"method":"elicitation/create"`)) {
			if err := p.confirm(line); err != nil {
				return nil, err
			}
			continue
		}
		if got, ok := replyID(line); ok && got == id {
			return line, checkReply(line, id)
		}
	}
}

// readTime is the time in which a person reads a question: a faster yes does not count.
const readTime = 1100 * time.Millisecond

// confirm says yes to a question of the server, for the session.
func (p *pipe) confirm(line []byte) error {
	var asked struct{ ID json.RawMessage }
	if err := json.Unmarshal(line, &asked); err != nil {
		return err
	}
	time.Sleep(readTime)
	_, err := fmt.Fprintf(p.stdin, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"this session"}}}`+"\n", asked.ID)
	return err
}

// initialize starts a legacy session. It does nothing for a modern client.
func (p *pipe) initialize(ctx context.Context) error {
	if p.modern {
		return nil
	}
	first := hello
	if p.confirms {
		first.params = strings.Replace(first.params, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)
	}
	if _, err := p.ask(ctx, first); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdin, initialized+"\n")
	return err
}

// close leaves the pipe to the process.
func (p *pipe) close() {}

// An httpClient is a client over one connection of Streamable HTTP.
type httpClient struct {
	client  *http.Client
	url     string
	token   func() string
	session string
	modern  bool
	last    atomic.Int64
}

func dial(ctx context.Context, url string, modern bool) (*httpClient, error) {
	return dialAs(ctx, url, modern, nil, func() string { return token })
}

// dialAs is dial with a bearer token, which is asked for before each request, and the
// certificates of TLS.
func dialAs(ctx context.Context, url string, modern bool, trusted *tls.Config, token func() string) (*httpClient, error) {
	c := &httpClient{url: url, modern: modern, token: token, client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, TLSClientConfig: trusted}}}
	if modern {
		return c, nil
	}
	if _, err := c.ask(ctx, hello); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	_, err := c.do(ctx, http.MethodPost, initialized, question{})
	return c, err
}

func (c *httpClient) ask(ctx context.Context, q question) ([]byte, error) {
	id := int(c.last.Add(1))
	reply, err := c.do(ctx, http.MethodPost, q.line(id, c.modern), q)
	if err != nil {
		return nil, err
	}
	return reply, checkReply(reply, id)
}

// token is the bearer token of skills-mcp over HTTP, which other servers ignore.
const token = "benchmarks-send-this-token"

// do makes an HTTP request and returns the message that answers it.
func (c *httpClient) do(ctx context.Context, method, body string, q question) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case c.modern:
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", q.method)
		if q.name != "" {
			r.Header.Set("Mcp-Name", q.name)
		}
	case c.session != "":
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s: %.300s", answer.Status, text)
	}
	if session := answer.Header.Get("Mcp-Session-Id"); session != "" {
		c.session = session
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		text = text[bytes.LastIndex(text, []byte("data: "))+len("data: "):] // the last event's
	}
	return text, err
}

// close ends the session and the connection.
func (c *httpClient) close() {
	if c.session != "" {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_, _ = c.do(ctx, http.MethodDelete, "", question{}) // best effort: the connection ends anyway
	}
	c.client.CloseIdleConnections()
}
