package server

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// cursorArgs are the arguments of a list that has nothing to choose.
type cursorArgs struct {
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next_cursor of the page before."`
}

// sourceArgs are the arguments that choose skills by their source.
type sourceArgs struct {
	Source string `json:"source,omitempty" jsonschema:"enum=session,enum=user,enum=system,enum=extra,enum=plugin" jsonschema_description:"Only skills of this source, or of plugins."`
}

func (a sourceArgs) keeps(skill *skills.Skill) bool {
	return a.Source == "" || string(skill.Source) == a.Source || a.Source == "plugin" && skill.Plugin != ""
}

// Bounds of one page of a list: of skills for a model, or of prompts/list. Clients make
// each prompt an entry of a menu, and some read the first page only; [anyPrompt] reaches
// the rest.
const (
	maxPage     = 100
	maxPageSize = 32 << 10 // bytes
)

// pageOf returns the items from a cursor on, at most most and as many as fit on a page, and
// the cursor of the next page.
func pageOf[I, O any](items []I, cursor string, most int, show func(I) O) (page []O, next string, err error) {
	page = []O{}
	from, ok := position(mcp.Cursor(cursor))
	if !ok || from > len(items) {
		return page, "", &run.Error{Code: run.InvalidParam, Message: `"cursor" is none of this list's; leave it out to begin`}
	}
	size := 0
	for i, item := range items[from:] {
		shown := show(item)
		size += len(encoded(shown))
		if i == most || size > maxPageSize && i > 0 {
			return page, base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(from + i))), nil
		}
		page = append(page, shown)
	}
	return page, "", nil
}

// position decodes a cursor to the number of items before it.
func position(cursor mcp.Cursor) (n int, ok bool) {
	if cursor == "" {
		return 0, true
	}
	text, err := base64.StdEncoding.DecodeString(string(cursor))
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(string(text))
	return n, err == nil && n > 0
}

// encoded returns a value as clients receive it.
func encoded(list any) []byte {
	text, _ := json.Marshal(list) // of types that mcp-go encodes, too
	return text
}

// maxSummary bounds the part of a description that a list shows, in bytes.
const maxSummary = 240

// line returns a text as a line of a menu.
func line(text string) string { return termtext.Line(text, maxSummary) }
