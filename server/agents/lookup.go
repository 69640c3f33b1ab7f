package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxListed = 100
	killTime  = 5 * time.Second // that a session has to end
)

// unknown returns the error for a session that does not exist for the caller.
func unknown(name string) error {
	return refuse(run.NotFound, "there is no session %q of yours; sessions_list names those there are", truncate.String(name, maxLabel))
}

// over returns the error for a session that has ended.
func over(one *Session) error {
	status := string(one.Status)
	if one.Status == Running {
		status = "ending"
	}
	return refuse(run.InvalidParam, "session %s is over (%s): its result is announced; spawn another", one.RunID, status)
}

// List returns the sessions that who sees, the newest first, at most 100, without their
// messages. A status of "" is any. An agent sees those below it. Those of clients that have
// left are listed for as long as sessions stay in memory: they are of other conversations.
func (s *Sessions) List(ctx context.Context, who identity.Principal, status Status) ([]*Session, error) {
	return s.list(ctx, func(l *live) bool { return l.isSeenBy(who) }, seenBy(who), status)
}

// seenBy returns the filter for the sessions of the store that who sees; nil for an agent,
// all of whose sessions are in memory.
func seenBy(who identity.Principal) *store.SubagentFilter {
	if len(who.Agents) > 0 {
		return nil
	}
	owner, root := string(who.Owner()), string(who.Key())
	return &store.SubagentFilter{Owner: &owner, Root: &root}
}

// All returns the sessions of an owner, or of everybody for nil, as List does.
func (s *Sessions) All(ctx context.Context, owner *identity.Key, status Status) ([]*Session, error) {
	return s.list(ctx, func(l *live) bool { return owner == nil || l.session.Owner == *owner }, &store.SubagentFilter{Owner: (*string)(owner)}, status)
}

// list returns the sessions in memory for which isSeen holds, and those of the store that a
// filter selects; nil selects none.
func (s *Sessions) list(ctx context.Context, isSeen func(*live) bool, f *store.SubagentFilter, status Status) (all []*Session, err error) {
	<-s.swept
	var rows []*store.Subagent
	if f != nil {
		f.Status, f.Limit, f.Since = string(status), maxListed, time.Now().Add(-s.options.Keep)
		if rows, err = s.table.List(ctx, *f); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.live {
		if isSeen(l) && (status == "" || l.session.Status == status) {
			all = append(all, l.copy())
		}
	}
	for _, row := range rows {
		if s.live[row.RunID] == nil {
			one := decode(row)
			one.Messages = nil
			all = append(all, one)
		}
	}
	newest := func(a, b *Session) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.RunID, b.RunID))
	}
	slices.SortFunc(all, func(a, b *Session) int { // those that run stay
		return cmp.Or(cmp.Compare(min(0, a.Ended.Unix()), min(0, b.Ended.Unix())), newest(a, b))
	})
	all = all[:min(len(all), maxListed)]
	slices.SortFunc(all, newest)
	return all, nil
}

// Find returns a session with the last of its messages, whoever owns it; nil if there is none.
func (s *Sessions) Find(ctx context.Context, runID string) (*Session, error) {
	s.mu.Lock()
	if l := s.live[runID]; l != nil {
		defer s.mu.Unlock()
		one := l.copy()
		one.Messages = brief(l.conversation)
		return one, nil
	}
	s.mu.Unlock()
	return s.stored(ctx, store.SubagentFilter{}, runID)
}

// stored returns a session of the store; nil if there is none.
func (s *Sessions) stored(ctx context.Context, f store.SubagentFilter, runID string) (*Session, error) {
	if f.RunID, f.Limit = runID, 1; !isRunID(runID) {
		return nil, nil
	}
	<-s.swept
	rows, err := s.table.List(ctx, f)
	if len(rows) == 0 {
		return nil, err
	}
	return decode(rows[0]), nil
}

// lookup returns a session that who sees, by run ID, or by label while it is in memory. One
// that is not has no live.
func (s *Sessions) lookup(ctx context.Context, who identity.Principal, name string) (l *live, one *Session, err error) {
	s.mu.Lock()
	for id, other := range s.live {
		if id != name && other.session.Label != name || !other.isSeenBy(who) {
			continue
		}
		if l != nil {
			err = refuse(run.InvalidParam, "several sessions have the label %q; name one by its run_id", name)
		}
		l, one = other, other.copy()
		one.Messages = brief(l.conversation)
	}
	s.mu.Unlock()
	if f := seenBy(who); l == nil && f != nil {
		one, err = s.stored(ctx, *f, name)
	}
	if one == nil && err == nil {
		err = unknown(name)
	}
	return l, one, err
}

// History returns the conversation of a session that who sees, named by run ID or label, as
// lines of "[role] text": the last 10,000 characters.
func (s *Sessions) History(ctx context.Context, who identity.Principal, name string) (string, error) {
	_, one, err := s.lookup(ctx, who, name)
	if err != nil {
		return "", err
	}
	if len(one.Messages) == 0 { // its server ended before it
		one.Messages = []chat.Message{{Role: chat.User, Text: one.Task}}
	}
	text := harmless(strings.TrimSuffix(transcript(one.Messages), "\n"))
	const mark = "(truncated) …"
	if over := utf8.RuneCountInString(text) - maxHistory; over > 0 {
		text = mark + string([]rune(text)[over+utf8.RuneCountInString(mark):])
	}
	return text, nil
}

// Kill ends a running session that who sees, with its descendants. It returns when they have
// ended, or after 5 s, and at once for a session of another process, which ends it within
// two seconds.
func (s *Sessions) Kill(ctx context.Context, who identity.Principal, name string) error {
	_, one, err := s.lookup(ctx, who, name)
	switch {
	case err != nil:
		return err
	case one.Status != Running:
		return over(one)
	}
	return s.Stop(ctx, one.RunID)
}

// Stop is Kill for a session of anybody. One that has ended stays as it is.
func (s *Sessions) Stop(ctx context.Context, runID string) error {
	s.mu.Lock()
	l := s.live[runID]
	s.mu.Unlock()
	if l == nil { // its process follows that
		return s.table.Stop(ctx, runID)
	}
	l.cancel(errKilled)
	ctx, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	select {
	case <-l.ended:
	case <-ctx.Done():
	}
	return nil
}

// Send gives a message to a running session, named by run ID or label, and waits for its
// reply: its next text without calls. With a wait of 0, and when it is over, the reply is "".
// The error of a session that ends without one leaves its announcement to the others.
func (s *Sessions) Send(ctx context.Context, who identity.Principal, name, message string, wait time.Duration) (reply string, err error) {
	if strings.TrimSpace(message) == "" {
		return "", refuse(run.InvalidParam, "the message is empty")
	}
	if len(message) > maxText || !utf8.ValidString(message) {
		return "", refuse(run.InvalidParam, "the message has to be a text of at most %d KB", maxText>>10)
	}
	l, one, err := s.lookup(ctx, who, name)
	switch {
	case err != nil:
		return "", err
	case one.Status != Running:
		return "", over(one)
	case l == nil:
		return "", refuse(run.Unavailable, "session %s runs in another process of this server", one.RunID)
	}
	answer := make(chan string, 1)
	if err := l.send(mail{text: message, reply: answer}); err != nil || wait <= 0 {
		return "", err
	}
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case reply = <-answer:
	case <-limit.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-l.ended:
		select {
		case reply = <-answer: // at the same time
		default:
			err = over(l.read())
		}
	}
	return harmless(reply), err
}

// send puts a message into the inbox of a session, if it takes more.
func (l *live) send(m mail) error {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	switch {
	case l.closing:
		return over(&l.session)
	case len(l.inbox) >= maxMails:
		return refuse(run.Busy, "%d messages wait for session %s already; try again when it has read them", len(l.inbox), l.session.RunID)
	}
	l.post(m)
	return nil
}

// Take has the announcements for the session of a client used, at most 20, the oldest first:
// none is taken twice. Those of sessions whose client has left are for the next one of the
// same owner. They count as delivered when Take returns without an error, so that use prepares
// their delivery; it may be called again.
func (s *Sessions) Take(ctx context.Context, who identity.Principal, use func([]Announcement)) error {
	if !s.Pending(who) {
		return nil
	}
	ids := s.pop(maxAnnouncements, who.Key(), orphaned(who.Owner()))
	err := s.tell(ctx, ids, use)
	if err != nil {
		s.announce(who.Key(), ids...)
	}
	return err
}

// Wait returns the announcement of a session that was spawned with [SpawnRequest.Awaited],
// when it has ended with all its descendants. It counts as delivered once received is called;
// if ctx is done before the end, it is one for [Sessions.Take].
func (s *Sessions) Wait(ctx context.Context, who identity.Principal, runID string) (a Announcement, received func(), err error) {
	s.mu.Lock()
	l := s.live[runID]
	if l == nil || !l.isSeenBy(who) || !l.awaited {
		s.mu.Unlock()
		return a, nil, unknown(runID)
	}
	l.waiting = true
	s.mu.Unlock()
	select {
	case <-l.ended:
		if err = context.Cause(s.ctx); err != nil {
			break // the task ends with the server: the next one announces it
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return announcement(&l.session), l.received, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.awaited = false; l.hasEnded() {
		l.deliver(l.parent)
	}
	return a, nil, err
}
