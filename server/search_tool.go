package server

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

type searchArgs struct {
	Query        string   `json:"query" jsonschema:"maxLength=1000" jsonschema_description:"What is to be done, as English keywords, or a name."`
	Alternatives []string `json:"alternatives,omitempty" jsonschema:"maxItems=5" jsonschema_description:"Two or three other phrasings: synonyms, file types, programs."`
	// A number of any spelling is fine: 5.0 is an integer.
	Limit float64 `json:"limit,omitempty" jsonschema:"type=integer,minimum=1,default=10" jsonschema_description:"The most skills to return."`
	sourceArgs
	cursorArgs
}

// maxQuery bounds each of the alternatives, and the query in the schema of [searchArgs],
// in characters.
const maxQuery = 1000

// check returns the query that the arguments are for.
func (a searchArgs) check() (search.Query, error) {
	q := search.Query{Text: a.Query}
	if strings.TrimSpace(a.Query) == "" {
		return q, &run.Error{Code: run.InvalidParam, Message: `"query" is empty; give a word or two, or use list_skills`}
	}
	for _, other := range a.Alternatives {
		if len([]rune(other)) > maxQuery {
			return q, &run.Error{Code: run.InvalidParam, Message: `one of "alternatives" is longer than 1000 characters; give keywords`}
		}
		if strings.TrimSpace(other) != "" {
			q.Alternatives = append(q.Alternatives, other)
		}
	}
	if a.Source != "" {
		q.Keep = a.keeps
	}
	return q, nil
}

// maxHits bounds the skills that a call returns.
const maxHits = 50

// pageLimit returns the number of skills that a call returns, if it gives one.
func pageLimit(given float64, usual int) int {
	if given == 0 {
		return usual
	}
	return int(min(given, maxHits))
}

// A hit is a skill that a search found.
type hit struct {
	describe.Choice
	// Why says what matched.
	Why string `json:"why,omitempty"`
}

// hits is the result of search_skills.
type hits struct {
	Skills []hit `json:"skills"`
	// Doubtful reports that probably no skill fits.
	Doubtful bool `json:"doubtful,omitempty"`
	// More is the number of skills that matched and were on no page yet.
	More int `json:"more,omitempty"`
	// Next is the cursor of the next page. There are [search.MaxHits] on all pages.
	Next string `json:"next_cursor,omitempty"`
	// Hint is advice where nothing fits.
	Hint string `json:"hint,omitempty"`
}

// A searchTool makes search_skills.
type searchTool struct {
	*toolMaker
	search    *searcher
	choose    func(*request) func(*skills.Skill) describe.Choice
	arguments *arguments[searchArgs] // of the tools of all views
}

// tool returns the tool. Its description names skills of the view, in at most room bytes.
func (t *searchTool) tool(v *view, room int) mcpserver.ServerTool {
	return fixedTool[searchArgs]{
		name: "search_skills", title: "Search skills", description: searchDescription(v.exposed, room), arguments: t.arguments,
		meta: map[string]any{alwaysLoad: true}, returns: hits{},
		handle: func(r *request, args searchArgs) (any, error) {
			q, err := args.check()
			if err != nil {
				return nil, err
			}
			found, err := t.search.search(r.ctx, r.view, q)
			if err != nil {
				return nil, err
			}
			return t.page(r, args, found)
		},
	}.tool(t.toolMaker)
}

// page returns the page of a search that its cursor names.
func (t *searchTool) page(r *request, args searchArgs, found search.Result) (hits, error) {
	choose := t.choose(r)
	shown, next, err := pageOf(found.Hits, args.Cursor, pageLimit(args.Limit, 10), func(h search.Hit) hit { return hit{choose(h.Skill), line(h.Why())} })
	if err != nil {
		return hits{}, err
	}
	from, _ := position(mcp.Cursor(args.Cursor))
	page := hits{Skills: shown, Doubtful: found.Doubtful, Next: next, More: found.Total - from - len(shown)}
	if found.Doubtful || len(found.Hits) == 0 {
		page.Hint = advice(found)
	}
	return page, nil
}

// advice returns what to do where nothing fits.
func advice(found search.Result) string {
	if len(found.Hits) == 0 {
		return "no skill has these words; try other English words, alternatives with synonyms, or see list_skills; if there is none, do the task without a skill"
	}
	return "probably no skill fits, and these are the nearest; read their descriptions before you load one, try other English words and alternatives, or do the task without a skill"
}
