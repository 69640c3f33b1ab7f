package server

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/scriptio"
)

// A mark is where a call's progress stands. MCP wants it to increase with each
// notification. The zero mark is before the first.
type mark struct {
	at, total float64 // total is 0 where it is not known
	begun     bool
}

// step moves to what a line says: to its own number, or where it has none one
// further.
func (m *mark) step(p scriptio.Progress) mark {
	if p.Total == 0 {
		return m.nudge()
	}
	m.total = p.Total
	if m.begun && p.Done <= m.at { // such as 50/100 again, with another message
		return m.nudge()
	}
	m.at, m.begun = p.Done, true
	return *m
}

// words is a message with how far that is, where it is known.
func (m mark) words(message string) string {
	if m.total == 0 {
		return message
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*m.at/m.total, message))
}

// nudge moves on without progress: by one while messages are only counted, and
// then by as little as shows.
func (m *mark) nudge() mark {
	by := 1.0
	if m.total > 0 {
		by = max(m.at, m.total) / 1e6
	}
	m.at, m.begun = m.at+by, true
	now := *m
	if now.at > now.total { // more than all would be refused
		now.total = 0
	}
	return now
}
