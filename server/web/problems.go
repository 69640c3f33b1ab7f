package web

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxSource  = 256 << 10 // bytes of a file that is looked at for its line
	maxLine    = 100       // characters of the line that are shown
	maxMessage = 500       // bytes
)

// A shownProblem is a problem with the line that it is about.
type shownProblem struct {
	skills.Problem
	Source string // the line, with a caret below the column; "" where it cannot be read
}

// newShownProblem returns a problem with its line, as the file has it now.
func newShownProblem(p skills.Problem) shownProblem {
	p.Message, p.Remedy = truncate.String(p.Message, maxMessage), truncate.String(p.Remedy, maxMessage)
	s := shownProblem{Problem: p}
	if line, ok := readLine(p.Path, p.Line); ok {
		s.Source = quoteLine(line, p.Line, p.Col)
	}
	return s
}

// Where returns the path with line and column.
func (p shownProblem) Where() string {
	where := p.Path
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
	}
	if p.Line > 0 && p.Col > 0 {
		where += fmt.Sprintf(":%d", p.Col)
	}
	return where
}

// Tone returns the class of the severity's badge.
func (p shownProblem) Tone() string {
	switch p.Severity {
	case skills.Error:
		return "badge-bad"
	case skills.Warning:
		return "badge-warn"
	}
	return ""
}

// readLine returns a line of a regular file. It follows no link: a stranger's folder could
// have one out of it.
func readLine(path string, number int) (string, bool) {
	if number < 1 {
		return "", false
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSource))
	for range number - 1 {
		var more bool
		if _, text, more = bytes.Cut(text, []byte("\n")); !more {
			return "", false
		}
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimRight(string(line), "\r"), err == nil && utf8.Valid(line)
}

// quoteLine returns a line with its number, cut around a column, and a caret below that.
func quoteLine(line string, number, col int) string {
	runes := []rune(strings.ReplaceAll(line, "\t", " "))
	from := max(0, min(col-1, len(runes))-maxLine/2)
	to := min(len(runes), from+maxLine)
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(runes) {
		after = "…"
	}
	margin := fmt.Sprintf("%d | ", number)
	shown := margin + before + termtext.Visible(string(runes[from:to])) + after
	if col < 1 || col-1 > len(runes) {
		return shown
	}
	ahead := margin + before + termtext.Visible(string(runes[from:col-1]))
	return shown + "\n" + strings.Repeat(" ", utf8.RuneCountInString(ahead)) + "^"
}
