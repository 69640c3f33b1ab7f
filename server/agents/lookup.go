package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	maxListed = 100
	killTime  = 5 * time.Second // that a session has to end
)

// unknown returns the error for a session that does not exist for the caller.
func unknown(name string) error {
	return refuse(run.NotFound, "there is no session %q of yours; sessions_list names those there are", cut(name, maxLabel))
}

// decode returns the session of a row. A row whose server has ended before the session has
// its status alone.
func decode(row *store.Subagent) *Session {
	var one Session
	_ = json.Unmarshal(row.Body, &one) // the columns say the rest
	if one.RunID, one.Ended = row.RunID, row.Ended; one.Status == Running && row.Status != string(Running) {
		one.Result = sentence(errServer)
	}
	if one.Status = Status(row.Status); one.Status == Running && row.Used != "" {
		_ = json.Unmarshal([]byte(row.Used), &one.Used)
	}
	return &one
}

// copyOf returns a session without messages.
func (s *Sessions) copyOf(l *live) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.copy()
}

// stored returns the sessions of the store that a filter selects, without messages.
func (s *Sessions) stored(ctx context.Context, f store.SubagentFilter) ([]*Session, error) {
	select {
	case <-s.recovered:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	rows, err := s.table.List(ctx, f)
	all := make([]*Session, len(rows))
	for i, row := range rows {
		all[i] = decode(row)
	}
	return all, err
}

// ofClient returns a filter for the sessions of the store that a client sees.
func ofClient(who identity.Principal) store.SubagentFilter {
	owner, root := string(who.Owner()), string(who.Key())
	return store.SubagentFilter{Owner: &owner, Root: &root, AnyServer: who.Session == "", Limit: maxListed}
}

// List returns the sessions that who sees, the newest first, at most 100, without their
// messages. A status of "" is any. An agent sees those below it.
func (s *Sessions) List(ctx context.Context, who identity.Principal, status Status) ([]*Session, error) {
	isSeen := func(l *live) bool { return l.isSeenBy(who) }
	if len(who.Agents) > 0 {
		return s.list(ctx, isSeen, nil, status)
	}
	f := ofClient(who)
	return s.list(ctx, isSeen, &f, status)
}

// All returns the sessions of an owner, or of everybody for nil, as List does.
func (s *Sessions) All(ctx context.Context, owner *identity.Key, status Status) ([]*Session, error) {
	f := store.SubagentFilter{Limit: maxListed}
	if owner != nil {
		text := string(*owner)
		f.Owner = &text
	}
	return s.list(ctx, func(l *live) bool { return owner == nil || l.session.Owner == *owner }, &f, status)
}

// list returns the sessions in memory for which isSeen holds, and those of the store that a
// filter selects; nil selects none.
func (s *Sessions) list(ctx context.Context, isSeen func(*live) bool, f *store.SubagentFilter, status Status) ([]*Session, error) {
	switch status {
	case "", Running, Done, Failed, TimedOut, Killed:
	default:
		return nil, refuse(run.InvalidParam, "there is no status %q; use %s, %s, %s, %s or %s", cut(string(status), maxLabel), Running, Done, Failed, TimedOut, Killed)
	}
	var all []*Session
	s.mu.Lock()
	for _, l := range s.live {
		if isSeen(l) && (status == "" || l.session.Status == status) {
			all = append(all, l.copy())
		}
	}
	s.mu.Unlock()
	if f != nil {
		f.Status = string(status)
		stored, err := s.stored(ctx, *f)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		for _, one := range stored {
			if s.live[one.RunID] == nil {
				one.Messages = nil
				all = append(all, one)
			}
		}
		s.mu.Unlock()
	}
	newest := func(a, b *Session) int {
		if order := b.Created.Compare(a.Created); order != 0 {
			return order
		}
		return strings.Compare(a.RunID, b.RunID)
	}
	slices.SortFunc(all, newest)
	if len(all) > maxListed { // those that run stay
		ended := slices.DeleteFunc(slices.Clone(all), func(one *Session) bool { return one.Ended.IsZero() })
		all = append(slices.DeleteFunc(all, func(one *Session) bool { return !one.Ended.IsZero() }), ended...)[:maxListed]
		slices.SortFunc(all, newest)
	}
	return all, nil
}

// lookup returns a session that who sees, by run ID or label. One that is not in memory has
// no live.
func (s *Sessions) lookup(ctx context.Context, who identity.Principal, name string) (*live, *Session, error) {
	l, one, err := s.inMemory(who, name)
	if l != nil || err != nil || len(who.Agents) > 0 {
		return l, one, err
	}
	f := ofClient(who)
	f.Name = name
	stored, err := s.stored(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range stored { // the newest of a label
		return nil, one, nil
	}
	return nil, nil, unknown(name)
}

// inMemory is lookup for the sessions in memory. An agent sees no others.
func (s *Sessions) inMemory(who identity.Principal, name string) (*live, *Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*live
	for id, l := range s.live {
		if (id == name || l.session.Label == name) && l.isSeenBy(who) {
			found = append(found, l)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(found), func(l *live) bool { return !l.isChildOf(who) || l.session.Root != who.Key() && len(who.Agents) == 0 }); len(own) == 1 {
		found = own
	}
	switch {
	case len(found) == 1:
		one := found[0].copy()
		one.Messages = found[0].messages()
		return found[0], one, nil
	case len(found) > 1:
		return nil, nil, refuse(run.InvalidParam, "%d sessions have the label %q; name one by its run_id (sessions_list)", len(found), name)
	case len(who.Agents) > 0:
		return nil, nil, unknown(name)
	}
	return nil, nil, nil
}

// Find returns a session with its messages, whoever owns it; nil if there is none.
func (s *Sessions) Find(ctx context.Context, runID string) (*Session, error) {
	s.mu.Lock()
	if l := s.live[runID]; l != nil {
		defer s.mu.Unlock()
		one := l.copy()
		one.Messages = l.messages()
		return one, nil
	}
	s.mu.Unlock()
	stored, err := s.stored(ctx, store.SubagentFilter{Name: runID, Limit: maxListed})
	for _, one := range stored {
		if one.RunID == runID {
			return one, err
		}
	}
	return nil, err
}

// History returns the conversation of a session that who sees, named by run ID or label, as
// lines of "[role] text", of at most 10,000 characters: the last ones.
func (s *Sessions) History(ctx context.Context, who identity.Principal, name string) (string, error) {
	_, one, err := s.lookup(ctx, who, name)
	if err != nil {
		return "", err
	}
	var lines []string
	left := maxHistory - utf8.RuneCountInString(truncated) - 1
	for _, m := range slices.Backward(one.Messages) {
		text := line(m, maxMessage)
		if left -= utf8.RuneCountInString(text) + 1; left < 0 {
			lines = append(lines, truncated)
			break
		}
		lines = append(lines, text)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n"), nil
}

// Kill ends a running session that who sees, with its descendants. It returns when they have
// ended, or after 5 s, and at once for a session of another process, which ends it within
// two seconds.
func (s *Sessions) Kill(ctx context.Context, who identity.Principal, name string) error {
	l, one, err := s.lookup(ctx, who, name)
	switch {
	case err != nil:
		return err
	case one.Status != Running:
		return refuse(run.InvalidParam, "session %s is over already (%s)", one.RunID, one.Status)
	}
	return s.kill(ctx, l, one)
}

// Stop is Kill for a session of anybody. One that has ended stays as it is.
func (s *Sessions) Stop(ctx context.Context, runID string) error {
	one, err := s.Find(ctx, runID)
	switch {
	case err != nil:
		return err
	case one == nil:
		return unknown(runID)
	case one.Status != Running:
		return nil
	}
	s.mu.Lock()
	l := s.live[runID]
	s.mu.Unlock()
	return s.kill(ctx, l, one)
}

func (s *Sessions) kill(ctx context.Context, l *live, one *Session) error {
	if l == nil {
		return s.table.Stop(ctx, one.RunID) // of another process, which follows that
	}
	l.cancel(errKilled)
	limit := time.NewTimer(killTime)
	defer limit.Stop()
	select {
	case <-l.ended:
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

// Send gives a message to a running session, named by run ID or label, and waits for its
// reply: its next text without calls, or the announcement of its end, which then counts as
// delivered. With a wait of 0, and when it is over, the reply is "".
func (s *Sessions) Send(ctx context.Context, who identity.Principal, name, message string, wait time.Duration) (reply string, err error) {
	if strings.TrimSpace(message) == "" || len(message) > maxText || !utf8.ValidString(message) {
		return "", refuse(run.InvalidParam, "the message has to be a text of at most %d KB", maxText>>10)
	}
	l, one, err := s.lookup(ctx, who, name)
	if err != nil {
		return "", err
	}
	answer := make(chan string, 1)
	if err := s.post(l, one, mail{text: message, reply: answer}); err != nil || wait <= 0 {
		return "", err
	}
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case reply := <-answer:
		return reply, nil
	case <-l.ended:
	case <-limit.C:
		return "", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case reply := <-answer: // at the same time
		return reply, nil
	default:
	}
	return s.endOf(ctx, who, l)
}

// endOf returns the announcement of a session that has ended. For the session above it, it
// counts as delivered.
func (s *Sessions) endOf(ctx context.Context, who identity.Principal, l *live) (string, error) {
	s.mu.Lock()
	one, isAbove := l.copy(), l.isChildOf(who)
	s.mu.Unlock()
	if !isAbove {
		return announcement(one).String(), nil
	}
	a, err := s.claim(ctx, l)
	if a == nil && err == nil {
		err = over(one)
	}
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// over returns the error for a message to a session that has ended.
func over(one *Session) error {
	status := one.Status
	if status == Running {
		status = "ending"
	}
	return refuse(run.InvalidParam, "session %s is over (%s); spawn another", one.RunID, status)
}

// post puts a message into the inbox of a session.
func (s *Sessions) post(l *live, one *Session, m mail) error {
	if l == nil && one.Status == Running {
		return refuse(run.Unavailable, "session %s runs in another process of this server", one.RunID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l == nil || l.closing || l.session.Status != Running:
		return over(one)
	case len(l.inbox) >= maxMails:
		return refuse(run.Busy, "%d messages wait for session %s already", len(l.inbox), one.RunID)
	}
	l.inbox = append(l.inbox, m)
	l.poke()
	return nil
}
