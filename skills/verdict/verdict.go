// Package verdict judges the files of a skill: it finds the passages that harm people,
// each with a severity, a reason and a remedy.
//
// The same passage weighs less where it is described than where it is executed: a script
// runs it, the definition of a skill may have a model run it, other texts are read. The
// rules are a table, rules.yaml. The sandbox is the defence, and a verdict a hint:
// obfuscation beats every scanner, and false alarms teach people to switch it off.
//
// Start with [Of].
package verdict

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Version returns that of the rules: the same files may have another verdict by another one.
func Version() string { return fmt.Sprintf("%d-%x", surface.Version, sha256.Sum256(table)) }

// A Severity is the weight of a finding. The zero value is that of no finding.
type Severity string

// The severities.
const (
	Info     Severity = "info"     // worth a look by whoever is curious
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

// Of returns the findings in the files of a skill, the most severe first. The error is one
// of reading the folder.
func Of(skill *skills.Skill, files fs.FS) ([]Finding, error) {
	found := []Finding{}
	_, err := surface.Read(skill, files, func(file *surface.File) { found = append(found, newReader(file).findings()...) })
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(b.Severity.rank()-a.Severity.rank(), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return found, err
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

// findings returns the findings of one file, the most severe of each rule.
func (r *reader) findings() (all []Finding) {
	for _, rule := range Rules() {
		var worst Finding
		for i := range rule.Match {
			m := &rule.Match[i]
			severity := r.severity(m)
			if worst.Severity.AtLeast(severity) {
				continue
			}
			at := r.find(m)
			if at < 0 {
				continue
			}
			if severity == Critical && r.mentions(m, at) {
				severity = Warning
			}
			text := truncate.String(strings.TrimSpace(r.around(r.file.Content, at, 0)), maxText)
			worst = Finding{rule.ID, severity, r.file.Name, r.file.Line(at), rule.Reason, rule.Remedy, text}
		}
		if worst.Rule != "" {
			all = append(all, worst)
		}
	}
	return all
}

// maxText bounds the text of a finding, in bytes.
const maxText = 160
