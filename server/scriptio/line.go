package scriptio

import (
	"math"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// Progress is the progress of a script.
type Progress struct {
	Done, Total float64 // 0 ≤ Done ≤ Total, and Total > 0
	Message     string  // may be ""
}

// ParseProgress parses a line "N/M" or "N/M message" with decimal numbers. ok is false
// for others, such as a path, a date or a fraction in a sentence.
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

// maxDecimal is the longest number, in bytes: longer ones are no progress.
const maxDecimal = 20

// decimal parses digits with at most one point between them.
func decimal(text string) (float64, bool) {
	if text == "" || len(text) > maxDecimal || strings.Trim(text, "0123456789.") != "" || text[0] == '.' || text[len(text)-1] == '.' {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// ParseLog parses a line "[LEVEL] message". The level is one of RFC 5424 as MCP spells
// them, in any case, or "warn".
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
