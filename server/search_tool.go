package server

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
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

// maxHits bounds the skills on a page.
const maxHits = 50

// limit returns the number of skills on a page.
func (a searchArgs) limit() int {
	if a.Limit == 0 {
		return 10
	}
	return int(min(a.Limit, maxHits))
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
	// Nearest are names that resemble the query where nothing fits.
	Nearest []string `json:"nearest,omitempty"`
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

func newSearchTool(m *toolMaker, search *searcher, choose func(*request) func(*skills.Skill) describe.Choice) *searchTool {
	return &searchTool{m, search, choose, newArguments[searchArgs](false)}
}

// tool returns the tool. Its description names skills of the view, in at most room bytes.
func (t *searchTool) tool(v *view, room int) mcpserver.ServerTool {
	return fixedTool[searchArgs]{
		name: "search_skills", title: "Search skills", description: searchDescription(v.exposed, room), arguments: t.arguments,
		// Clients that load tools on demand must always have this one.
		meta: mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true}),
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
	from, err := args.from(found.Hits)
	if err != nil {
		return hits{}, err
	}
	page, choose, size := hits{Skills: []hit{}, Doubtful: found.Doubtful}, t.choose(r), 0
	for _, h := range found.Hits[from:] {
		shown := hit{choose(h.Skill), line(h.Why())}
		size += len(encoded(shown))
		if len(page.Skills) == args.limit() || size > maxPageSize && len(page.Skills) > 0 {
			break
		}
		page.Skills = append(page.Skills, shown)
	}
	at := from + len(page.Skills)
	page.More = found.Total - at
	if at < len(found.Hits) {
		page.Next = args.cursorAfter(at, found.Hits[at-1].Skill)
	}
	if found.Doubtful || len(found.Hits) == 0 {
		page.Nearest, page.Hint = found.Nearest, advice(found)
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

// A place is the content of the cursor of a search: the page begins after the hit with
// this number and name.
type place struct {
	Of   []byte `json:"of"` // a digest of the search
	At   int    `json:"at"`
	Name string `json:"name"`
}

// cursorAfter returns the cursor of the page after the hit with a number and its skill.
func (a searchArgs) cursorAfter(at int, skill *skills.Skill) string {
	return base64.RawURLEncoding.EncodeToString(encoded(place{a.digest(), at, skill.QualifiedName()}))
}

// digest identifies the search that the arguments are of.
func (a searchArgs) digest() []byte {
	sum := sha256.Sum256(encoded([]any{a.Query, a.Alternatives, a.Source}))
	return sum[:8]
}

// from returns the number of the hits before the page of the cursor. If the order of hits
// has changed since, the page begins after the last hit of the page before.
func (a searchArgs) from(found []search.Hit) (int, error) {
	if a.Cursor == "" {
		return 0, nil
	}
	var p place
	text, err := base64.RawURLEncoding.DecodeString(a.Cursor)
	if err != nil || json.Unmarshal(text, &p) != nil || !slices.Equal(p.Of, a.digest()) {
		return 0, &run.Error{Code: run.InvalidParam, Message: `"cursor" is none of this search's; repeat query, alternatives and source as they were, or leave it out to begin`}
	}
	is := func(h search.Hit) bool { return h.Skill.QualifiedName() == p.Name }
	if p.At > 0 && p.At <= len(found) && is(found[p.At-1]) {
		return p.At, nil
	}
	if at := slices.IndexFunc(found, is); at >= 0 {
		return at + 1, nil
	}
	return 0, &run.Error{Code: run.InvalidParam, Message: `the skills have changed since "cursor" was given; leave it out to begin again`}
}
