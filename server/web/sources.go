package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// sources lists the installed skills.
func (m *management) sources(r *http.Request) (*content, error) {
	targets, err := m.manage.Installed(r.Context())
	if err != nil {
		return nil, err
	}
	servers, err := m.manage.Servers(r.Context())
	if err != nil {
		return nil, err
	}
	var operations []operation
	for _, o := range m.manage.Operations().All() {
		operations = append(operations, operation{o, o.Snapshot()})
	}
	return &content{Title: "Sources", Template: "sources.html", Section: "sources", Live: []string{"sources", "skills"}, Data: map[string]any{
		"Targets": targets, "Servers": servers, "Operations": operations, "Help": source.Help,
	}}, nil
}

// searchCatalog asks the registry, for a while, and keeps the answer for the screen.
func (m *management) searchCatalog(r *http.Request) (string, error) {
	query := strings.TrimSpace(r.PostFormValue("q"))
	if query == "" || len(query) > 200 {
		return "", &run.Error{Code: run.InvalidParam, Message: "Write a few words about the skill, at most 200 letters."}
	}
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	offers, err := m.manage.Catalog(ctx, query)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offers, m.wanted = offers, query
	return Path + "sources/catalog", nil
}

// catalog shows the last answer of the registry.
func (m *management) catalog(*http.Request) (*content, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &content{Title: "Catalog", Template: "catalog.html", Section: "sources", Data: map[string]any{"Offers": m.offers, "Query": m.wanted}}, nil
}

// source shows one installed skill.
func (m *management) source(r *http.Request) (*content, error) {
	target, item, err := m.entry(r)
	if err != nil {
		return nil, err
	}
	return &content{Title: termtext.Visible(item.Name), Template: "source.html", Section: "sources", Live: []string{"sources", "skills"}, Data: map[string]any{
		"Target": target, "Item": item,
	}}, nil
}

// entry returns the entry that the fields "project" and "name" of a request mean.
func (m *management) entry(r *http.Request) (*manage.Inventory, *manage.Installed, error) {
	targets, err := m.manage.Installed(r.Context())
	if err != nil {
		return nil, nil, err
	}
	for _, t := range targets {
		for _, item := range t.Items {
			if t.Project == r.FormValue("project") && item.Entry == r.FormValue("name") {
				return &t, &item, nil
			}
		}
	}
	return nil, nil, &run.Error{Code: run.NotFound, Message: "Nothing of this name is installed there any more."}
}

// confirmUninstall asks whether a skill is removed.
func (m *management) confirmUninstall(r *http.Request) (*content, error) {
	target, item, err := m.entry(r)
	if err != nil {
		return nil, err
	}
	lines := []string{"Its folder in " + target.Dir + " is removed, with all that was installed together with it, and its entry in the lock file."}
	if item.Intact {
		lines = append(lines, "None of its files was edited or added since it was installed.")
	} else {
		lines = append(lines, "Files that were edited or added since it was installed are not removed: they go aside, and you are told where.")
	}
	return &content{Title: "Uninstall " + termtext.Visible(item.Name), Template: "confirm.html", Section: "sources", Data: confirmation{
		Lines: lines, Details: item.Differences, Action: Path + "sources/operations", Button: "Uninstall it", Back: entryPath(target.Project, item.Entry),
		Fields: [][2]string{{"action", string(installation.Uninstall)}, {"project", target.Project}, {"name", item.Entry}},
	}}, nil
}

// A confirmation asks whether a form is sent.
type confirmation struct {
	Lines, Details []string // Details are strangers'
	Action         string   // the path of the form
	Fields         [][2]string
	Button, Back   string
}

// entryPath returns the path of the screen of an installed skill.
func entryPath(project, name string) string {
	return Path + "sources/entry?" + url.Values{"project": {project}, "name": {name}}.Encode()
}

// uninstallPath returns the path of the screen that asks whether it is removed.
func uninstallPath(project, name string) string {
	return Path + "sources/uninstall?" + url.Values{"project": {project}, "name": {name}}.Encode()
}

// order starts the operation of a form.
func (m *management) order(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", &run.Error{Code: run.InvalidParam, Message: "The form cannot be read; send it again."}
	}
	order := installation.Order{
		Action: installation.Action(r.PostForm.Get("action")), Project: r.PostForm.Get("project"),
		Source: strings.TrimSpace(r.PostForm.Get("source")), Names: r.PostForm["name"],
	}
	switch order.Action {
	case installation.Check, installation.Update, installation.Rollback, installation.Uninstall:
	case installation.Install:
		if order.Source == "" {
			return "", &run.Error{Code: run.InvalidParam, Message: "Say what is installed: write a source, such as owner/repo or the path of a .zip file."}
		}
	default:
		return "", &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("There is no action %q.", order.Action)}
	}
	o, err := m.manage.Operations().Start(order)
	if err != nil {
		return "", err
	}
	return operationPath(o.ID), nil
}

func operationPath(id string) string { return Path + "sources/operations/" + url.PathEscape(id) }

// An operation is one with its state at the time of a screen.
type operation struct {
	*installation.Operation
	Now installation.Snapshot
}

// Path returns the path of its screen.
func (o operation) Path() string { return operationPath(o.ID) }

// Title returns the order in words.
func (o operation) Title() string {
	names := strings.Join(o.Order.Names, ", ")
	switch o.Order.Action {
	case installation.Check:
		return "Look for newer versions"
	case installation.Install:
		return "Install from " + o.Order.Source
	case installation.Update:
		names = cmp.Or(names, "everything")
		return "Update " + names
	case installation.Rollback:
		return "Roll back " + names
	}
	return "Uninstall " + names
}

// State returns the state in a word.
func (o operation) State() string {
	switch {
	case o.Now.Change != nil:
		return "waits for you"
	case o.Now.Ended.IsZero():
		return "under way"
	case o.Now.Choices() != nil:
		return "needs a choice"
	case o.Now.Err != nil:
		return "failed"
	}
	return "done"
}

// Items returns the items of the change that waits for an answer.
func (o operation) Items() (all []changed) {
	for i := range o.Now.Change.Items {
		all = append(all, changed{&o.Now.Change.Items[i]})
	}
	return all
}

// operation shows one operation: its progress, the change that it asks about, or its result.
func (m *management) operation(r *http.Request) (*content, error) {
	o, err := m.manage.Operations().Find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	now := operation{o, o.Snapshot()}
	c := &content{Title: termtext.Visible(now.Title()), Template: "operation.html", Section: "sources", Data: now}
	if now.Now.Ended.IsZero() {
		c.Live = []string{"sources"}
	}
	return c, nil
}

// answerOperation accepts the change that was shown, or leaves everything as it is.
func (m *management) answerOperation(r *http.Request) (string, error) {
	o, err := m.manage.Operations().Find(r.PathValue("id"))
	if err != nil {
		return "", err
	}
	return operationPath(o.ID), o.Answer(r.PostFormValue("digest"), r.PostFormValue("answer") == "accept")
}

// stopOperation ends an operation.
func (m *management) stopOperation(r *http.Request) (string, error) {
	o, err := m.manage.Operations().Find(r.PathValue("id"))
	if err != nil {
		return "", err
	}
	o.Stop()
	return operationPath(o.ID), nil
}

// A changed is an item of a change, in the parts that the screen shows.
type changed struct{ *installation.Item }

// Could returns what it could do, in lines.
func (c changed) Could() []string {
	all := installation.Capabilities(c.Capabilities)
	for i, line := range all {
		all[i] = strings.TrimPrefix(line, "> ")
	}
	return all
}

// Elsewhere reports that the installed version came from another source.
func (c changed) Elsewhere() bool { return c.Replaces != nil && c.Replaces.Source != c.Source }

// A diffLine is a line of a unified difference.
type diffLine struct{ Class, Text string }

// diffLines returns the lines of a difference as surface.Diff has it.
func diffLines(diff string) (all []diffLine) {
	head := false
	for line := range strings.Lines(diff) {
		class := ""
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "… "):
			class, head = "file", true
		case line[0] == '@', head:
			class, head = "muted", line[0] != '@'
		case line[0] == '+':
			class = "added"
		case line[0] == '-':
			class = "removed"
		}
		all = append(all, diffLine{class, termtext.Visible(strings.TrimSuffix(line, "\n"))})
	}
	return all
}
