package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Severity is the weight of a finding. The zero value is that of no finding.
type Severity string

// The severities.
const (
	Info     Severity = "info"     // worth a look
	Warning  Severity = "warning"  // harmless skills do it, too
	Critical Severity = "critical" // harmless skills hardly do it
)

// rank orders severities; that of none is 0.
func (s Severity) rank() int { return slices.Index([]Severity{Info, Warning, Critical}, s) + 1 }

// AtLeast reports whether a severity is that of other, or above it.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

// A Finding is one passage that a rule recognizes, the first of its file.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"` // the path in the skill's folder
	Line     int      `json:"line"` // from 1
	Reason   string   `json:"reason"`
	Remedy   string   `json:"remedy"`
	Text     string   `json:"text"` // the line, a stranger's, shortened
}

// String returns the finding as compilers do: "file:line: severity: reason [rule] (remedy)".
func (f Finding) String() string {
	p := skills.Problem{Severity: skills.Severity(f.Severity), Path: f.File, Line: f.Line, Message: f.Reason + " [" + f.Rule + "]", Remedy: f.Remedy}
	return p.String()
}

// Worst returns the severity of the most severe finding; "" without one.
func Worst(found []Finding) Severity {
	if len(found) == 0 {
		return ""
	}
	return found[0].Severity
}

// Counts returns the numbers of the findings from warnings on, as in "1 critical, 2
// warnings"; "" for none.
func Counts(found []Finding) string {
	counts := map[Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
	}
	var parts []string
	if n := counts[Critical]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d critical", n))
	}
	if n := counts[Warning]; n == 1 {
		parts = append(parts, "1 warning")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d warnings", n))
	}
	return strings.Join(parts, ", ")
}

// Summary returns findings in a line for a person: their counts, and the reason of the
// first; "" for none.
func Summary(found []Finding) string {
	counts := Counts(found)
	if counts == "" {
		return ""
	}
	return counts + ": " + found[0].Reason
}
