package scriptio

import (
	"math"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// Progress is how far a script has come.
type Progress struct {
	Done, Total float64 // 0 ≤ Done ≤ Total, and Total > 0
	Message     string  // may be ""
}

// ParseProgress reads a line "N/M" or "N/M message". Numbers are decimal. A
// path, a date or a fraction in a sentence is none.
func ParseProgress(line string) (p Progress, ok bool) {
	head, message, _ := strings.Cut(strings.TrimSpace(line), " ")
	done, total, found := strings.Cut(head, "/")
	if !found {
		return p, false
	}
	p.Message = strings.TrimSpace(message)
	var doneOK, totalOK bool
	p.Done, doneOK = decimal(done)
	p.Total, totalOK = decimal(total)
	return p, doneOK && totalOK && p.Total > 0 && p.Done <= p.Total
}

// maxDecimal is the longest number that is read, in bytes: longer ones are of
// something else.
const maxDecimal = 20

// decimal reads digits with at most one point between them.
func decimal(text string) (float64, bool) {
	if text == "" || len(text) > maxDecimal || strings.Trim(text, "0123456789.") != "" || text[0] == '.' || text[len(text)-1] == '.' {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// ParseLog reads a line "[LEVEL] message", where the level is one of RFC 5424 as
// MCP writes them, in any case, or "warn".
func ParseLog(line string) (level mcp.LoggingLevel, message string, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(line), "[")
	if !found {
		return "", "", false
	}
	name, message, found := strings.Cut(rest, "]")
	level = mcp.LoggingLevel(strings.ToLower(name))
	if level == "warn" {
		level = mcp.LoggingLevelWarning
	}
	message = strings.TrimSpace(message)
	// Every level is at least as severe as debug; what is no level is not.
	return level, message, found && message != "" && level.ShouldSendTo(mcp.LoggingLevelDebug)
}
