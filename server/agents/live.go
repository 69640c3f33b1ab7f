package agents

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/work"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxResult = 64 << 10 // bytes of a result in the store
	maxMails  = 10       // messages that wait for a session, of 100 KB each
)

// The causes for which a session ends before its loop does.
var (
	errKilled  = errors.New("it was killed")
	errTimeout = errors.New("its time limit was reached")
	errServer  = errors.New("its server ended before it")
	errRevoked = errors.New("the token of its client was revoked")
	errParent  = errors.New("its parent ended before it")
)

// A registry has the sessions that run on a server, and that have ended lately.
type registry struct {
	board
	table  store.Subagents
	logger *slog.Logger
	// work runs the loop of a session. It must return when ctx is done.
	work func(ctx context.Context, l *live) (result string, err error)
	ctx  context.Context // done when the server ends

	mu     sync.Mutex
	closed bool             // under mu, as live
	live   map[string]*live // by run ID
}

// A live session runs in this process, or has ended lately.
type live struct {
	sessions   *registry
	parent     *live              // nil for a client's
	who        identity.Principal // its own
	workspaces []string
	agent      *Agent
	model      *Model
	ledger     *ledger
	counts     func(context.Context) (bool, error) // the credential of its client does; nil is that it does
	ctx        context.Context                     // done at its deadline, and when it is killed
	cancel     func(cause error)
	ended      chan struct{} // closed when it has ended, after all its descendants
	news       chan struct{} // of capacity 1: the inbox or the number of children has changed

	session      Session        // under registry.mu, as those below; its place in the tree stays; without messages
	conversation []chat.Message // the loop's, or what is left of it after the end
	left         bool           // its client has
	closing      bool           // it takes no messages, and spawns no sessions
	awaited      bool           // its announcement is for Wait, until it is received
	waiting      bool           // Wait was called
	running      int            // children
	followed     Used           // as the store has it
	inbox        []mail
	asked        []chan<- string // who waits for a reply to what the model has
}

// A mail is for the model of a session: a message, or the announcement of a child.
type mail struct {
	text  string
	reply chan<- string // of capacity 1; nil without one
	child *live
}

// depth returns the depth of a session; 0 of nil, a client.
func (l *live) depth() int {
	if l == nil {
		return 0
	}
	return l.session.Depth
}

// hasEnded reports whether the session has ended; mu is held, as for the methods below.
func (l *live) hasEnded() bool { return l.session.Status != Running }

// isSeenBy reports whether the session exists for who.
func (l *live) isSeenBy(who identity.Principal) bool {
	if len(who.Agents) > 0 {
		return slices.Contains(l.session.Ancestors, who.Session)
	}
	return l.session.Root == who.Key() || l.left && l.session.Owner == who.Owner()
}

// copy returns the session without messages.
func (l *live) copy() *Session {
	one := l.session
	one.Children = slices.Clone(one.Children)
	if !l.hasEnded() {
		one.Used = l.ledger.spent()
	}
	return &one
}

// post puts a mail into the inbox.
func (l *live) post(m mail) {
	l.inbox = append(l.inbox, m)
	l.poke()
}

// poke has next look again.
func (l *live) poke() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// withdraw tells the parent that the session does not run.
func (l *live) withdraw() {
	if l.parent != nil {
		l.parent.running--
		l.parent.poke()
	}
}

// read is copy for a caller that does not hold mu.
func (l *live) read() *Session {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	return l.copy()
}

// next is for the loop.
func (l *live) next(ctx context.Context, wait bool) (messages []string, open bool, err error) {
	for ctx.Err() == nil { // else nobody would hear of a child that ends together with its parent
		mails, open := l.receive(wait)
		var told []string
		for _, m := range mails {
			messages = append(messages, m.text)
			if m.child != nil {
				told = append(told, m.child.session.RunID)
			}
		}
		l.sessions.delivered(told)
		if len(mails) > 0 || !open || !wait {
			return messages, open, nil
		}
		select {
		case <-ctx.Done():
		case <-l.news:
		}
	}
	return nil, true, context.Cause(ctx)
}

// receive empties the inbox. A session without children closes an empty one at its last look.
func (l *live) receive(last bool) (mails []mail, open bool) {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	mails, l.inbox = l.inbox, nil
	for _, m := range mails {
		if m.reply != nil {
			l.asked = append(l.asked, m.reply)
		}
	}
	l.closing = l.closing || last && len(mails) == 0 && l.running == 0
	return mails, !l.closing
}

// record is for the loop.
func (l *live) record(conversation []chat.Message) {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	l.conversation = conversation
}

// replied is for the loop.
func (l *live) replied(text string) {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	for _, reply := range l.asked {
		reply <- text
	}
	l.asked = nil
}

// run runs the loop of a session, and ends it after all its descendants.
func (l *live) run() {
	s := l.sessions
	result, err := work.Guard(s.logger, func() (string, error) { return s.work(l.ctx, l) })
	cause := context.Cause(l.ctx) // before it is cancelled here
	l.cancel(errParent)
	s.mu.Lock()
	for l.closing = true; l.running > 0; s.mu.Lock() {
		s.mu.Unlock()
		<-l.news
	}
	end := *l.copy()
	end.Ended, end.Messages = time.Now(), brief(l.conversation)
	end.Status, end.Result = outcome(result, err, cause)
	row := rowOf(&end, l.left)
	s.mu.Unlock()
	if err := s.table.End(l.ctx, row); err != nil {
		s.logger.Warn("the end of a subagent is not stored", "run_id", end.RunID, "error", err)
	}
	s.delivered(l.end(end, cause))
}

// outcome returns the status and the result of a session whose loop has returned. One that
// has its result is done, even if it was killed meanwhile.
func outcome(result string, err, cause error) (Status, string) {
	status := Failed
	switch {
	case err == nil:
		return Done, truncate.String(result, maxResult)
	case errors.Is(cause, errKilled):
		status, err = Killed, cause
	case errors.Is(cause, errTimeout):
		status, err = TimedOut, cause
	case cause != nil:
		err = cause
	}
	text := sentence(err)
	if result != "" {
		text += " Its last words: " + result
	}
	return status, truncate.String(text, maxResult)
}

// sentence returns an error as one.
func sentence(err error) string {
	text := strings.TrimRight(err.Error(), ".")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// end makes the session one that has ended, and announces it. Of children that it has not
// heard of, those with a result are announced above it; it returns the run IDs of the
// others, which ended with it.
func (l *live) end(end Session, cause error) (silent []string) {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	for _, m := range l.inbox {
		switch {
		case m.child == nil:
		case m.child.session.Status == Done:
			m.child.deliver(l.parent)
		case !errors.Is(cause, errServer):
			silent = append(silent, m.child.session.RunID)
		}
	}
	l.session.Status, l.session.Result, l.session.Ended, l.session.Used = end.Status, end.Result, end.Ended, end.Used
	l.session.Task = truncate.String(end.Task, maxSummary)
	l.conversation, l.inbox, l.asked = brief(l.conversation), nil, nil
	l.withdraw()
	if !l.awaited {
		l.deliver(l.parent)
	}
	close(l.ended)
	return silent
}

// deliver gives the announcement of a session to the one above; nil is the client's. mu is
// held.
func (l *live) deliver(above *live) {
	switch {
	case above != nil:
		above.post(mail{text: announcement(&l.session).String(), child: l})
	case l.left:
		l.sessions.announce(orphaned(l.session.Owner), l.session.RunID)
	default:
		l.sessions.announce(l.session.Root, l.session.RunID)
	}
}

// received marks the announcement of an awaited session as delivered.
func (l *live) received() {
	l.sessions.mu.Lock()
	l.awaited = false
	l.sessions.mu.Unlock()
	l.sessions.delivered([]string{l.session.RunID})
}

// delivered marks the announcements of sessions as delivered.
func (r *registry) delivered(ids []string) {
	if err := r.tell(r.ctx, ids, func([]Announcement) {}); err != nil {
		r.logger.Warn("announcements of subagents may be repeated by the next server", "run_ids", ids, "error", err)
	}
}

// tell marks sessions as announced, and has the announcements of those used that were not;
// see [store.Subagents.Tell].
func (r *registry) tell(ctx context.Context, ids []string, use func([]Announcement)) error {
	if len(ids) == 0 {
		return nil
	}
	var once []string
	err := r.table.Tell(ctx, ids, func(rows []*store.Subagent) {
		all := make([]Announcement, len(rows))
		once = nil
		r.mu.Lock()
		for i, row := range rows {
			one := decode(row)
			if l := r.live[row.RunID]; l != nil { // its end may not have been stored
				one = l.copy()
			}
			if all[i] = announcement(one); row.Once {
				once = append(once, row.RunID)
			}
		}
		r.mu.Unlock()
		use(all)
	})
	if err != nil || len(once) == 0 { // others need mu
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range once {
		delete(r.live, id)
	}
	return nil
}

// rowOf returns the row of a session, with the beginning of its task.
func rowOf(one *Session, gone bool) *store.Subagent {
	stored := *one
	stored.Task = truncate.String(one.Task, maxSummary)
	body, _ := json.Marshal(stored) // it has no value that cannot be encoded
	return &store.Subagent{
		RunID: one.RunID, Root: string(one.Root), Owner: string(one.Owner), Status: string(one.Status), Gone: gone, Once: one.Cleanup == Delete,
		Created: one.Created, Ended: one.Ended, Body: body,
	}
}

// decode returns the session of a row. One whose server has ended before it has no other end.
func decode(row *store.Subagent) *Session {
	var one Session
	_ = json.Unmarshal(row.Body, &one) // the columns say the rest
	if one.RunID, one.Ended = row.RunID, row.Ended; one.Status == Running && row.Status != store.Running {
		one.Result = sentence(errServer)
	}
	if one.Status = Status(row.Status); one.Status == Running && row.Used != "" {
		_ = json.Unmarshal([]byte(row.Used), &one.Used)
	}
	return &one
}
