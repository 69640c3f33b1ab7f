package agents

import (
	"cmp"
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/identity"
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
		rest := fmt.Sprintf("… (%d more characters: see sessions_history %s)", len(r)-maxSummary, one.RunID)
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

// deliver gives the announcement of a session to the one above; nil is the client's. mu is
// held.
func (l *live) deliver(above *live) {
	switch {
	case above != nil:
		above.post(mail{text: announcement(&l.session).String(), child: l})
	case l.client.left:
		l.sessions.announce(orphaned(l.session.Owner), l.session.RunID)
	default:
		l.sessions.announce(l.session.Root, l.session.RunID)
	}
}

// orphaned returns the key of the announcements for any client of an owner. It is no client's:
// that of one without a session is its owner's.
func orphaned(owner identity.Key) identity.Key { return "any of " + owner }

// announce adds announcements for the client, or the owner, of a key, and wakes who watches
// for them; mu is held.
func (s *Sessions) announce(key identity.Key, runIDs ...string) {
	s.ready[key] = append(s.ready[key], runIDs...)
	n := 0
	for key, ids := range s.ready {
		if n += len(ids); len(ids) == 0 {
			delete(s.ready, key)
		}
	}
	s.pending.Store(int64(n))
	for w, who := range s.watchers {
		if len(runIDs) > 0 && (who.Key() == key || orphaned(who.Owner()) == key) {
			select {
			case w <- struct{}{}:
			default:
			}
		}
	}
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
	if s.pending.Load() == 0 || len(who.Agents) > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready[who.Key()])+len(s.ready[orphaned(who.Owner())]) > 0
}

// Take returns the announcements for the session of a client, at most 20, the oldest first:
// none is returned twice. Those of sessions whose client has left are for the next one of
// the same owner.
func (s *Sessions) Take(ctx context.Context, who identity.Principal) ([]Announcement, error) {
	if !s.Pending(who) {
		return nil, nil
	}
	var ids []string
	s.mu.Lock()
	for _, key := range []identity.Key{who.Key(), orphaned(who.Owner())} {
		n := min(len(s.ready[key]), maxAnnouncements-len(ids))
		ids = append(ids, s.ready[key][:n]...)
		s.ready[key] = s.ready[key][n:]
		s.announce(key)
	}
	s.mu.Unlock()
	all, err := s.tell(ctx, ids)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.announce(who.Key(), ids...)
	}
	return all, err
}

// Wait returns the announcement of a session that was spawned with [SpawnRequest.Awaited],
// when it has ended with all its descendants. It then counts as delivered; if ctx is done
// before, it is one for [Sessions.Take].
func (s *Sessions) Wait(ctx context.Context, who identity.Principal, runID string) (Announcement, error) {
	s.mu.Lock()
	l := s.live[runID]
	if l == nil || !l.isSeenBy(who) || !l.awaited {
		s.mu.Unlock()
		return Announcement{}, unknown(runID)
	}
	l.waiting = true
	s.mu.Unlock()
	var err error
	select {
	case <-l.ended:
		var all []Announcement
		if all, err = s.tell(ctx, []string{runID}); len(all) > 0 {
			return all[0], nil
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.awaited = false; l.hasEnded() {
		l.deliver(l.parent)
	}
	return Announcement{}, cmp.Or(err, over(&l.session))
}

// Watch returns a channel that holds a value after an announcement for the session of a
// client has become ready. The caller calls stop when it no longer reads.
func (s *Sessions) Watch(who identity.Principal) (ready <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	if s.Pending(who) {
		w <- struct{}{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[w] = who
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}
}
