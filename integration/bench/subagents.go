package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/modelserver"
)

// spawnRest is the rest before each request.
const spawnRest = 50 * time.Millisecond

// subagents is a run of the suite of that name.
type subagents struct {
	*bench
	spawns, sessions uint

	model    *httptest.Server
	mu       sync.Mutex
	hold     chan struct{}  // requests to the model wait for its end; nil: none waits
	arrivals chan time.Time // of requests to the model
}

func subagentSuite() suite {
	s := &subagents{}
	return suite{
		name: "subagents", quick: []string{"spawns=2", "sessions=3"},
		about: fmt.Sprintf(`subagents spawns sessions of an agent, whose model is a server of this process, at
http://127.0.0.1.

  p50 ms        from the request sessions_spawn, over standard input, to the arrival of
                the session's first request at the model; for bare, from the beginning of
                a request with a body of the same size. One at a time, in turns, each
                after a rest of %v
  over bare ms  the median of the differences
  MB            of the server's own memory (RSS) while --sessions sessions wait for the
                model, and before them
`, spawnRest),
		flags: func(f *flag.FlagSet) {
			f.UintVar(&s.spawns, "spawns", 300, "how many sessions are spawned, one at a time")
			f.UintVar(&s.sessions, "sessions", 200, "how many sessions run at once")
		},
		measure: func(ctx context.Context, b *bench) error {
			s.bench, s.arrivals = b, make(chan time.Time, 1000)
			servers, err := b.servers(ctx)
			s.model = httptest.NewServer(modelserver.New(s.reply))
			defer s.model.Close()
			for _, server := range servers {
				if err == nil {
					err = s.measure(ctx, server)
				}
			}
			return err
		},
	}
}

// reply is the model.
func (s *subagents) reply(ctx context.Context, _ *modelserver.Request) modelserver.Reply {
	s.arrivals <- time.Now()
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	return modelserver.Reply{Text: "done"}
}

func (s *subagents) measure(ctx context.Context, b binary) (err error) {
	home := filepath.Join(s.bench.dir, "home"+b.suffix)
	config := fmt.Sprintf(`agents:
  models: {m: {url: %q, api: openai, model: m}}
  max_children: 1000
  define: {worker: {description: Works, prompt: "You work."}}
sandbox: {driver: native}
`, s.model.URL+"/v1")
	if err := errors.Join(writeFile(filepath.Join(home, "config.yaml"), config), writeFile(filepath.Join(home, "work", "empty"), "")); err != nil {
		return err
	}
	server, err := b.serve(home, serveOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	if err := server.pipe.initialize(ctx); err != nil {
		return err
	}
	return errors.Join(s.first(ctx, server, b), s.memory(ctx, server, b))
}

// first measures the time to a session's first request.
func (s *subagents) first(ctx context.Context, server *process, b binary) error {
	var bare, spawned []time.Duration
	var over []float64
	for range s.spawns {
		one, err := s.arrival(ctx, func() error { return s.bare(ctx) })
		two, err2 := s.arrival(ctx, func() error { return s.spawn(ctx, server) })
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		bare, spawned, over = append(bare, one), append(spawned, two), append(over, milliseconds(two-one))
	}
	const name = "to the first request at the model"
	for i, times := range [][]time.Duration{bare, spawned} {
		o := s.result(name, []string{"bare", "spawn"}[i]+b.suffix)
		for _, p := range []int{50, 95, 99} {
			o.set(fmt.Sprintf("p%d ms", p), milliseconds(percentile(times, p)))
		}
	}
	s.result(name, "spawn"+b.suffix).set("over bare ms", percentile(over, 50))
	return nil
}

// arrival returns the time from the beginning of ask, after a rest, to the arrival at the model.
func (s *subagents) arrival(ctx context.Context, ask func() error) (time.Duration, error) {
	if err := pause(ctx, spawnRest); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := ask(); err != nil {
		return 0, err
	}
	select {
	case at := <-s.arrivals:
		return at.Sub(begun), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// bare makes a request as a session does.
func (s *subagents) bare(ctx context.Context) error {
	body := fmt.Sprintf(`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":%q},{"role":"user","content":"work"}]}`, strings.Repeat("word ", 1500))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.model.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

func (s *subagents) spawn(ctx context.Context, server *process) error {
	reply, err := server.pipe.ask(ctx, question{"tools/call", "sessions_spawn", `"arguments":{"agent_id":"worker","task":"work"}`})
	if err == nil && !bytes.Contains(reply, []byte("run_id")) {
		err = fmt.Errorf("sessions_spawn answers %.500s", reply)
	}
	return err
}

// memory measures the server's memory with many sessions at once.
func (s *subagents) memory(ctx context.Context, server *process, b binary) error {
	if err := pause(ctx, quiet); err != nil {
		return err
	}
	o := s.result("sessions at once", "skills-mcp"+b.suffix)
	o.set("MB before", server.rss())
	hold := make(chan struct{})
	s.mu.Lock()
	s.hold = hold
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.hold = nil
		s.mu.Unlock()
		close(hold)
	}()
	for range s.sessions {
		if err := s.spawn(ctx, server); err != nil {
			return err
		}
	}
	for range s.sessions {
		select {
		case <-s.arrivals:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	o.set("sessions", float64(s.sessions))
	o.set("MB", server.rss())
	o.set("most MB", server.peak())
	return nil
}
