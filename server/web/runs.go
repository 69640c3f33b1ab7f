package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// A period is a choice of the filter of runs.
type period struct{ Value, Title string }

// periods returns the choices of the filter of runs.
func periods() []period {
	return []period{{"", "any time"}, {"1h", "the last hour"}, {"24h", "the last day"}, {"168h", "the last week"}, {"720h", "the last 30 days"}}
}

// runFilter returns the query of a request's form.
func runFilter(form url.Values) (q api.RunQuery, err error) {
	q = api.RunQuery{Skill: strings.TrimSpace(form.Get("skill")), Outcome: form.Get("outcome"), Cursor: form.Get("cursor")}
	if since := form.Get("since"); since != "" {
		ago, err := time.ParseDuration(since)
		if err != nil || ago <= 0 {
			return q, &run.Error{Code: run.InvalidParam, Message: "The time is not known: choose one of the list."}
		}
		q.Since = time.Now().Add(-ago)
	}
	return q, nil
}

// runList are the data of the screen of all runs.
type runList struct {
	*api.RunPage
	Form     map[string]string // as it was sent
	Outcomes []string
	Periods  []period
	Newest   bool // this is the first page
	Older    string
	// Subagents are on the first page, without a filter.
	Subagents []*subagentNode
}

// runs shows a page of the record.
func (p *Page) runs(r *http.Request) (*content, error) {
	form := r.URL.Query()
	q, err := runFilter(form)
	if err != nil {
		return nil, err
	}
	page, err := p.options.Service.Runs(r.Context(), q)
	if err != nil {
		return nil, err
	}
	list := runList{RunPage: page, Form: map[string]string{}, Outcomes: audit.Outcomes(), Periods: periods(), Newest: q.Cursor == ""}
	sent := url.Values{}
	for _, name := range []string{"skill", "outcome", "since"} {
		if value := form.Get(name); value != "" {
			list.Form[name] = value
			sent.Set(name, value)
		}
	}
	if list.Newest && len(sent) == 0 {
		if list.Subagents, err = p.subagents(r.Context(), ""); err != nil {
			return nil, err
		}
	}
	if page.Next != "" {
		sent.Set("cursor", page.Next)
		list.Older = Path + "runs?" + sent.Encode()
	}
	c := &content{Title: "Runs", Template: "runs.html", Section: "runs", Data: list}
	if list.Newest {
		c.Live = []string{"runs"}
	}
	return c, nil
}

// A runView is a run for its screen.
type runView struct {
	*api.Run
	Grant struct {
		Workspaces, Hosts, Variables, Secrets []string
		Write                                 bool
	}
	Connections []sandbox.Connection
	Arguments   string // JSON
	Children    []*store.Run
	Files       []outFile
}

// run shows one run.
func (p *Page) run(r *http.Request) (*content, error) {
	id := r.PathValue("id")
	found, err := p.options.Service.Run(r.Context(), id)
	if err != nil {
		if _, other := api.SubagentsOf(p.options.Service).Find(r.Context(), id); other == nil { // whose run ID is the parent of its calls
			return nil, moved(subagentPath(id))
		}
		return nil, err
	}
	view := &runView{Run: found}
	if found.Live != nil {
		view.Files = newOutFiles(found.ID, found.Live.Result)
	}
	if row := found.Record; row != nil {
		_ = json.Unmarshal(row.Grant, &view.Grant)             // that which cannot be read
		_ = json.Unmarshal(row.Connections, &view.Connections) // is shown as it is
		view.Arguments = shownJSON(row.Args)
	}
	children, err := p.options.Service.Runs(r.Context(), api.RunQuery{Parent: found.ID, Limit: maxChildren})
	if err != nil {
		return nil, err
	}
	view.Children = children.Items
	c := &content{Title: "Run " + found.ID, Template: "run.html", Section: "runs", Data: view, Live: []string{"runs"}}
	if found.Live != nil && found.Live.State != jobs.Ended {
		c.Live = append(c.Live, "run/"+found.ID)
	}
	return c, nil
}
