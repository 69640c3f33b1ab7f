package web

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

const (
	maxPolls  = 32 // of all browsers, at once
	maxTopics = 8  // of one poll
	// stampAge is the longest time for which the polls of a reader share the stamps of one
	// query.
	stampAge = time.Second
	// pollGap is the interval of comparisons, and the shortest time of a poll.
	pollGap = 250 * time.Millisecond
	// pollLife is the longest time of a poll, within which the server lets a client wait for
	// an answer.
	pollLife = 20 * time.Second
)

// stamps change with the state of what screens show.
type stamps struct {
	api.Stamps
	sources int       // the version of the operations
	read    time.Time // the time of the query
}

// changes tell browsers that topics have changed. They query the store only while a browser
// polls, and at most once a second for each reader.
type changes struct {
	service *api.Service
	sources Sources
	logger  *slog.Logger
	slots   chan struct{}   // one for each poll
	life    context.Context // done after Close
	end     context.CancelFunc
	closing sync.Once

	mu    sync.Mutex // guards the fields below
	known map[reader]*stamps
}

// A reader is a principal with all that decides what it may see.
type reader struct {
	owner    identity.Key
	oversees bool
}

func newChanges(service *api.Service, sources Sources, logger *slog.Logger) *changes {
	s := &changes{service: service, sources: sources, logger: logger, slots: make(chan struct{}, maxPolls), known: map[reader]*stamps{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends all polls and waits for them. Later ones are refused.
func (s *changes) Close() error {
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
		return nil, fmt.Errorf("at most %d topics are for one poll", maxTopics)
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

// serve answers GET /ui/events?topics=…&stamp=… with the stamp of the topics, as soon as it is
// another one, or with no content after a while. A browser asks again with that stamp.
func (s *changes) serve(w http.ResponseWriter, r *http.Request) {
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
	ctx, cancel := context.WithTimeout(r.Context(), pollLife)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	tick := time.NewTicker(pollGap)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			w.WriteHeader(http.StatusNoContent)
			return
		case <-tick.C:
		}
		if now := s.stamp(ctx, topics); now != r.URL.Query().Get("stamp") {
			_, _ = io.WriteString(w, now)
			return
		}
	}
}

// stamp returns the stamp of topics, runs included.
func (s *changes) stamp(ctx context.Context, topics []string) string {
	now := stampOf(s.current(ctx), topics...)
	for _, topic := range topics {
		if id, run := strings.CutPrefix(topic, "run/"); run {
			if job, err := s.service.Job(ctx, id); err == nil {
				now += fmt.Sprintf(".%d", job.Last())
			}
		}
	}
	return now
}

// current returns the stamps, which are a second old at most; the last ones if they cannot
// be read.
func (s *changes) current(ctx context.Context) stamps {
	who := identity.FromContext(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	of := reader{who.Owner(), who.Oversees()}
	last := s.known[of]
	if last == nil {
		maps.DeleteFunc(s.known, func(_ reader, other *stamps) bool { return time.Since(other.read) > pollLife })
		last = &stamps{}
		s.known[of] = last
	}
	if s.sources != nil && isPerson(ctx) {
		last.sources = s.sources.Operations().Version()
	}
	if s.service == nil || time.Since(last.read) < stampAge {
		return *last
	}
	last.read = time.Now()
	now, err := s.service.Stamps(ctx)
	if err != nil {
		s.logger.Debug("the page does not know what has changed", "error", err)
		return *last
	}
	last.Stamps = now
	return *last
}

// stampOf returns a text that differs after a change of one of the topics; the
// events of runs do not count, so that the first poll of a run's screen brings it up to date.
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
