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
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Version returns that of the rules: the same files may have another verdict by another one.
func Version() string { return fmt.Sprintf("%d-%x", surface.Version, sha256.Sum256(table)) }

// announces matches a text that says that something of the skill stays after a run.
var announces = lazyregexp.New(`\b(?:cron\w*|schedul\w+|launchd|launchagents?|systemd|daemons?|services?|autostart|hooks?|nightly|hourly|background|auto-?starts?|timers?|startup|login items?|launch agents?|every (?:day|hour|minute|morning|evening|night|week|\d+ \w+)|(?:at|after|each|every) (?:login|logon|boot|reboot|restart)|(?:log|sign)s? (?:in|on)|on boot)\b`)

// Of returns the findings in the files of a skill, the most severe first. The error is one
// of reading the folder.
func Of(skill *skills.Skill, files fs.FS) ([]Finding, error) {
	found := []Finding{}
	announced := false // known before most scripts are read: folders are read in the order of names
	_, err := surface.Read(skill, files, func(file *surface.File) {
		r := newReader(file)
		announced = announced || file.Main && announces.MatchString(file.Lower)
		r.announced = announced
		found = append(found, r.findings()...)
	})
	Sort(found)
	return found, err
}

// Sort sorts findings: the most severe first, then by file and line.
func Sort(found []Finding) {
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(b.Severity.rank()-a.Severity.rank(), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
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
			if severity == Critical && (m.Announced && r.announced || r.mentions(m, at)) {
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
