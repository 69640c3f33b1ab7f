package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
)

// doctor shows the last diagnosis. It runs no checks, which take seconds.
func (m *management) doctor(*http.Request) (*content, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := map[string]any{"At": m.at}
	if d := m.diagnosis; d != nil {
		var sections []diagnosed
		for _, s := range d.Sections {
			sections = append(sections, newDiagnosed(s))
		}
		data["Sections"], data["OK"] = sections, d.OK
	}
	return &content{Title: "Doctor", Template: "doctor.html", Section: "doctor", Data: data}, nil
}

// diagnose runs the checks.
func (m *management) diagnose(r *http.Request) (string, error) {
	d, err := m.service.Doctor(r.Context())
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.diagnosis, m.at = d, time.Now()
	return Path + "doctor", nil
}

// A diagnosed is a section of a diagnosis.
type diagnosed struct {
	Name     string
	Findings []finding
}

func newDiagnosed(s api.Section) diagnosed {
	d := diagnosed{Name: s.Name}
	for _, f := range s.Findings {
		d.Findings = append(d.Findings, finding{f})
	}
	return d
}

// A finding is one of the results of a check.
type finding struct{ sandbox.Finding }

// Mark returns the level in a word, with the class of its colour.
func (f finding) Mark() map[string]string {
	switch f.Level {
	case sandbox.LevelOK:
		return map[string]string{"Word": "ok", "Class": "badge-ok"}
	case sandbox.LevelWarning:
		return map[string]string{"Word": "warn", "Class": "badge-warn"}
	}
	return map[string]string{"Word": "FAIL", "Class": "badge-bad"}
}

// Command returns the command of the remedy; "" if it has none.
func (f finding) Command() string {
	_, command, found := strings.Cut(f.Remedy, "run: ")
	if at := strings.Index(f.Remedy, ": skills-mcp "); !found && at >= 0 {
		command = f.Remedy[at+2:]
	}
	command, _, _ = strings.Cut(command, ";")
	return strings.TrimSpace(command)
}
