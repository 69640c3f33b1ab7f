package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// All clients have one token.
const token = "a-token-of-the-chaos-test"

// An answer is the end of a call.
type answer struct {
	kind string // one of the constants below
	text string
}

const (
	done     = "a result"
	asked    = "a person is asked"
	unknown  = "the server says that it may have run"
	cut      = "the server was gone before its answer"
	refused  = "an error that says that it never ran" // after which it was sent again, to the other server
	notAgain = "another error"
)

// A client calls tools of both servers.
type client struct {
	urls  []string
	http  *http.Client
	until time.Time // after it, no call is sent again

	mu     sync.Mutex
	counts map[string]int // of answers, by their kind
	texts  map[string]int // of errors, without their numbers
}

// call calls a tool until it has an answer. It sends the call again, to the other server,
// only where it certainly has not run: the connection was refused, or the server says so.
func (c *client) call(ctx context.Context, server int, tool string, arguments map[string]string) answer {
	for ; ; server++ {
		a := c.once(ctx, c.urls[server%len(c.urls)], tool, arguments)
		c.mu.Lock()
		c.counts[a.kind]++
		if a.kind != done && a.kind != asked {
			c.texts[a.kind+": "+numbers.ReplaceAllString(a.text, "…")]++
		}
		c.mu.Unlock()
		if a.kind != refused || time.Now().After(c.until) || ctx.Err() != nil {
			return a
		}
		time.Sleep(300 * time.Millisecond)
	}
}

var numbers = regexp.MustCompile(`[0-9a-z-]*[0-9][0-9a-zA-Z.:-]*`)

func (c *client) once(ctx context.Context, url, tool string, arguments map[string]string) answer {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": arguments,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}})
	if err != nil {
		return answer{notAgain, err.Error()}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{notAgain, err.Error()}
	}
	r.GetBody = nil // the client library sends nothing again by itself
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(name, value)
	}
	response, err := c.http.Do(r)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return answer{refused, "the connection was refused"}
	}
	if err != nil {
		return answer{cut, err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{cut, err.Error()}
	}
	if i := bytes.LastIndex(text, []byte("data: ")); i >= 0 {
		text = text[i+len("data: "):]
	}
	return read(response.StatusCode, text)
}

// read returns the answer in the body of a response.
func read(status int, body []byte) answer {
	var message struct {
		Error  *struct{ Message string }
		Result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent struct {
				Error struct {
					Code      string
					Retryable bool
				}
			}
		}
	}
	if err := json.Unmarshal(body, &message); err != nil {
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			return answer{refused, string(body)}
		}
		return answer{cut, fmt.Sprintf("status %d: %.200s", status, body)} // the end of the stream
	}
	var text string
	for _, c := range message.Result.Content {
		text += c.Text
	}
	code := message.Result.StructuredContent.Error
	switch {
	case message.Error != nil:
		return answer{notAgain, message.Error.Message}
	case !message.Result.IsError:
		return answer{done, text}
	case code.Code == "APPROVAL_REQUIRED":
		return answer{asked, text}
	case strings.Contains(text, "may have run"), strings.Contains(text, "has run"):
		return answer{unknown, text}
	case code.Retryable:
		return answer{refused, text}
	}
	return answer{notAgain, text}
}
