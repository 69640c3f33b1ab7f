package transport

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the events kept for legacy clients that lose a connection.
const (
	maxReplayed    = 64       // events of one stream; older ones go
	maxReplayBytes = 64 << 20 // events of all streams
	maxReplays     = 1024     // streams that have ended
	maxLost        = 64       // streams whose call runs while nobody is connected

	// primeAfter is the delay before a client gets an id to resume its call from.
	// Until then the answer may be plain JSON.
	primeAfter = 100 * time.Millisecond
)

// primed is the first revision whose clients take an event without data, which
// gives them an id before there is anything to say (SEP-1699).
const primed = "2025-11-25"

// replays are the resumable streams of a server's legacy clients.
type replays struct {
	keep time.Duration // for a client to resume a stream

	mu    sync.Mutex         // guards the fields below; taken under a replay's
	byID  map[string]*replay // by session and number
	last  int                // number of a stream
	bytes int                // of all events
	over  []*replay          // ended, oldest first: they are evicted first
}

// A replay is the stream that answers one POST. It outlives its connection: the client
// may resume it by GET, with the id of the last event that it got.
type replay struct {
	all  *replays
	id   string            // globally unique, as session and number are
	stop func(cause error) // ends the call
	ctx  context.Context   // of the session
	done chan struct{}     // closed when nothing more comes
	seen atomic.Bool       // the client has an id to resume from

	mu     sync.Mutex // guards the fields below; held while an event is written
	to     *responder // nil while nobody is connected
	number int        // of the last event
	events []replayed
	ended  bool
	away   *time.Timer // forgets the replay; nil while a client is connected

	bytes int // of events; guarded by all's mu, as are the following
	gone  bool
	lost  bool
}

type replayed struct {
	number int
	line   []byte
}

func newReplays(keep time.Duration) *replays {
	return &replays{keep: keep, byID: map[string]*replay{}}
}

// begin returns the stream of a request that a answers, in a session of context ctx.
// stop ends the call if the client does not resume it in time.
func (all *replays) begin(ctx context.Context, session string, a *responder, stop func(cause error)) *replay {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.last++
	p := &replay{all: all, id: session + " " + strconv.Itoa(all.last), stop: stop, ctx: ctx, done: make(chan struct{}), to: a}
	all.byID[p.id] = p
	return p
}

// find returns the stream of a session's event, and the event's number.
func (all *replays) find(session, event string) (p *replay, number int) {
	stream, n, _ := strings.Cut(event, "-")
	number, err := strconv.Atoi(n)
	if err != nil {
		return nil, 0
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.byID[session+" "+stream], number
}

// eventID returns the id of an event as the client gets it.
func (p *replay) eventID(number int) string {
	_, stream, _ := strings.Cut(p.id, " ")
	return stream + "-" + strconv.Itoa(number)
}

// prime sends the client an id to resume from.
func (p *replay) prime() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to != nil && !p.seen.Load() && !p.ended && p.to.event(p.eventID(0), nil) {
		p.seen.Store(true)
	}
}

// emit sends a message, now or when the client resumes the stream.
func (p *replay) emit(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(line)
}

func (p *replay) put(line []byte) {
	p.number++
	p.events = append(p.events, replayed{p.number, line})
	size := len(line)
	for len(p.events) > 0 && (len(p.events) > maxReplayed || !p.all.fits(p, size)) {
		size -= len(p.events[0].line)
		p.events = p.events[1:]
	}
	p.all.grow(p, size)
	if p.to != nil && p.to.event(p.eventID(p.number), line) {
		p.seen.Store(true)
	}
}

// finish sends the reply to the only request of the stream: as plain JSON if nothing
// precedes it.
func (p *replay) finish(reply []byte) {
	p.mu.Lock()
	if p.seen.Load() || p.to == nil {
		p.put(reply)
	} else {
		p.to.finish(http.StatusOK, reply)
	}
	p.mu.Unlock()
	p.end()
}

// end ends the stream. Its events stay for a client that did not get them.
func (p *replay) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	close(p.done)
	if p.to != nil {
		p.to.cancelled() // an empty stream where nothing was sent
		p.to = nil
	}
	if p.all.ended(p, p.seen.Load() && p.ctx.Err() == nil) {
		p.leave()
	}
}

// leave starts the time in which the client may resume. The caller holds mu.
func (p *replay) leave() {
	if p.away != nil {
		p.away.Reset(p.all.keep)
		return
	}
	p.away = time.AfterFunc(p.all.keep, p.expire)
}

func (p *replay) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended { // else its id may be that of another request by now
		p.stop(errGone)
	}
	p.all.forget(p)
}

// drop is called when the connection of a has ended. The call goes on, if the client can
// resume the stream.
func (p *replay) drop(a *responder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.end() // a connection still alive gets no more
	if p.to != a || p.ended {
		return
	}
	p.to = nil
	if !p.seen.Load() || !p.all.lose(p) {
		p.stop(errGone)
		return
	}
	p.leave()
}

// attach sends to a the events that the client has missed, and then new ones. It reports
// false if none is missing and none will follow.
func (p *replay) attach(a *responder, after int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended && after >= p.number {
		return false
	}
	if p.to != nil {
		p.to.end() // its client has abandoned it
	}
	if p.away != nil && !p.ended {
		p.away.Stop()
		p.away = nil
		p.all.regain(p)
	}
	a.open()
	for _, e := range p.events {
		if e.number > after {
			a.event(p.eventID(e.number), e.line)
		}
	}
	if p.to = a; p.ended {
		p.to = nil
		a.end()
	}
	return true
}

// fits reports whether there is room for size more bytes. It evicts ended streams, the
// oldest first, up to p itself.
func (all *replays) fits(p *replay, size int) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	for all.bytes+size > maxReplayBytes && len(all.over) > 0 && all.over[0] != p {
		all.remove(all.over[0])
	}
	return all.bytes+size <= maxReplayBytes
}

func (all *replays) grow(p *replay, size int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if !p.gone {
		p.bytes += size
		all.bytes += size
	}
}

// ended keeps a stream that has ended, if it can be resumed, and reports whether it can.
func (all *replays) ended(p *replay, resumable bool) (kept bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	p.lost = false
	if !resumable || p.gone {
		all.remove(p)
		return false
	}
	if len(all.over) >= maxReplays {
		all.remove(all.over[0])
	}
	all.over = append(all.over, p)
	return true
}

// lose marks a running stream whose client has disconnected. It reports false if there
// are too many.
func (all *replays) lose(p *replay) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	p.lost = !p.gone && all.lost() < maxLost
	return p.lost
}

// lost counts the streams whose client has disconnected. The caller holds mu.
func (all *replays) lost() (count int) {
	for _, p := range all.byID {
		if p.lost {
			count++
		}
	}
	return count
}

// regain marks a stream whose client is back.
func (all *replays) regain(p *replay) {
	all.mu.Lock()
	defer all.mu.Unlock()
	p.lost = false
}

func (all *replays) forget(p *replay) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.remove(p)
}

// remove removes a stream. The caller holds mu.
func (all *replays) remove(p *replay) {
	if !p.gone {
		p.gone = true
		all.bytes -= p.bytes
		delete(all.byID, p.id)
		all.over = slices.DeleteFunc(all.over, func(other *replay) bool { return other == p })
	}
}

// forgetSession removes the streams of a session that has ended.
func (all *replays) forgetSession(id string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, p := range all.byID {
		if strings.HasPrefix(p.id, id+" ") {
			all.remove(p)
		}
	}
}
