package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// A Client asks one model. Its methods may be called from many goroutines.
type Client struct {
	options Options
	http    http.Client
}

// New returns the client of a model.
func New(o Options) *Client {
	c := &Client{options: o, http: *http.DefaultClient}
	if o.HTTP != nil {
		c.http = *o.HTTP
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Complete returns the model's next message. A busy or broken endpoint is asked up to five
// times, until ctx is done.
func (c *Client) Complete(ctx context.Context, r Request) (*Reply, error) {
	path, encoded := "/chat/completions", openAIBody(c.options, r)
	if c.options.API == Anthropic {
		path, encoded = "/messages", anthropicBody(c.options, r)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // termtext looks at what is escaped
	if err := e.Encode(encoded); err != nil {
		return nil, fmt.Errorf("encode the request to a model: %w", err)
	}
	body := termtext.JSON(text.Bytes(), nil) // a model reads nothing that a person cannot see
	address := strings.TrimSuffix(c.options.URL, "/") + path
	for try := 1; ; try++ {
		reply, err := c.attempt(ctx, address, body, r.MaxTokens)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f, ok := errors.AsType[*failure](err); ok && f.again && try < maxTries {
			err = f.wait(ctx, try)
		}
		if err != nil {
			return nil, fmt.Errorf("the model %s: %w", c.options.Model, err)
		}
	}
}

// attempt makes one request. Neither the reply nor an error has the key: an endpoint may echo
// it, and the client does not know it.
func (c *Client) attempt(ctx context.Context, address string, body []byte, most int) (*Reply, error) {
	var key string
	if c.options.Key != nil {
		var err error
		if key, err = c.options.Key(ctx); err != nil {
			return nil, err
		}
		key = strings.TrimSpace(key)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its URL is none")
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if c.options.API == Anthropic {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	switch {
	case key == "":
	case c.options.API == Anthropic:
		r.Header.Set("X-Api-Key", key)
	default:
		r.Header.Set("Authorization", "Bearer "+key)
	}
	reply, err := c.do(r, most)
	mask := redact.New(map[string]string{key: "[key]"})
	if f, ok := errors.AsType[*failure](err); ok {
		f.text = termtext.Line(mask.String(f.text), maxShown)
	}
	if err != nil {
		return nil, err
	}
	reply.Text = mask.String(reply.Text)
	for i, call := range reply.Calls {
		reply.Calls[i].Args, reply.Calls[i].Broken = json.RawMessage(mask.String(string(call.Args))), mask.String(call.Broken)
	}
	return reply, nil
}

func (c *Client) do(r *http.Request, most int) (*Reply, error) {
	answer, err := c.http.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which may hold a key
	}
	if err != nil {
		return nil, &failure{text: "it does not answer: " + err.Error(), again: true}
	}
	defer answer.Body.Close()
	if err := refusal(answer); err != nil {
		return nil, err
	}
	d := &draft{most: most}
	if c.options.API == Anthropic {
		return d.read(answer.Body, d.anthropic)
	}
	return d.read(answer.Body, d.openAI)
}
