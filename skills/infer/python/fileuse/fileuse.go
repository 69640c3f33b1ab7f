// Package fileuse searches the tokens of a Python script for variables that name files:
// those that it opens, and those of which it uses a method of a path.
//
// Start with [Each].
package fileuse

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// code is the tokens of a source.
type code []syntax.Token

// text returns the text of the token at an index, "" where there is none.
func (c code) text(at int) string {
	if at < 0 || at >= len(c) {
		return ""
	}
	return c[at].Text
}

// Each calls found for the arguments that a script opens, open(args.out, "w"), and
// for those of which it uses a method of a path, Path(args.out).exists(). They are
// members in argparse, and plain names where the script reads its words itself.
func Each(tokens []syntax.Token, member bool, found func(name string, writes bool)) {
	c := code(tokens)
	for at := range c {
		if c.opens(at) {
			name, after := c.variable(at+2, member)
			if next := c.text(after); after > 0 && (next == "," || next == ")") {
				found(name, c.writes(after) || strings.HasSuffix(c[at].Text, "dirs") || c[at].Text == "mkdir")
			}
		}
		name, after := c.variable(at, member)
		if after > 0 && c.text(after) == ")" {
			after++
		}
		if method := c.text(after + 1); after > 0 && c.text(after) == "." && IsPathMethod(method) {
			found(name, strings.HasPrefix(method, "write") || method == "mkdir")
		}
	}
}

// variable returns the name of an argument that stands at an index, and the index
// after it: args.name where it is a member, else name. An index of 0 says that there
// is none.
func (c code) variable(at int, member bool) (name string, after int) {
	switch {
	case c[at].Kind != syntax.NameToken || !member && c.text(at-1) == ".":
		return "", 0
	case !member:
		return c[at].Text, at + 1
	case c.text(at+1) == "." && c[at+2].Kind == syntax.NameToken:
		return c[at+2].Text, at + 3
	}
	return "", 0
}

// opens reports whether a call of a function that opens or looks up files begins at
// an index.
func (c code) opens(at int) bool {
	if c.text(at+1) != "(" {
		return false
	}
	member := c.text(at-1) == "."
	switch c[at].Text {
	case "open", "Path", "read_csv", "read_excel", "read_json", "loadtxt", "glob":
		return true
	case "listdir", "walk", "scandir", "stat", "makedirs", "mkdir":
		return member && c.text(at-2) == "os"
	}
	return member && c.text(at-2) == "path" && c.text(at-4) == "os"
}

// writes reports whether the arguments of a call from an index on begin with the mode
// of a file that is written.
func (c code) writes(at int) bool {
	if c.text(at) != "," {
		return false
	}
	if at++; c.text(at) == "mode" {
		at += 2
	}
	mode := c.text(at)
	flag := strings.TrimLeft(mode, `"'rbt`)
	return strings.ContainsAny(mode[:min(1, len(mode))], `"'`) && strings.ContainsAny(flag[:min(1, len(flag))], "wax+")
}

// IsPathMethod reports whether paths have a method of this name that says that they
// name a file or a folder.
func IsPathMethod(name string) bool {
	switch name {
	case "exists", "is_file", "is_dir", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "iterdir", "rglob", "suffix", "parent", "resolve":
		return true
	}
	return false
}
