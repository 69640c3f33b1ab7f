package chat_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

const key = "sk-secret-1234567890"

// eachAPI runs a test with both APIs.
func eachAPI(t *testing.T, test func(t *testing.T, api chat.API)) {
	for _, api := range []chat.API{chat.OpenAI, chat.Anthropic} {
		t.Run(string(api), func(t *testing.T) { t.Parallel(); test(t, api) })
	}
}

// A handled transport has a handler respond, without a network: time is a test's then.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	aborted := func() (aborted bool) {
		defer func() { aborted = recover() != nil }()
		h.ServeHTTP(&leaving{w}, r)
		return false
	}()
	answer := w.Result()
	answer.Request = r
	switch {
	case aborted && w.Body.Len() == 0:
		return nil, io.ErrUnexpectedEOF
	case aborted:
		answer.Body = io.NopCloser(io.MultiReader(answer.Body, broken{}))
	}
	return answer, nil
}

// A leaving client takes 8 MiB of a response.
type leaving struct{ *httptest.ResponseRecorder }

func (l *leaving) Write(p []byte) (int, error) {
	if l.Body.Len() > 8<<20 {
		return 0, io.ErrClosedPipe
	}
	return l.ResponseRecorder.Write(p)
}

func (l *leaving) WriteString(s string) (int, error) { return l.Write([]byte(s)) }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// connect returns the client of a script.
func connect(t *testing.T, api chat.API, script modelserver.Script) (*chat.Client, *modelserver.Server) {
	t.Helper()
	s := modelserver.New(script)
	c := chat.New(chat.Options{
		URL: "http://model.test/v1", API: api, Model: "m1", HTTP: &http.Client{Transport: handled{s}},
		Key: func(context.Context) (string, error) { return key + "\n", nil },
	})
	return c, s
}

func user(text string) chat.Request {
	return chat.Request{System: "be brief", Messages: []chat.Message{{Role: chat.User, Text: text}}, MaxTokens: 100}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		c, s := connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
			if len(r.Results()) == 0 {
				return modelserver.Reply{Text: "I look – twice", Calls: []chat.Call{
					{ID: "a", Name: "read", Args: json.RawMessage(`{"path":"a–b"}`)}, {ID: "b", Name: "list"}, {Name: "read", Args: json.RawMessage(`{"path":`)},
				}, Usage: &chat.Usage{Input: 12, Output: 7}}
			}
			return modelserver.Reply{Text: "done", Cut: true}
		})
		r := user("go")
		r.Messages = append(r.Messages, chat.Message{Role: chat.User, Text: "on"})
		r.Tools = []chat.Definition{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "list", Schema: json.RawMessage(`{"type":"object"}`)}}
		first, err := c.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		want := &chat.Reply{Usage: chat.Usage{Input: 12, Output: 7}, Message: chat.Message{Role: chat.Assistant, Text: "I look – twice", Calls: []chat.Call{
			{ID: "a", Name: "read", Args: json.RawMessage(`{"path":"a–b"}`)}, {ID: "b", Name: "list", Args: json.RawMessage("{}")},
			{ID: "call_1_2", Name: "read", Args: json.RawMessage("{}"), Broken: `{"path":`},
		}}}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Error(diff)
		}
		r.Messages = append(r.Messages, first.Message, chat.Message{Role: chat.Tool, CallID: "a", Text: "A"}, chat.Message{Role: chat.Tool, CallID: "b", Failed: true, Text: "B"}, chat.Message{Role: chat.Tool, CallID: "call_1_2"})
		if second, err := c.Complete(t.Context(), r); err != nil || second.Text != "done" || !second.Cut || second.Usage != (chat.Usage{}) {
			t.Errorf("%+v, %v", second, err)
		}
		r.Messages = append(r.Messages, chat.Message{Role: chat.User, Text: "well?"}) // beside the results
		if _, err := c.Complete(t.Context(), r); err != nil {
			t.Error(err)
		}
		seen := s.Requests()[0]
		if seen.Key != key || seen.Model != "m1" || seen.System != "be brief" || seen.MaxTokens != 100 || strings.Join(seen.Tools, " ") != "read list" {
			t.Errorf("%+v", seen)
		}
		if n := len(s.Requests()[0].Messages); api == chat.Anthropic && n != 1 {
			t.Errorf("two messages of the user are %d", n)
		}
	})
}

// TestFaults: each fault of an endpoint is a reply after retries, or one error.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault modelserver.Fault
		again bool
		cause error
		text  string
	}{
		{modelserver.Busy, true, nil, "429 Too Many Requests: too many requests"},
		{modelserver.Overloaded, true, nil, "529"},
		{modelserver.Broken, true, nil, "500 Internal Server Error: internal error"},
		{modelserver.Cut, false, chat.ErrCut, "breaks off"},
		{modelserver.Drop, true, nil, "it does not answer: unexpected EOF"},
		{modelserver.InStream, true, nil, "overloaded"},
		{modelserver.HugeError, true, nil, "no no no"},
		{modelserver.Refused, false, nil, "400 Bad Request: not so"},
		{modelserver.WindowFull, false, chat.ErrWindowFull, "400"},
		{modelserver.Redirect, false, nil, "redirects to"},
		{modelserver.BrokenJSON, false, nil, "not understood"},
		{modelserver.NoStream, false, nil, "200 OK without a stream: {"},
		{modelserver.Huge, false, nil, "larger than 4 MiB"},
		{modelserver.HugeLine, false, nil, "larger than 4 MiB"},
	} {
		t.Run(string(test.fault), func(t *testing.T) {
			t.Parallel()
			eachAPI(t, func(t *testing.T, api chat.API) {
				synctest.Test(t, func(t *testing.T) {
					c, s := connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
						return modelserver.Reply{Fault: test.fault, Text: map[modelserver.Fault]string{modelserver.Refused: "not so, " + key, modelserver.Redirect: "http://other.test/v1"}[test.fault]}
					})
					began := time.Now()
					reply, err := c.Complete(t.Context(), user("go"))
					if err == nil || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), key) || len(err.Error()) > 360 || strings.Contains(err.Error(), "\n") {
						t.Errorf("%+v, %v", reply, err)
					}
					if test.cause != nil && !errors.Is(err, test.cause) || test.cause == nil && errors.Is(err, chat.ErrWindowFull) {
						t.Errorf("the cause of %v is not %v", err, test.cause)
					}
					want := map[bool]int{true: 5, false: 1}[test.again]
					if s.Count() != want {
						t.Errorf("%d attempts, want %d", s.Count(), want)
					}
					if took := time.Since(began); took > 20*time.Second || (took > 0) != test.again {
						t.Errorf("it took %s", took)
					}
					if !test.again {
						return
					}
					c, s = connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
						if r.N < 3 {
							return modelserver.Reply{Fault: test.fault}
						}
						return modelserver.Reply{Text: "at last"}
					})
					if reply, err := c.Complete(t.Context(), user("go")); err != nil || reply.Text != "at last" || s.Count() != 3 {
						t.Errorf("%+v, %v, %d attempts", reply, err, s.Count())
					}
				})
			})
		})
	}
}

// TestRetryAfter: a client waits as long as the endpoint asks, if that is within the deadline.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, wait := range map[string]time.Duration{
		"7": 7 * time.Second, "29": 29 * time.Second, "30": -1, "31": -1, "4294967296": 0, "soon": 0,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			eachAPI(t, func(t *testing.T, api chat.API) {
				synctest.Test(t, func(t *testing.T) {
					c, _ := connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
						if r.N == 1 {
							return modelserver.Reply{Fault: modelserver.Busy, RetryAfter: header}
						}
						return modelserver.Reply{Text: "ok"}
					})
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					began := time.Now()
					_, err := c.Complete(ctx, user("go"))
					took := time.Since(began)
					switch {
					case wait < 0 && (err == nil || took != 0 || !strings.Contains(err.Error(), header+"s")),
						wait > 0 && (err != nil || took != wait),
						wait == 0 && (err != nil || took == 0 || took > time.Second):
						t.Errorf("%v after %s", err, took)
					}
				})
			})
		})
	}
}

// TestEnd: nothing is asked again when the caller's time is over.
func TestEnd(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		synctest.Test(t, func(t *testing.T) {
			over := errors.New("the session was ended")
			ctx, cancel := context.WithCancelCause(t.Context())
			c, s := connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
				return modelserver.Reply{Fault: modelserver.Busy, RetryAfter: "60"}
			})
			time.AfterFunc(90*time.Second, func() { cancel(over) })
			began := time.Now()
			if _, err := c.Complete(ctx, user("go")); !errors.Is(err, over) || time.Since(began) != 90*time.Second || s.Count() != 2 {
				t.Errorf("%v after %s and %d attempts", err, time.Since(began), s.Count())
			}
		})
	})
}

// TestNetwork has what a handler alone cannot show: a hang, a refused connection, and that an
// endpoint cannot make a client read more.
func TestNetwork(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		var hung atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		s := modelserver.Start(t, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
			if r.Last() == "hang" {
				hung.Add(1)
				cancel()
			}
			return modelserver.Reply{Fault: modelserver.Fault(r.Last())}
		})
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		c := chat.New(chat.Options{URL: s.URL, API: api, Model: "m1", HTTP: &http.Client{Transport: transport}})
		if _, err := c.Complete(ctx, user("hang")); !errors.Is(err, context.Canceled) || hung.Load() != 1 {
			t.Errorf("%v after %d attempts", err, hung.Load())
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Complete(t.Context(), user("huge")); err == nil || !strings.Contains(err.Error(), "4 MiB") {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		t.Logf("%d KiB sent, %d KiB allocated by both sides", s.Sent()>>10, (after.TotalAlloc-before.TotalAlloc)>>10)
		if s.Sent() > 40<<20 {
			t.Errorf("%d bytes were sent", s.Sent())
		}
	})
	refused := httptest.NewServer(nil)
	refused.Close()
	synctest.Test(t, func(t *testing.T) { // a connection takes no time of the deadline
		c := chat.New(chat.Options{URL: refused.URL + "/v1/", Model: "m1", HTTP: &http.Client{Transport: &http.Transport{}}})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // the first delay is at least 500 ms
		defer cancel()
		if _, err := c.Complete(ctx, user("go")); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Error(err)
		}
	})
}

// TestEchoedKey: a reply has no key, in whatever spelling its endpoint echoes it.
func TestEchoedKey(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		c, _ := connect(t, api, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
			encoded := base64.StdEncoding.EncodeToString([]byte(r.Key))
			return modelserver.Reply{Text: r.Key + " " + encoded, Calls: []chat.Call{{ID: "a", Name: "read", Args: json.RawMessage(`{"path":"` + r.Key + `"}`)}, {ID: "b", Name: "read", Args: json.RawMessage(r.Key)}}}
		})
		reply, err := c.Complete(t.Context(), user("go"))
		if got := fmt.Sprintf("%+v", reply); err != nil || strings.Contains(got, key[3:]) || !strings.HasPrefix(reply.Text, "[key] [key]") || string(reply.Calls[0].Args) != `{"path":"[key]"}` || reply.Calls[1].Broken != "[key]" {
			t.Errorf("%s, %v", got, err)
		}
	})
}

// TestKey: a key that cannot be had is the caller's error, at once.
func TestKey(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		failed := errors.New("there is no secret KEY")
		c := chat.New(chat.Options{URL: "https://a.test/v1/", API: api, Model: "m", Key: func(context.Context) (string, error) { return "", failed }})
		if _, err := c.Complete(t.Context(), user("go")); !errors.Is(err, failed) {
			t.Error(err)
		}
	})
}

// TestHidden: an endpoint gets nothing that a person cannot see, wherever it is.
func TestHidden(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		const text = "se\U000e0041\u200ben \u202e\x1b[8m<naïve> \u2764\ufe0f" // tags, a space without width, another direction, an escape sequence
		var got []byte
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			var err error
			got, err = io.ReadAll(r.Body)
			return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, err
		})
		c := chat.New(chat.Options{URL: "https://a.test/v1", API: api, Model: "m", HTTP: &http.Client{Transport: transport}})
		schema, err := json.Marshal(map[string]any{"type": "object", "description": text})
		if err != nil {
			t.Fatal(err)
		}
		r := chat.Request{System: text, MaxTokens: 100, Tools: []chat.Definition{{Name: "a", Description: text, Schema: schema}}, Messages: []chat.Message{
			{Role: chat.User, Text: text}, {Role: chat.Assistant, Text: text, Calls: []chat.Call{{ID: "1", Name: "a", Args: json.RawMessage("{}")}}}, {Role: chat.Tool, CallID: "1", Text: text}}}
		if _, err := c.Complete(t.Context(), r); err == nil {
			t.Error("no error of the endpoint")
		}
		if n := strings.Count(string(got), "seen <naïve> \u2764\ufe0f\""); n != 6 || !json.Valid(got) {
			t.Errorf("%d of 6 texts are visible: %s", n, got)
		}
	})
}

// TestEndpoints: the number of tokens has another name at OpenAI's own endpoint.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.openai.com/v1":  `https://api.openai.com/v1/chat/completions "max_completion_tokens":100`,
		"http://127.0.0.1:11434/v1/": `http://127.0.0.1:11434/v1/chat/completions "max_tokens":100`,
	} {
		var got string
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			text, err := io.ReadAll(r.Body)
			_, field, _ := strings.Cut(string(text), `"max_`)
			got = fmt.Sprintf(`%s "max_%s`, r.URL, strings.TrimRight(strings.Split(field, ",")[0], "}"))
			return &http.Response{StatusCode: http.StatusNotFound, Status: "404 Not Found", Body: io.NopCloser(strings.NewReader("nothing\n\x1b[2Jhere"))}, err
		})
		c := chat.New(chat.Options{URL: address, API: chat.OpenAI, Model: "m", HTTP: &http.Client{Transport: transport}})
		if _, err := c.Complete(t.Context(), user("go")); err == nil || !strings.HasSuffix(err.Error(), "404 Not Found (are its url and model right?): nothing here") || got != want {
			t.Errorf("%s\n%v", got, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
