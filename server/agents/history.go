package agents

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxMessage = 500    // characters of a message in a history
	maxHistory = 10_000 // characters of a history
)

// brief returns the end of a conversation, with texts that name the calls and are short, but
// for the last one, the result: somewhat more than a history holds.
func brief(conversation []chat.Message) (all []chat.Message) {
	size := 0
	for i, m := range slices.Backward(conversation) {
		most := maxMessage
		if i == len(conversation)-1 && m.Role == chat.Assistant {
			most = maxHistory
		}
		m.Text, m.Calls = truncate.String(textOf(m), most), nil
		all = append(all, m)
		if size += utf8.RuneCountInString(m.Text); size > maxHistory {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// textOf returns the text of a message, with its calls.
func textOf(m chat.Message) string {
	for _, c := range m.Calls {
		m.Text += fmt.Sprintf(" → %s(%s)", c.Name, c.Args)
	}
	return m.Text
}

var lineEnds = lazyregexp.New(`[\n\r\x{85}\x{2028}\x{2029}]+`)

// line returns a message as a line of a history. It has no second line, which could pass for
// that of another message.
func line(m chat.Message) string {
	return fmt.Sprintf("[%s] %s", m.Role, lineEnds.ReplaceAllString(textOf(m), " ⏎ "))
}

// transcript returns messages as lines of a history.
func transcript(messages []chat.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintln(&b, line(m))
	}
	return b.String()
}
