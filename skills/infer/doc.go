package infer

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The limits of a script's documentation.
const (
	maxDoc   = 2 << 10 // bytes
	maxLines = 40
)

// doc returns the docstring or the comment at the top of a script with this module, which
// may be nil.
func doc(kind Kind, text string, m module) string {
	text = afterShebang(text)
	if python, ok := m.(*python.Module); ok {
		if docstring := python.Docstring(); docstring != "" {
			return tidy(docstring)
		}
	}
	if kind == Node {
		return tidy(nodeComment(text))
	}
	return tidy(comment(text, "#"))
}

func afterShebang(text string) string {
	if strings.HasPrefix(text, "#!") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// nodeComment returns the first comment of a JavaScript file.
func nodeComment(text string) string {
	text = strings.TrimSpace(text)
	for _, directive := range []string{`"use strict";`, `'use strict';`} {
		text = strings.TrimSpace(strings.TrimPrefix(text, directive))
	}
	block, ok := strings.CutPrefix(text, "/*")
	if !ok {
		return comment(text, "//")
	}
	block, _, ok = strings.Cut(block, "*/")
	if !ok {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(block) {
		line = strings.TrimLeft(strings.TrimRight(line, " \t\n"), " \t*")
		b.WriteString(line + "\n")
	}
	return b.String()
}

// comment returns the first block of comment lines that is not empty, without their
// mark. Lines between "# ///" are metadata (PEP 723).
func comment(text, mark string) string {
	var b strings.Builder
	metadata := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		rest, ok := strings.CutPrefix(line, mark)
		if strings.HasPrefix(line, "# ///") {
			metadata = !metadata
			continue
		}
		switch {
		case metadata:
			continue
		case !ok && line != "", !ok && strings.TrimSpace(b.String()) != "":
			return b.String()
		case !tools.MatchString(rest):
			b.WriteString(strings.TrimPrefix(rest, " ") + "\n")
		}
		if b.Len() > 2*maxDoc {
			break
		}
	}
	return b.String()
}

// tools matches comment lines for programs or lawyers.
var tools = lazyregexp.New(`(?i)^\s*(?:-\*-|shellcheck |pylint:|ruff:|mypy:|type:|noqa|eslint|prettier|vim?:|coding[:=]|SPDX-|copyright |\(c\) |all rights reserved|licensed under )`)

// rule matches a line of nothing but ornament.
var rule = lazyregexp.New(`^\s*[-=#*~_+]{3,}\s*$`)

// tidy removes the common indentation, ornament and the empty lines at both ends, and
// bounds the text.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	lines[0] = strings.TrimSpace(lines[0]) // a docstring's first line stands behind its quotes
	indent := commonIndent(lines[1:])
	var kept []string
	for i, line := range lines {
		if i > 0 {
			line = line[min(indent, len(line)):]
		}
		line = strings.TrimRight(line, " ")
		if rule.MatchString(line) || line == "" && len(kept) == 0 {
			continue
		}
		if kept = append(kept, line); len(kept) == maxLines {
			break
		}
	}
	return truncate.String(strings.TrimSpace(strings.Join(kept, "\n")), maxDoc)
}

func commonIndent(lines []string) int {
	indent := maxDoc
	for _, line := range lines {
		if text := strings.TrimLeft(line, " "); text != "" {
			indent = min(indent, len(line)-len(text))
		}
	}
	return indent
}
