package verdict

import (
	"net/url"
	"path/filepath"
	"strings"
)

// A Scanned is a skill's findings, with the folder that its files are in.
type Scanned struct {
	Skill    string    `json:"skill"`
	Dir      string    `json:"dir"` // absolute; that of the package, for a packed skill
	Findings []Finding `json:"findings"`
}

// sarifLevels are the levels and the security severities of SARIF, as GitHub reads them.
var sarifLevels = map[Severity][2]string{Critical: {"error", "9.0"}, Warning: {"warning", "5.0"}, Info: {"note", "1.0"}}

type object = map[string]any

// SARIF returns the findings as a log of SARIF 2.1.0 of the tool in a version. Paths below
// the folder base are relative to it, as services want them that have its repository.
func SARIF(version, base string, all []Scanned) any {
	rules, results, seen := []object{}, []object{}, map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		rules = append(rules, object{
			"id": r.ID, "shortDescription": object{"text": r.Reason}, "help": object{"text": r.Reason + " Remedy: " + r.Remedy + "."},
			"properties": object{"tags": []string{"security"}, "security-severity": sarifLevels[r.worst()][1]},
		})
	}
	for _, one := range all {
		for _, f := range one.Findings {
			results = append(results, object{
				"ruleId": f.Rule, "level": sarifLevels[f.Severity][0],
				"message": object{"text": f.Reason + " Remedy: " + f.Remedy + "."},
				"locations": []object{{"physicalLocation": object{
					"artifactLocation": object{"uri": uri(base, filepath.Join(one.Dir, filepath.FromSlash(f.File)))},
					"region":           object{"startLine": max(1, f.Line)},
				}}},
			})
		}
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "skills-mcp", "version": version, "rules": rules}}, "results": results}},
	}
}

// worst returns the highest severity that a rule can have.
func (r *Rule) worst() (worst Severity) {
	for _, m := range r.Match {
		for _, s := range m.Severity {
			if s.AtLeast(worst) {
				worst = s
			}
		}
	}
	return worst
}

// uri returns the reference to a file: relative to a folder that has it, else absolute.
func uri(base, file string) string {
	if rel, err := filepath.Rel(base, file); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return (&url.URL{Path: filepath.ToSlash(rel)}).EscapedPath()
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}
