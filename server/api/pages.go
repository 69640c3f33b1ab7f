package api

import (
	"strconv"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// limit returns the number of items of a page: that of a query, within bounds.
func limit(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// pageOf returns a page of at most most items, and the cursor of the next one: the number of
// items before it. The cursor "" is that of the first page.
func pageOf[T any](items []T, cursor string, most int) (page []T, next string, err error) {
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return nil, "", &run.Error{Code: run.InvalidParam, Message: `"cursor" is none of this list's; use the next of the page before, or leave it out to begin`}
		}
	}
	from = min(from, len(items))
	end := min(from+most, len(items))
	if end < len(items) {
		next = strconv.Itoa(end)
	}
	return items[from:end], next, nil
}
