package connect

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// An Entry configures a client to reach a server: by starting a program, or by
// connecting to a running one.
type Entry struct {
	Command string // absolute path of a program, or its name in PATH
	Args    []string

	URL string // of an MCP endpoint, http or https; "" if the client starts Command
	// TokenVariable names the client's environment variable with the bearer token
	// for URL; "" for none. Token is the token itself, for the person's own file.
	TokenVariable, Token string
}

// variableName matches the variable names that every client accepts.
var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns an error if the client would misread the entry.
func (e Entry) check(c Client) error {
	if e.URL != "" {
		if err := e.checkURL(c); err != nil {
			return err
		}
	}
	if !c.expands {
		return nil
	}
	for _, word := range append([]string{e.Command, e.URL, e.Token}, e.Args...) {
		if strings.Contains(c.withoutWorkspace(word), "$") {
			return fmt.Errorf("%q has a $, which %s replaces; use one without", word, c.Title)
		}
	}
	return nil
}

// withoutWorkspace cuts the client's workspace variable off the start of a path.
func (c Client) withoutWorkspace(word string) string {
	rest, begins := strings.CutPrefix(word, c.WorkspaceVariable)
	if c.WorkspaceVariable != "" && begins && (rest == "" || rest[0] == '/') {
		return rest
	}
	return word
}

func (e Entry) checkURL(c Client) error {
	to, err := url.Parse(e.URL)
	switch {
	case err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "":
		return fmt.Errorf("%q is not the address of a server; write one like http://127.0.0.1:8765/mcp", e.URL)
	case to.User != nil || to.Fragment != "":
		return fmt.Errorf("%q has a name or a fragment in it, which clients do not send; leave that out", to.Redacted())
	case c.http.key == "":
		return fmt.Errorf("the file of %s has programs to start, and no addresses; leave the address out", c.Title)
	case e.TokenVariable == "":
		return nil
	case c.http.token == nil:
		return fmt.Errorf("%s does not take a token from a variable; leave it out, and write it into the entry by hand", c.Title)
	case !variableName.MatchString(e.TokenVariable):
		return fmt.Errorf("%q is not the name of a variable; write one like SKILLS_MCP_TOKEN", e.TokenVariable)
	}
	return nil
}

// fields returns the entry in the notation of the client's file.
func (c Client) fields(e Entry) fields {
	kind, written := "stdio", fields{{"command", e.Command}, {"args", e.Args}}
	if e.URL != "" {
		kind, written = "http", fields{{c.http.key, e.URL}}
		if e.TokenVariable != "" && c.http.token != nil {
			written = append(written, c.http.token(e.TokenVariable))
		}
		if e.Token != "" {
			written = append(written, field{cmp.Or(c.http.headers, "headers"), fields{{"Authorization", "Bearer " + e.Token}}})
		}
	}
	if c.typed {
		written = slices.Insert(written, 0, field{"type", kind})
	}
	return written
}

// same reports whether an entry of a file starts a program of the same name, in any
// folder, or has the same address.
func (e Entry) same(c Client, found any) bool {
	has, _ := found.(map[string]any)
	if e.URL != "" {
		return has[c.http.key] == e.URL
	}
	command, _ := has["command"].(string)
	return programName(command) == programName(e.Command)
}

// programName returns a path's last element without ".exe", for paths of any
// system.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(strings.ToLower(path), ".exe")
}
