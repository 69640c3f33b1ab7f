package web

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/jobs"
)

const (
	maxStreams = 32 // of all browsers
	maxTopics  = 8  // of one stream
	// stampAge is the longest time for which all streams share the stamps of one query.
	stampAge = time.Second
	// eventGap is the shortest time between two events of a stream.
	eventGap = 250 * time.Millisecond
	// heartbeat is the longest silence of a stream: one whose client has left is noticed.
	heartbeat = 15 * time.Second
	// streamLife is the longest time of a stream: a browser asks for the next one, with its
	// session if that has not expired.
	streamLife = time.Hour
	// streamPatience is the time in which a client has to read an event.
	streamPatience = 30 * time.Second
)

// stamps change with the state of what screens show.
type stamps struct {
	api.Stamps
	sources int // the version of the operations
}

// streams send browsers the names of the topics that change. They query the store only
// while there is one, and at most once a second for all of them.
type streams struct {
	service *api.Service
	sources Sources
	logger  *slog.Logger
	slots   chan struct{}   // one for each stream
	life    context.Context // done after Close
	end     context.CancelFunc
	closing sync.Once

	mu     sync.Mutex // guards the fields below
	stamps stamps
	read   time.Time // of the stamps
}

func newStreams(service *api.Service, sources Sources, logger *slog.Logger) *streams {
	s := &streams{service: service, sources: sources, logger: logger, slots: make(chan struct{}, maxStreams)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends all streams and waits for them. Later ones are refused.
func (s *streams) Close() error {
	s.end()
	s.closing.Do(func() {
		for range cap(s.slots) {
			s.slots <- struct{}{}
		}
	})
	return nil
}

// topicsOf returns the topics of a list with commas.
func topicsOf(list string) ([]string, error) {
	topics := strings.Split(list, ",")
	if len(topics) > maxTopics {
		return nil, fmt.Errorf("at most %d topics are for one stream", maxTopics)
	}
	for _, topic := range topics {
		id, run := strings.CutPrefix(topic, "run/")
		if !run && topic != "skills" && topic != "approvals" && topic != "runs" && topic != "sources" || run && !isRunID(id) {
			return nil, errors.New(`topics are "skills", "approvals", "runs", "sources" and "run/ID", with commas`)
		}
	}
	return slices.Compact(topics), nil
}

// isRunID reports whether a text has the form of a run's ID.
func isRunID(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_'
	})
}

// serve answers GET /ui/events?topics=…: each event's data are the names of the topics that
// have changed. The first one comes at once if a topic has changed since the screen that
// has the stamp was made, or names a run.
func (s *streams) serve(w http.ResponseWriter, r *http.Request) {
	topics, err := topicsOf(r.URL.Query().Get("topics"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many screens are open; close some of them", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamLife)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	e := newStream(w)
	for _, topic := range topics {
		if id, run := strings.CutPrefix(topic, "run/"); run {
			if job, err := s.service.Job(ctx, id); err == nil {
				e.followed = append(e.followed, &followed{topic: topic, job: job})
			}
		}
	}
	now := s.current(ctx)
	if r.URL.Query().Get("stamp") != stampOf(now, topics...) {
		e.send(topics)
	}
	e.run(ctx, s, now, topics)
}

// A followed job is the topic of a stream.
type followed struct {
	topic string
	job   *jobs.Job
	last  int // event that was seen
	state jobs.State
}

// changed reports whether the job has changed since the last call.
func (f *followed) changed() bool {
	now := f.job.Snapshot(f.last)
	changed := len(now.Events) > 0 || now.State != f.state
	if n := len(now.Events); n > 0 {
		f.last = now.Events[n-1].Seq
	}
	f.state = now.State
	return changed
}

// current returns the stamps, which are a second old at most; the last ones if they cannot
// be read.
func (s *streams) current(ctx context.Context) stamps {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sources != nil {
		s.stamps.sources = s.sources.Operations().Version()
	}
	if s.service == nil || time.Since(s.read) < stampAge {
		return s.stamps
	}
	s.read = time.Now()
	now, err := s.service.Stamps(ctx)
	if err != nil {
		s.logger.Debug("the page does not know what has changed", "error", err)
		return s.stamps
	}
	s.stamps.Stamps = now
	return s.stamps
}

// stampOf returns a text that differs after a change of one of the topics; those of runs do
// not count, as their streams begin with an event.
func stampOf(s stamps, topics ...string) string {
	h := fnv.New64a()
	for _, topic := range topics {
		switch topic {
		case "skills":
			topic = s.Skills
		case "approvals":
			topic = s.Approvals
		case "runs":
			topic = s.Runs
		case "sources":
			topic = fmt.Sprint(s.sources)
		}
		fmt.Fprintf(h, "%q", topic)
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// A stream writes the events of one client.
type stream struct {
	w       io.Writer
	control *http.ResponseController
	wrote   time.Time
	err     error // of the last write

	followed []*followed
}

// newStream begins an answer that has no end.
func newStream(w http.ResponseWriter) *stream {
	e := &stream{w: w, control: http.NewResponseController(w)}
	_ = e.control.SetReadDeadline(time.Time{}) // where it can be set
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of proxies
	e.write("retry: 2000\n\n")
	return e
}

func (e *stream) write(text string) {
	_ = e.control.SetWriteDeadline(time.Now().Add(streamPatience)) // where it can be set
	if _, e.err = io.WriteString(e.w, text); e.err == nil {
		e.err = e.control.Flush()
	}
	e.wrote = time.Now()
}

func (e *stream) send(topics []string) { e.write("data: " + strings.Join(topics, " ") + "\n\n") }

// run sends events until ctx is done or the client has left. Any number of changes between
// two events are one.
func (e *stream) run(ctx context.Context, s *streams, before stamps, topics []string) {
	tick := time.NewTicker(eventGap)
	defer tick.Stop()
	for e.err == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.current(ctx)
		var names []string
		for _, f := range e.followed {
			if f.changed() {
				names = append(names, f.topic)
			}
		}
		for _, topic := range topics {
			if stampOf(now, topic) != stampOf(before, topic) {
				names = append(names, topic)
			}
		}
		before = now
		switch {
		case len(names) > 0:
			e.send(names)
		case time.Since(e.wrote) >= heartbeat:
			e.write(":\n\n")
		}
	}
}
