package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

const (
	maxSummary       = 4000 // characters
	maxAnnouncements = 20   // at once
)

// announcement returns the announcement of a session that has ended. Its texts hold nothing
// that could pass for another one.
func announcement(one *Session) Announcement {
	summary := one.Result
	if r := []rune(summary); len(r) > maxSummary {
		rest := fmt.Sprintf("… (%d more characters: GET /v1/subagents/%s has all)", len(r)-maxSummary, one.RunID)
		summary = string(r[:maxSummary-len([]rune(rest))]) + rest
	}
	return Announcement{RunID: one.RunID, Label: harmless(one.Label), Status: one.Status, Summary: harmless(summary)}
}

var (
	invisible = lazyregexp.New(`\p{Cf}+`)
	// begins matches the words that begin an announcement, however they are spaced.
	begins = lazyregexp.New(`(?i)\[([\s\pZ]*subagent[\s\pZ]+complete[\s\pZ]*)\]`)
)

// harmless returns a text without invisible characters, and without the words that begin an
// announcement.
func harmless(text string) string {
	return begins.ReplaceAllString(invisible.ReplaceAllString(text, ""), "($1)")
}

// deliver gives the announcement of a session to the session above; nil is the client's. mu
// is held.
func (l *live) deliver(above *live) {
	s, c := l.sessions, l.client
	switch {
	case above != nil:
		above.inbox = append(above.inbox, mail{text: announcement(&l.session).String(), child: l})
		above.poke()
		return
	case c.gone:
		s.orphans[c.owner] = append(s.orphans[c.owner], l.session.RunID)
	default:
		c.ready = append(c.ready, l.session.RunID)
	}
	s.announce(c)
}

// announce counts the announcements, and wakes who watches those of a client; mu is held.
func (s *Sessions) announce(c *client) {
	s.count()
	for _, other := range s.clients {
		if other == c || c.gone && other.owner == c.owner {
			for _, w := range other.watchers {
				select {
				case w <- struct{}{}:
				default:
				}
			}
		}
	}
}

// count counts the announcements for clients; mu is held.
func (s *Sessions) count() {
	n := 0
	for _, c := range s.clients {
		n += len(c.ready)
	}
	for _, ids := range s.orphans {
		n += len(ids)
	}
	s.ready.Store(int64(n))
}

// delivered marks the announcements of sessions as delivered, and removes those that are to
// be.
func (s *Sessions) delivered(all []*live) {
	if len(all) == 0 {
		return
	}
	ids := make([]string, len(all))
	for i, l := range all {
		ids[i] = l.session.RunID
	}
	if _, err := s.tell(s.ctx, ids); err != nil {
		s.options.Logger.Warn("announcements of subagents may be repeated by the next server", "runs", ids, "error", err)
	}
}

// tell marks sessions as announced, and returns the announcements of those that were not.
func (s *Sessions) tell(ctx context.Context, ids []string) ([]Announcement, error) {
	rows, err := s.table.Tell(ctx, ids)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Announcement
	for _, row := range rows {
		one := decode(row)
		if l := s.live[row.RunID]; l != nil { // its end may not have been stored
			one = l.copy()
		}
		if row.Once {
			delete(s.live, row.RunID)
		}
		all = append(all, announcement(one))
	}
	return all, nil
}

// Pending reports whether [Sessions.Take] may have announcements for the session of a client.
// It does no I/O.
func (s *Sessions) Pending(who identity.Principal) bool {
	if s.ready.Load() == 0 || len(who.Agents) > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[who.Key()]
	return c != nil && len(c.ready) > 0 || len(s.orphans[who.Owner()]) > 0
}

// Take returns the announcements for the session of a client, at most 20, the oldest first:
// none is returned twice. Those of sessions whose client has gone are for the next one of
// the same owner.
func (s *Sessions) Take(ctx context.Context, who identity.Principal) ([]Announcement, error) {
	if !s.Pending(who) {
		return nil, nil
	}
	s.mu.Lock()
	owner := who.Owner()
	var own []string
	c := s.clients[who.Key()]
	if c != nil {
		own, c.ready = first(c.ready, maxAnnouncements)
	}
	lost, rest := first(s.orphans[owner], maxAnnouncements-len(own))
	s.orphans[owner] = rest
	s.count()
	s.mu.Unlock()
	all, err := s.tell(ctx, slices.Concat(own, lost))
	if err == nil {
		return all, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c != nil && !c.gone {
		c.ready, own = append(own, c.ready...), nil
	}
	s.orphans[owner] = slices.Concat(own, lost, s.orphans[owner])
	s.count()
	return nil, err
}

// first returns the first n elements, and the rest.
func first[T any](all []T, n int) (head, rest []T) {
	n = min(n, len(all))
	return all[:n:n], all[n:]
}

// claim takes the announcement of a session that has ended from where it waits; nil if it
// waits nowhere.
func (s *Sessions) claim(ctx context.Context, l *live) (*Announcement, error) {
	if !s.withhold(l) {
		return nil, nil
	}
	all, err := s.tell(ctx, []string{l.session.RunID})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.deliver(l.parent)
		return nil, err
	}
	if len(all) == 0 {
		return nil, nil
	}
	return &all[0], nil
}

// withhold removes the announcement of a session from where it waits, and reports whether it
// did.
func (s *Sessions) withhold(l *live) (found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isIt := func(id string) bool {
		found = found || id == l.session.RunID
		return id == l.session.RunID
	}
	found, l.awaited = l.awaited, false
	l.client.ready = slices.DeleteFunc(l.client.ready, isIt)
	s.orphans[l.client.owner] = slices.DeleteFunc(s.orphans[l.client.owner], isIt)
	if l.parent != nil {
		l.parent.inbox = slices.DeleteFunc(l.parent.inbox, func(m mail) bool { return m.child != nil && isIt(m.child.session.RunID) })
	}
	s.count()
	return found
}

// Wait returns the announcement of a session that was spawned with [SpawnRequest.Awaited],
// when it has ended with all its descendants. It then counts as delivered; if ctx is done
// before, it is one for [Sessions.Take].
func (s *Sessions) Wait(ctx context.Context, who identity.Principal, runID string) (Announcement, error) {
	s.mu.Lock()
	l := s.live[runID]
	if l == nil || !l.isChildOf(who) || !l.awaited {
		s.mu.Unlock()
		return Announcement{}, unknown(runID)
	}
	s.mu.Unlock()
	select {
	case <-l.ended:
		a, err := s.claim(ctx, l)
		if a == nil && err == nil {
			err = refuse(run.NotFound, "the result of session %s was announced already", runID)
		}
		if err != nil {
			return Announcement{}, err
		}
		return *a, nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.awaited = false; l.session.Status != Running {
			l.deliver(l.parent)
		}
		return Announcement{}, context.Cause(ctx)
	}
}

// Watch returns a channel that holds a value after an announcement for the session of a
// client has become ready. The caller calls stop when it no longer reads.
func (s *Sessions) Watch(who identity.Principal) (ready <-chan struct{}, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := make(chan struct{}, 1)
	c := s.clientOf(who)
	c.watchers = append(c.watchers, w)
	if len(c.ready)+len(s.orphans[c.owner]) > 0 {
		w <- struct{}{}
	}
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.watchers = slices.DeleteFunc(c.watchers, func(other chan struct{}) bool { return other == w })
	}
}
