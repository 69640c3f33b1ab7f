// Package review collects the problems of skills and plugins, and the repairs of their files,
// for those who write them.
//
// Start with [FindTarget].
package review

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A CheckReport collects the problems of a check.
type CheckReport struct {
	Strict   bool // the standard is checked, too
	Installs bool // declared packages are installed
	// Taken reports whether run has an option of a name; nil asks nothing.
	Taken func(name string) bool

	skills, plugins int
	problems        []skills.Problem
	Findings        map[string][]check.Finding // by file
}

func (r *CheckReport) Add(ctx context.Context, catalog *skills.Catalog) {
	r.plugins += len(catalog.Plugins)
	r.report(catalog.Problems...)
	for _, skill := range EverySkill(catalog) {
		r.report(skill.Problems...) // the catalog leaves out those of shadowed ones
		r.report(check.Review(skill)...)
		r.shadowing(skill)
		r.dependencies(skill)
		if skill.Of != nil {
			continue // a tool of one that is counted, and has its file
		}
		r.skills++
		r.hidden(skill)
		if problem := skillsext.Excess(ctx, skill); problem != nil {
			r.report(*problem)
		}
		if r.Strict {
			r.standard(skill)
		}
	}
}

func (r *CheckReport) report(problems ...skills.Problem) {
	r.problems = append(r.problems, problems...)
}

// shadowing reports declared parameters that have the names of options of run.
func (r *CheckReport) shadowing(skill *skills.Skill) {
	if skill.Entry == nil || r.Taken == nil {
		return
	}
	flags, _ := skill.Entry.Args.(skills.Flags)
	for _, p := range flags {
		if r.Taken(p.Name) {
			r.report(skills.Problem{Severity: skills.Note, Path: skill.File, Message: fmt.Sprintf("parameter %q has the name of an option of run: there --%s is the skill's alone", p.Name, p.Name), Remedy: "rename it, if it is called on the command line"})
		}
	}
}

// dependencies reports the packages that a skill declares, and whether they are
// installed.
func (r *CheckReport) dependencies(skill *skills.Skill) {
	declared, problem := describe.Dependencies(skill)
	if problem != nil {
		r.report(*problem)
	}
	if len(declared) == 0 {
		return
	}
	note := skills.Problem{Severity: skills.Note, Path: skill.File, Message: "it declares " + dependencies.Summary(declared) + ": installed at its first run"}
	if !r.Installs {
		note.Message = "it declares " + dependencies.Summary(declared) + ": not installed"
		note.Remedy = "set sandbox.dependencies: build, or use an image that has them"
	}
	r.report(note)
}

// maxHidden bounds the lines with hidden characters that are reported of one file.
const maxHidden = 5

// hidden warns of invisible characters in a skill's file. Loading has reported those
// of the description.
func (r *CheckReport) hidden(skill *skills.Skill) {
	text, err := skillfs.ReadRegular(skill.Files, path.Base(filepath.ToSlash(skill.File)), 1<<20)
	if err != nil { // loading has reported it, or the file is elsewhere
		return
	}
	places, count := skills.HiddenPlaces(string(text), maxHidden)
	for _, place := range places {
		if slices.ContainsFunc(skill.Problems, func(p skills.Problem) bool {
			return p.Line == place.Line && strings.Contains(p.Message, "direction-changing character")
		}) {
			continue
		}
		r.report(skills.Problem{
			Severity: skills.Warning, Path: skill.File, Line: place.Line, Col: place.Col, Remedy: "remove it",
			Message: fmt.Sprintf("there is the invisible or direction-changing character %U, one of %d in the file; models are not shown them", place.Rune, count),
		})
	}
}

// standard checks a SKILL.md by the standard.
func (r *CheckReport) standard(skill *skills.Skill) {
	file := filepath.ToSlash(skill.File)
	if !IsSkillFile(file) {
		return
	}
	folder := path.Base(path.Dir(file))
	if skill.Dir == "" {
		folder = scan.PackageName(folder)
	}
	findings, err := check.StandardFile(skill.Files, path.Base(file), folder)
	if err != nil {
		r.report(skills.Problem{Severity: skills.Error, Path: skill.File, Message: "it cannot be read: " + err.Error(), Remedy: "check that it exists and may be read"})
		return
	}
	r.Findings[skill.File] = findings
	for _, f := range findings {
		r.report(f.Problem(skill.File))
	}
}

// IsSkillFile reports whether a file is a SKILL.md.
func IsSkillFile(name string) bool {
	return strings.EqualFold(path.Base(filepath.ToSlash(name)), "SKILL.md")
}

// AddRepairs notes the repairable problems that loading does not report.
func (r *CheckReport) AddRepairs(repairs []*check.Repair) {
	for _, repair := range repairs {
		for _, change := range repair.Changes {
			if change.Problem != "" {
				r.report(skills.Problem{Severity: skills.Note, Path: repair.Path, Line: change.Line, Col: change.Col, Message: change.Problem, Remedy: "run check --fix"})
			}
		}
	}
}

// Sorted returns each problem once, in a fixed order.
func (r *CheckReport) Sorted() []skills.Problem {
	found := slices.DeleteFunc(append([]skills.Problem{}, r.problems...), func(p skills.Problem) bool {
		return slices.ContainsFunc(r.Findings[p.Path], func(f check.Finding) bool { return f.Covers(p) }) // one of the standard says it
	})
	slices.SortFunc(found, func(a, b skills.Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Remedy, b.Remedy))
	})
	return slices.Compact(found)
}

// NumberOf counts the problems of a severity.
func NumberOf(problems []skills.Problem, severity skills.Severity) int {
	n := 0
	for _, p := range problems {
		if p.Severity == severity {
			n++
		}
	}
	return n
}

// Print prints the problems to stdout, and their numbers to stderr. repairable counts
// the files with problems that --fix corrects.
func (r *CheckReport) Print(stdout, stderr io.Writer, found []skills.Problem, repairable int) error {
	screen := terminal.Of(stdout)
	for _, p := range found {
		severity := string(p.Severity)
		line := strings.Replace(p.String(), ": "+severity+": ", ": "+screen.Paint(terminal.Tone(severity), severity)+": ", 1)
		if _, err := fmt.Fprintln(stdout, line); err != nil {
			return err
		}
	}
	sum := []string{plain.Count(NumberOf(found, skills.Error), "error"), plain.Count(NumberOf(found, skills.Warning), "warning")}
	if notes := NumberOf(found, skills.Note); notes > 0 {
		sum = append(sum, plain.Count(notes, "note"))
	}
	more := ""
	if repairable > 0 {
		more = "; --fix can fix " + plain.Count(repairable, "file")
	}
	_, err := fmt.Fprintf(stderr, "%s, %s: %s%s\n", plain.Count(r.skills, "skill"), plain.Count(r.plugins, "plugin"), strings.Join(sum, ", "), more)
	return err
}
