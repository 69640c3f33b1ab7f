package transport

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// caller sends requests to a handler without a network, so that time is virtual.
type caller struct {
	t       *testing.T
	h       *HTTP
	session string
}

func newCaller(t *testing.T, h *HTTP, version string) *caller {
	c := &caller{t: t, h: h}
	_, w := c.send(t.Context(), "POST", strings.Replace(hello, "2025-11-25", version, 1), "")
	c.session = w.Header().Get(SessionHeader)
	return c
}

// send returns when the request is answered.
func (c *caller) send(ctx context.Context, method, body, lastEvent string) (string, *httptest.ResponseRecorder) {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{SessionHeader: c.session, "Last-Event-ID": lastEvent} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, r)
	return fmt.Sprintf("%d %s", w.Code, w.Body), w
}

// call begins a call whose connection hangUp ends; answered gets all that was sent
// on it.
func (c *caller) call(id, tool, arguments string, more ...string) (hangUp func(), answered chan string) {
	ctx, cancel := context.WithCancel(c.t.Context())
	answered = make(chan string, 1)
	go func() {
		text, _ := c.send(ctx, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`, id, callParams(tool, arguments, more...)), "")
		answered <- text
	}()
	synctest.Wait()
	return cancel, answered
}

func (c *caller) resume(event string) string {
	text, _ := c.send(c.t.Context(), "GET", "", event)
	return text
}

// resumable runs a test with a handler, in virtual time.
func resumable(t *testing.T, name, version string, test func(t *testing.T, b *bench, c *caller)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench()
			h := NewHTTP(b.backend(), nil)
			test(t, b, newCaller(t, h, version))
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			if h.legacy.replays.lost() != 0 {
				t.Errorf("%d are counted as lost", h.legacy.replays.lost())
			}
		})
	})
}

const (
	prime         = "id: 1-0\nretry: 1000\ndata: \n\n"
	releasedEvent = `data: {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"released"}]}}` + "\n\n"
)

// A call of a legacy client outlives its connection, for as long as the client may
// come back for it.
func TestCallsAreResumed(t *testing.T) {
	const latest = "2025-11-25"
	resumable(t, "its end is waiting", latest, func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "block", `{}`)
		time.Sleep(time.Second)
		hangUp()
		synctest.Wait()
		b.release <- struct{}{}
		if got := <-answered; got != "200 "+prime {
			t.Errorf("before: %q", got)
		}
		if got, want := c.resume("1-0"), "200 id: 1-1\nevent: message\n"+releasedEvent; got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if got := c.resume("1-1"); got != "204 " {
			t.Errorf("all was there: %q", got)
		}
		time.Sleep(50 * time.Second)
		_, answered = c.call("7", "block", `{}`) // the same id again
		defer func() { b.release <- struct{}{}; <-answered }()
		time.Sleep(9 * time.Second)
		if got := c.resume("1-1"); got != "204 " {
			t.Errorf("59 s later: %q", got)
		}
		if got := newCaller(t, c.h, latest).resume("1-0"); !strings.HasPrefix(got, "400 ") {
			t.Errorf("another session: %q", got)
		}
		time.Sleep(2 * time.Minute)
		if got := c.resume("1-0"); !strings.HasPrefix(got, `400 {"jsonrpc":"2.0","error":{"code":-32600`) {
			t.Errorf("later: %q", got)
		}
	})
	resumable(t, "its end is to come", latest, func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "block", `{}`, `"_meta":{"progressToken":1}`)
		time.Sleep(time.Second)
		hangUp()
		resumed := make(chan string, 1)
		go func() { resumed <- c.resume("1-0") }()
		time.Sleep(10 * time.Minute) // somebody waits: it is not ended
		b.release <- struct{}{}
		<-answered
		got := <-resumed
		if want := "id: 1-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""; !strings.Contains(got, want) || !strings.HasSuffix(got, "id: 1-2\nevent: message\n"+releasedEvent) {
			t.Errorf("%q", got)
		}
	})
	resumable(t, "nobody comes", latest, func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "block", `{}`)
		time.Sleep(time.Second)
		hangUp()
		began := time.Now()
		if cause := <-b.causes; cause != errGone || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", cause, time.Since(began))
		}
		<-answered
	})
	resumable(t, "nobody can come", latest, func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "block", `{}`)
		hangUp() // before it has an id
		if cause := <-b.causes; cause != errGone {
			t.Error(cause)
		}
		<-answered
	})
	resumable(t, "cancelled", latest, func(t *testing.T, b *bench, c *caller) {
		_, answered := c.call("7", "block", `{}`)
		time.Sleep(time.Second)
		c.send(t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "")
		<-b.causes
		if got := <-answered; got != "200 "+prime {
			t.Errorf("%q", got)
		}
		if got := c.resume("1-0"); got != "204 " {
			t.Errorf("%q", got)
		}
	})
	resumable(t, "its session ends", latest, func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "block", `{}`)
		time.Sleep(time.Second)
		hangUp()
		synctest.Wait()
		c.send(t.Context(), "DELETE", "", "")
		if cause := <-b.causes; cause != errEnded {
			t.Error(cause)
		}
		<-answered
		if len(c.h.legacy.replays.byID) != 0 || c.h.legacy.replays.bytes != 0 {
			t.Errorf("%d are kept, of %d bytes", len(c.h.legacy.replays.byID), c.h.legacy.replays.bytes)
		}
	})
	resumable(t, "clients that know no event without data", "2025-06-18", func(t *testing.T, b *bench, c *caller) {
		hangUp, answered := c.call("7", "progress", `{}`, `"_meta":{"progressToken":1}`)
		if got := <-answered; !strings.Contains(got, "id: 1-1\nevent: message\ndata: {") || strings.Contains(got, prime) {
			t.Errorf("%q", got)
		}
		hangUp()
		hangUp, answered = c.call("7", "block", `{}`)
		time.Sleep(time.Second)
		hangUp()
		<-b.causes // it has no id
		if got := <-answered; strings.Contains(got, "id:") {
			t.Errorf("%q", got)
		}
	})
	resumable(t, "what is quick is JSON", latest, func(t *testing.T, b *bench, c *caller) {
		if _, answered := c.call("7", "echo", `{}`); !strings.HasPrefix(<-answered, `200 {"jsonrpc"`) || len(c.h.legacy.replays.byID) != 0 {
			t.Errorf("%d are kept", len(c.h.legacy.replays.byID))
		}
	})
	resumable(t, "too many", latest, func(t *testing.T, b *bench, c *caller) {
		var all []chan string
		for i := range maxLost + 1 {
			hangUp, answered := c.call(fmt.Sprint(i), "block", `{}`)
			time.Sleep(2 * primeAfter)
			all = append(all, answered)
			hangUp()
			synctest.Wait()
			if ended := len(b.causes) > 0; ended != (i == maxLost) {
				t.Fatalf("%d: ended %t", i, ended)
			}
			<-b.started
		}
		c.h.Close()
		for _, answered := range all {
			<-answered
		}
	})
}

// TestReplaysAreBounded bounds the events kept for clients that may come back.
func TestReplaysAreBounded(t *testing.T) {
	all := newReplays(time.Hour)
	begin := func() *replay {
		p := all.begin(t.Context(), "s", newResponder(httptest.NewRecorder(), (&HTTPOptions{}).withDefaults()), func(error) {})
		t.Cleanup(func() {
			if p.away != nil {
				p.away.Stop()
			}
		})
		return p
	}
	p := begin()
	for range 10 * maxReplayed {
		p.emit([]byte("x"))
	}
	if len(p.events) != maxReplayed || p.bytes != maxReplayed || all.bytes != maxReplayed {
		t.Errorf("%d events, %d bytes of %d", len(p.events), p.bytes, all.bytes)
	}
	large := make([]byte, maxReplayBytes/4)
	for range 10 {
		q := begin()
		q.emit(large)
		q.end()
	}
	if len(all.over) != 3 || all.bytes != maxReplayed+3*len(large) {
		t.Errorf("%d streams, %d bytes", len(all.over), all.bytes)
	}
	p.emit(make([]byte, maxReplayBytes+1)) // has no place, and is sent all the same
	if len(p.events) != 0 || p.number != 10*maxReplayed+1 || all.bytes != 0 {
		t.Errorf("%d events, %d bytes", len(p.events), all.bytes)
	}
	p.end()
	for range maxReplays + 10 {
		q := begin()
		q.emit([]byte("x"))
		q.end()
	}
	if len(all.over) != maxReplays || len(all.byID) != maxReplays {
		t.Errorf("%d streams are kept", len(all.over))
	}
}

// It does over a network, where the server learns late that a client has gone.
func TestResumeOverANetwork(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), nil)
	v := s.legacy("{}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := v.read(v.do(v.message(ctx, "7", "tools/call", callParams("block", `{}`))))
	if line, err := first.lines.ReadString('\n'); line != "id: 1-0\n" {
		t.Fatalf("%q, %v", line, err)
	}
	<-b.started
	cancel()
	b.release <- struct{}{}
	r := v.request(t.Context(), "GET", "")
	r.Header.Set("Last-Event-ID", "1-0")
	again := v.read(v.do(r))
	again.want(text("7", "released"))
	again.wantEnd()
}
