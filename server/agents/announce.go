package agents

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/termtext"
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

// begins matches the words that begin an announcement, whatever is between them, also in JSON.
var begins = lazyregexp.New(strings.ReplaceAll(`(?i)\[(_subagent_complete_)\]`, "_", `(?:\\+[nrt]?|[^\pL\pN\[\]"\\])*`))

// harmless returns a text as clients get it, without the words that begin an announcement.
func harmless(text string) string {
	return begins.ReplaceAllString(termtext.Text(text), "($1)")
}

// Harmless returns JSON whose texts do not have the words that begin an announcement.
func Harmless(encoded []byte) []byte {
	if !begins.Match(encoded) { // else there would always be a copy
		return encoded
	}
	return begins.ReplaceAllFunc(encoded, func(words []byte) []byte {
		return slices.Concat([]byte("("), words[1:len(words)-1], []byte(")"))
	})
}

// orphaned returns the key of the announcements for any client of an owner. It is no client's:
// that of one without a session is its owner's.
func orphaned(owner identity.Key) identity.Key { return "any of " + owner }

// A board has the announcements that wait for clients, by the run IDs of their sessions.
type board struct {
	guard    sync.Mutex
	ready    map[identity.Key][]string // by client, or [orphaned]; under guard, as those below
	watchers map[chan struct{}]bool
}

// announce adds announcements that are not there, and wakes who watches.
func (b *board) announce(key identity.Key, runIDs ...string) {
	b.guard.Lock()
	defer b.guard.Unlock()
	for _, id := range runIDs {
		if !slices.Contains(b.ready[key], id) {
			b.ready[key] = append(b.ready[key], id)
		}
	}
	for w := range b.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// pop removes and returns at most n announcements.
func (b *board) pop(n int, keys ...identity.Key) (runIDs []string) {
	b.guard.Lock()
	defer b.guard.Unlock()
	for _, key := range keys {
		k := min(len(b.ready[key]), n-len(runIDs))
		runIDs = append(runIDs, b.ready[key][:k]...)
		if b.ready[key] = b.ready[key][k:]; len(b.ready[key]) == 0 {
			delete(b.ready, key)
		}
	}
	return runIDs
}

// has reports whether announcements wait.
func (b *board) has(keys ...identity.Key) bool {
	b.guard.Lock()
	defer b.guard.Unlock()
	return slices.ContainsFunc(keys, func(key identity.Key) bool { return len(b.ready[key]) > 0 })
}

// Pending reports whether [Sessions.Take] may have announcements for the session of a client.
// It does no I/O.
func (b *board) Pending(who identity.Principal) bool {
	return len(who.Agents) == 0 && b.has(who.Key(), orphaned(who.Owner()))
}

// Watch returns a channel that holds a value after announcements have become ready. The
// caller calls stop when it no longer reads.
func (b *board) Watch() (ready <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	b.guard.Lock()
	defer b.guard.Unlock()
	b.watchers[w] = true
	return w, func() {
		b.guard.Lock()
		defer b.guard.Unlock()
		delete(b.watchers, w)
	}
}
