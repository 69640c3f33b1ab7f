package jobs

import (
	"fmt"
	"time"
	"unicode/utf8"
)

const (
	// maxEvents and maxBytes bound the events of one job; the oldest are dropped.
	maxEvents = 512
	maxBytes  = 256 << 10
	// maxText bounds the text of one event, in bytes.
	maxText = 8 << 10
)

// A log has the newest events of a job.
type log struct {
	events []Event // of consecutive numbers
	last   int     // the number of the newest event
	seen   int     // the newest number that a reader has got: that event stays as it is
	bytes  int     // of texts and messages
}

// add adds an event.
func (l *log) add(e Event) {
	l.last++
	e.Seq, e.At = l.last, time.Now()
	l.events = append(l.events, e)
	l.bytes += e.size()
	l.trim()
}

// addOutput adds text of a stream: to the newest event but for a count, if that is of the
// same stream, has room, and no reader has got it.
func (l *log) addOutput(kind, text string) {
	for text != "" {
		n := len(l.events)
		if n > 0 && l.events[n-1].Count != nil {
			n--
		}
		join := n > 0 && l.events[n-1].Kind == kind && l.events[n-1].Seq > l.seen && len(l.events[n-1].Text) < maxText/2
		part := cutText(text, maxText/2)
		text = text[len(part):]
		if !join {
			l.add(Event{Kind: kind, Text: part})
			continue
		}
		l.events[n-1].Text += part
		l.bytes += len(part)
		l.trim()
	}
}

// addCount adds progress, or replaces progress that no reader has got: a script that counts
// fast drops no output.
func (l *log) addCount(text string, count Count) {
	for i := len(l.events) - 1; i >= 0 && l.events[i].Seq > l.seen; i-- {
		if e := &l.events[i]; e.Count != nil {
			l.bytes += len(text) - len(e.Text)
			e.Text, e.Count = text, &count
			l.trim()
			return
		}
	}
	l.add(Event{Kind: Progress, Text: text, Count: &count})
}

// trim drops the oldest events beyond the bounds.
func (l *log) trim() {
	drop := 0
	for len(l.events)-drop > maxEvents || l.bytes > maxBytes {
		l.bytes -= l.events[drop].size()
		drop++
	}
	clear(l.events[:drop])
	l.events = l.events[drop:]
}

// after returns the events after one of a number. One of the kind Dropped stands for those
// that are not kept.
func (l *log) after(seq int) []Event {
	seq = min(max(seq, 0), l.last)
	l.seen = l.last
	first := l.last - len(l.events) + 1
	if seq+1 >= first {
		return append([]Event{}, l.events[seq+1-first:]...)
	}
	gap := Event{Seq: first - 1, At: l.events[0].At, Kind: Dropped, Text: fmt.Sprintf(
		"the events %d to %d are dropped: the newest %d are kept, with at most %d KiB", seq+1, first-1, maxEvents, maxBytes>>10)}
	return append([]Event{gap}, l.events...)
}

// settle replaces a question that waits no longer by its message.
func (l *log) settle(q *Question) {
	for i := range l.events {
		if l.events[i].Question == q {
			l.events[i].Question = &Question{ID: q.ID, Message: q.Message}
		}
	}
}

// cutText returns the beginning of a text, of at most n bytes in whole characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
