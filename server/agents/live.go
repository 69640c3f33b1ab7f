package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

const (
	maxResult  = 64 << 10 // bytes of a result in the store
	maxMails   = 100      // messages that wait for a session
	maxMessage = 500      // characters of a message in a history
	maxHistory = 10_000   // characters of a history
	truncated  = "… (truncated)"
)

// The causes for which a session ends before its loop does.
var (
	errKilled  = errors.New("it was killed")
	errTimeout = errors.New("its time limit was reached")
	errServer  = errors.New("its server ended before it")
	errParent  = errors.New("its parent ended before it")
)

// A live session runs in this process, or has ended lately.
type live struct {
	sessions *Sessions
	parent   *live // nil for a client's
	client   *client
	who      identity.Principal // its own
	agent    *Agent
	model    *Model
	ledger   *ledger
	ctx      context.Context // done at its deadline, and when it is killed
	cancel   func(cause error)
	ended    chan struct{} // closed when it has ended, after all its descendants
	news     chan struct{} // of capacity 1: the inbox or the number of children has changed

	session      Session        // under Sessions.mu, as those below; without messages while it runs
	conversation []chat.Message // the loop's; nil after the end
	closing      bool           // it takes no messages, and spawns no sessions
	awaited      bool           // its announcement is for Wait
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

// top returns the session at the top of the tree.
func (l *live) top() *live {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// isSeenBy reports whether the session exists for who; mu is held.
func (l *live) isSeenBy(who identity.Principal) bool {
	if len(who.Agents) > 0 {
		return slices.Contains(l.session.Ancestors, who.Session)
	}
	return l.session.Root == who.Key() || l.client.gone && l.session.Owner == who.Owner()
}

// isChildOf reports whether who has spawned the session, and gets its announcement; mu is
// held.
func (l *live) isChildOf(who identity.Principal) bool {
	if len(who.Agents) > 0 {
		return l.session.ParentSession == who.Session
	}
	return l.parent == nil && l.isSeenBy(who)
}

// poke has next look again.
func (l *live) poke() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// start makes the session one of its parent's, and returns it.
func (l *live) start() *Session {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	if l.parent != nil {
		l.parent.session.Children = append(l.parent.session.Children, l.session.RunID)
	}
	return l.copy()
}

// copy returns the session without messages; mu is held.
func (l *live) copy() *Session {
	one := l.session
	one.Messages, one.Children = nil, slices.Clone(one.Children)
	if one.Status == Running {
		one.Used = l.ledger.spent()
	}
	return &one
}

// messages returns the conversation, each message cut; mu is held.
func (l *live) messages() []chat.Message {
	if l.conversation == nil {
		return l.session.Messages
	}
	return brief(l.conversation)
}

// brief returns the last messages of a conversation, each of which is cut, within the bounds
// of a history.
func brief(conversation []chat.Message) []chat.Message {
	var all []chat.Message
	left := maxHistory
	for _, m := range slices.Backward(conversation) {
		m.Text = cut(m.Text, maxMessage)
		calls := make([]chat.Call, len(m.Calls))
		for i, c := range m.Calls {
			calls[i] = chat.Call{ID: c.ID, Name: c.Name, Args: []byte("{}")}
			if len(c.Args) <= maxMessage {
				calls[i].Args = c.Args
			}
		}
		m.Calls = calls
		if left -= utf8.RuneCountInString(line(m, maxMessage)) + 1; left < 0 {
			break
		}
		all = append(all, m)
	}
	slices.Reverse(all)
	return all
}

// line returns a message as a line of a history, of about most characters. It has no second line that could pass for
// that of another message.
func line(m chat.Message, most int) string {
	text := m.Text
	for _, c := range m.Calls {
		text += fmt.Sprintf(" → %s(%s)", c.Name, c.Args)
	}
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' || c == '\u2028' || c == '\u2029' }), " ⏎ ")
	return fmt.Sprintf("[%s] %s", m.Role, cut(text, most))
}

// cut returns a text of at most n characters.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-utf8.RuneCountInString(truncated)]) + truncated
}

// cutBytes returns a text of at most n bytes and the mark of its end.
func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + truncated
}

// next is for the loop.
func (l *live) next(ctx context.Context, wait bool) (messages []string, open bool, err error) {
	for ctx.Err() == nil { // else nobody would hear of a child that ends together with its parent
		mails, open := l.receive(wait)
		if len(mails) > 0 || !open || !wait {
			return l.sessions.read(mails), open, nil
		}
		select {
		case <-ctx.Done():
		case <-l.news:
		}
	}
	return nil, true, context.Cause(ctx)
}

// receive empties the inbox. An empty one of a session without children is closed, at its
// last look.
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

// read returns the texts of mails, and marks their announcements as delivered.
func (s *Sessions) read(mails []mail) (texts []string) {
	var told []*live
	for _, m := range mails {
		texts = append(texts, m.text)
		if m.child != nil {
			told = append(told, m.child)
		}
	}
	s.delivered(told)
	return texts
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

// run runs the loop of a session, and ends it with all its descendants.
func (l *live) run() {
	s := l.sessions
	result, err := s.work(l.ctx, l)
	cause := context.Cause(l.ctx) // before it is cancelled here
	l.cancel(errParent)
	l.awaitChildren()
	s.mu.Lock()
	end := *l.copy()
	end.Ended, end.Messages, end.Used = time.Now(), brief(l.conversation), l.ledger.spent()
	end.Status, end.Result = outcome(result, err, cause)
	row := rowOf(&end, l.client.gone)
	s.mu.Unlock()
	if err := s.table.End(context.WithoutCancel(l.ctx), row); err != nil {
		s.options.Logger.Warn("the end of a subagent is not stored", "run", end.RunID, "error", err)
	}
	end.Task = cutBytes(end.Task, maxSummary) // the rest is in the store
	s.delivered(l.end(end, cause))
}

// awaitChildren returns when no child runs. The session takes no new ones.
func (l *live) awaitChildren() {
	for {
		l.sessions.mu.Lock()
		l.closing = true
		running := l.running
		l.sessions.mu.Unlock()
		if running == 0 {
			return
		}
		<-l.news
	}
}

// outcome returns the status and the result of a session whose loop has returned. A session
// that has its result is done, even if it was killed meanwhile.
func outcome(result string, err, cause error) (Status, string) {
	status := Failed
	switch {
	case err == nil:
		return Done, cutBytes(result, maxResult)
	case errors.Is(cause, errKilled):
		status, err = Killed, cause
	case errors.Is(cause, errTimeout), errors.Is(cause, context.DeadlineExceeded):
		status, err = TimedOut, errTimeout
	case cause != nil:
		err = cause
	}
	text := sentence(err)
	if result = strings.TrimSpace(result); result != "" {
		text += " Its last words: " + result
	}
	return status, cutBytes(text, maxResult)
}

// sentence returns an error as one.
func sentence(err error) string {
	text := strings.TrimRight(err.Error(), ".")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// end makes the session one that has ended, and announces it. It returns children that are
// not announced any more: the announcements of those that have a result go up to the next
// session, and the others ended with it.
func (l *live) end(end Session, cause error) (delivered []*live) {
	s := l.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	end.Children = l.session.Children
	l.session, l.conversation = end, nil
	for _, m := range l.inbox {
		switch {
		case m.child == nil:
		case m.child.session.Status == Done:
			m.child.deliver(l.parent)
		case !errors.Is(cause, errServer):
			delivered = append(delivered, m.child)
		}
	}
	l.inbox, l.asked = nil, nil
	l.withdraw()
	if !l.awaited {
		l.deliver(l.parent)
	}
	close(l.ended)
	return delivered
}

// withdraw makes place for another session; mu is held.
func (l *live) withdraw() {
	l.sessions.running--
	if l.parent == nil {
		l.client.running--
		return
	}
	l.parent.running--
	l.parent.poke()
}
