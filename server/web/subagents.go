package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

const maxChildren = 100

// subagentScreens are the screens of subagents, and the button that ends one.
type subagentScreens struct{ *Page }

func (p subagentScreens) mount(r *router) {
	r.get("subagents/{id}", p.show)
	r.post("subagents/{id}/stop", p.stop)
}

// A subagentNode is a subagent in the tree of those that a reader sees.
type subagentNode struct {
	*agents.Session
	Spent       []string // of its budget
	Took, Limit time.Duration
	Stops       bool // the reader may end it
	Under       []*subagentNode
}

func newSubagentNode(ctx context.Context, s *agents.Session) *subagentNode {
	n := &subagentNode{Session: s, Limit: time.Duration(s.Timeout * float64(time.Second))}
	n.Stops = s.Status == agents.Running && (isPerson(ctx) || identity.FromContext(ctx).Owner() == s.Owner)
	end := s.Ended
	if end.IsZero() {
		end = time.Now()
	}
	n.Took = end.Sub(s.Created)
	for _, part := range []struct {
		name        string
		used, bound float64
	}{{"turns", float64(s.Used.Turns), float64(s.Budget.Turns)}, {"tokens", float64(s.Used.Tokens), float64(s.Budget.Tokens)}, {"cost", s.Used.Cost, s.Budget.Cost}} {
		text := fmt.Sprintf("%s %.10g", part.name, part.used)
		if part.bound > 0 {
			text += fmt.Sprintf(" of %.10g", part.bound)
		}
		if part.name != "cost" || part.used+part.bound > 0 {
			n.Spent = append(n.Spent, text)
		}
	}
	return n
}

// subagents returns the subagents that a reader sees, those that run first, each below the
// nearest of its ancestors that are among them. With a run ID they are the descendants of
// that one.
func (p *Page) subagents(ctx context.Context, above string) (trees []*subagentNode, err error) {
	all, err := api.SubagentsOf(p.options.Service).List(ctx, "")
	nodes := map[string]*subagentNode{}
	for _, s := range all {
		if above == "" || slices.Contains(s.Ancestors, above) {
			nodes[s.RunID] = newSubagentNode(ctx, s)
		}
	}
	for _, s := range all {
		if node := nodes[s.RunID]; node != nil {
			list := &trees
			for _, id := range s.Ancestors { // the outermost first
				if n := nodes[id]; n != nil {
					list = &n.Under
				}
			}
			*list = append(*list, node)
		}
	}
	ended := slices.DeleteFunc(slices.Clone(trees), func(n *subagentNode) bool { return n.Status == agents.Running })
	trees = slices.DeleteFunc(trees, func(n *subagentNode) bool { return n.Status != agents.Running })
	if above == "" {
		ended = ended[:min(len(ended), 10)] // the runs are below them
	}
	return append(trees, ended...), err
}

// A subagentView is a subagent for its own screen.
type subagentView struct {
	*subagentNode
	Calls []*store.Run // of its tools
}

// show shows one subagent.
func (p subagentScreens) show(r *http.Request) (*content, error) {
	found, err := api.SubagentsOf(p.options.Service).Find(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	view := &subagentView{subagentNode: newSubagentNode(r.Context(), found)}
	if view.Under, err = p.subagents(r.Context(), found.RunID); err != nil {
		return nil, err
	}
	calls, err := p.options.Service.Runs(r.Context(), api.RunQuery{Parent: found.RunID, Limit: maxChildren})
	if err != nil {
		return nil, err
	}
	view.Calls = calls.Items
	return &content{Title: "Subagent " + found.RunID, Template: "subagent.html", Section: "runs", Data: view, Live: []string{"runs"}}, nil
}

// stop ends a subagent with its descendants.
func (p subagentScreens) stop(r *http.Request) (next string, err error) {
	id := r.PathValue("id")
	return subagentPath(id), api.SubagentsOf(p.options.Service).Stop(r.Context(), id)
}

func subagentPath(id string) string { return Path + "subagents/" + id }
