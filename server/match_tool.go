package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Bounds of a match.
const (
	maxMessage      = 4 << 10  // bytes of the message, the rest of which is ignored
	maxMatches      = 10       // lines, unless a call says otherwise
	maxNearest      = 3        // lines where probably no skill fits
	maxAlways       = 5        // lines of skills that their author wants always
	maxBodies       = 2        // instructions
	maxInjectedText = 16 << 10 // bytes of one of them
)

// nearBest is the share of the best score that a skill needs for its instructions. On the
// labelled set it saves a fifth of the second ones, and 3 % of those that were right.
const nearBest = 0.5

type matchArgs struct {
	Message string  `json:"message" jsonschema_description:"The person's message."`
	Limit   float64 `json:"limit,omitempty" jsonschema:"type=integer,minimum=1,default=10" jsonschema_description:"The most skills to name."`
}

// newMatchTool returns match_skills, for programs that put skills into the prompt of each
// message, as Conduit does. A model has search_skills.
func newMatchTool(m *toolMaker, finds *searcher, loader *loader) mcpserver.ServerTool {
	return fixedTool[matchArgs]{
		name: matchTool, title: "Match skills",
		description: "Return the names and descriptions of the skills that fit a message, and the instructions of up to two of them, as text for a prompt. For programs; a model uses search_skills and load_skill.",
		handle: func(r *request, args matchArgs) (any, error) {
			if strings.TrimSpace(args.Message) == "" {
				return nil, &run.Error{Code: run.InvalidParam, Message: `"message" is empty; give what the person wrote`}
			}
			found, err := finds.search(r.ctx, r.view, search.Query{Text: truncate.String(args.Message, maxMessage), Keep: injectable})
			if err != nil {
				return nil, err
			}
			m := &match{request: r, loader: loader, most: pageLimit(args.Limit, maxMatches), room: maxBodies, keep: injectable}
			m.find(args.Message, found)
			return m.result(), r.ctx.Err()
		},
	}.tool(m)
}

// injectable reports whether the texts of a skill may be part of a prompt that nobody
// asked for them in.
func injectable(skill *skills.Skill) bool {
	owner := skill.Owner()
	return owner.ModelInvocable && skill.ModelInvocable && !owner.Untrusted() &&
		owner.Blocked == "" && owner.Unavailable == "" && skill.Unavailable == ""
}

// find finds the skills for a message that has these hits: first those that it names.
func (m *match) find(message string, found search.Result) {
	all := m.request.view.exposed.Order()
	named := namedIn(message, all, m.keep)
	for _, skill := range named[:min(len(named), m.most)] {
		m.fitting = m.add(m.fitting, skill, true)
	}
	m.doubtful = found.Unsure && len(m.fitting) == 0
	most := m.most
	if found.Unsure {
		most = min(most, maxNearest)
	}
	for _, h := range found.Hits {
		if len(m.fitting) < most && found.Unsure == m.doubtful {
			m.fitting = m.add(m.fitting, h.Skill.Owner(), !m.doubtful && h.Score >= nearBest*found.Hits[0].Score)
		}
	}
	for _, skill := range all {
		if len(m.always) < maxAlways && skill.Of == nil && skill.Always() && m.keep(skill) {
			m.always = m.add(m.always, skill, true)
		}
	}
}

// minName is the length of the shortest name that a message is searched for, in bytes:
// shorter ones are words of every message.
const minName = 3

// namedIn returns the kept skills whose names are in a message, as whole words, the longest
// names first.
func namedIn(message string, all []*skills.Skill, keep func(*skills.Skill) bool) (named []*skills.Skill) {
	text := spaced(truncate.String(message, maxMessage))
	for _, skill := range all {
		if len(skill.Name) >= minName && skill.Of == nil && strings.Contains(text, spaced(skill.Name)) && keep(skill) {
			named = append(named, skill)
		}
	}
	slices.SortStableFunc(named, func(a, b *skills.Skill) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	return named
}

// spaced returns the words of a text in lower case, with a space around each.
func spaced(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(words, " ") + " "
}

// A match holds the text that a prompt gets for a message.
type match struct {
	request *request
	loader  *loader
	most    int                      // lines of skills that fit
	room    int                      // instructions
	keep    func(*skills.Skill) bool // reports whether a skill may be in the prompt

	fitting  []*skills.Skill // or the nearest, if doubtful
	always   []*skills.Skill // that their authors want always
	doubtful bool
	bodies   []*loaded
}

// add returns a list with a skill that is on none yet, and loads its instructions if there
// is room. A skill whose texts may not be passed on is not added: a caller who asks for it gets
// the reason.
func (m *match) add(list []*skills.Skill, skill *skills.Skill, load bool) []*skills.Skill {
	if slices.Contains(m.fitting, skill) || slices.Contains(m.always, skill) {
		return list
	}
	if !load || len(m.bodies) == m.room {
		if m.loader.texts(m.request.ctx, skill) != nil {
			return list
		}
		return append(list, skill)
	}
	body, err := m.loader.read(m.request.ctx, skill, "")
	if err != nil {
		return list
	}
	if strings.TrimSpace(body.Content) != "" {
		m.bodies = append(m.bodies, body)
	}
	return append(list, skill)
}

// result returns the match as text for a prompt, with the names of its skills as metadata
// for programs.
func (m *match) result() *mcp.CallToolResult {
	head := "Skills that fit this message; load_skill returns their instructions:"
	switch {
	case len(m.fitting) == 0:
		head = "No skill fits this message."
	case m.doubtful:
		head = "Probably no skill fits this message. The nearest are:"
	}
	text := head + catalogLines(m.fitting)
	if len(m.always) > 0 {
		text += "\n\nSkills for every message:" + catalogLines(m.always)
	}
	injected := []string{}
	for _, body := range m.bodies {
		injected = append(injected, body.Name)
		text += "\n\n" + body.prompt()
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}}
	result.Meta = mcp.NewMetaFromMap(map[string]any{
		"skills": qualifiedNames(m.fitting), "always": qualifiedNames(m.always), "loaded": injected, "doubtful": m.doubtful,
	})
	return result
}

// prompt returns the instructions for a prompt.
func (l *loaded) prompt() string {
	return fmt.Sprintf("<skill name=%q>\n%s%s\n</skill>", l.Name, l.header(), cutBody(l.text()))
}

// catalogLines lists skills, one on each line.
func catalogLines(list []*skills.Skill) string {
	var b strings.Builder
	for _, skill := range list {
		fmt.Fprintf(&b, "\n- %s: %s", skill.QualifiedName(), line(skill.Description))
	}
	return b.String()
}

// cutBody bounds the instructions of a skill.
func cutBody(text string) string {
	if len(text) <= maxInjectedText {
		return text
	}
	return truncate.String(text, maxInjectedText) + "\n\n(The rest is left out; load_skill returns all.)"
}

func qualifiedNames(list []*skills.Skill) []string {
	names := []string{}
	for _, skill := range list {
		names = append(names, skill.QualifiedName())
	}
	return names
}
