package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// An Entry is how a client comes to a server: it starts a program, or connects
// to one that runs.
type Entry struct {
	Command string // absolute path of a program, or its name, which PATH leads to
	Args    []string

	URL string // of an MCP endpoint, http or https; "" where the client starts Command
	// TokenVariable is the variable of the client's environment with the bearer
	// token for URL; "" for none. The token itself is in no file.
	TokenVariable string
}

// remote is how a client writes a server that runs.
type remote struct {
	key string // of the address; "" where the client's file has programs alone
	// token is the field for a bearer token in a variable; nil where the client
	// puts no variables into what it sends.
	token func(variable string) field
}

// header is the field of a client that writes a variable as reference does.
func header(reference string) func(string) field {
	return func(variable string) field {
		return field{"headers", fields{{"Authorization", "Bearer " + fmt.Sprintf(reference, variable)}}}
	}
}

// variableName is what every client takes for the name of a variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses what the client would read as something else.
func (e Entry) check(c Client) error {
	if e.URL != "" {
		if err := e.checkURL(c); err != nil {
			return err
		}
	}
	if !c.expands {
		return nil
	}
	for _, word := range append([]string{e.Command, e.URL}, e.Args...) {
		if strings.Contains(c.withoutWorkspace(word), "$") {
			return fmt.Errorf("%q has a $, which %s replaces; use one without", word, c.Title)
		}
	}
	return nil
}

// withoutWorkspace cuts the client's variable off a path that begins with it.
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

// A field is a key of an entry in a file. Its value is text, a list of texts, or
// [fields].
type field struct {
	key   string
	value any
}

// fields are an entry in a file, its keys in the order that people write.
type fields []field

// fields are what the client's file has for an entry.
func (c Client) fields(e Entry) fields {
	kind, written := "stdio", fields{{"command", e.Command}, {"args", e.Args}}
	if e.URL != "" {
		kind, written = "http", fields{{c.http.key, e.URL}}
		if e.TokenVariable != "" && c.http.token != nil {
			written = append(written, c.http.token(e.TokenVariable))
		}
	}
	if c.typed {
		written = slices.Insert(written, 0, field{"type", kind})
	}
	return written
}

// fieldsOf returns an entry of a file as it was written here, nil for one that
// somebody else wrote or added to.
func (c Client) fieldsOf(found any) fields {
	has, _ := found.(map[string]any)
	for _, like := range []Entry{{Command: "c"}, {URL: "u"}, {URL: "u", TokenVariable: "V"}} {
		written := c.fields(like)
		all := len(written) == len(has)
		for i := range written {
			value, there := has[written[i].key]
			written[i].value, all = value, all && there
		}
		if all {
			return written
		}
	}
	return nil
}

// MarshalJSON keeps the order.
func (f fields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range f {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(encode(one.key, "", "") + ":" + encode(one.value, "", ""))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// is reports whether what a file has comes to the same server. What the client
// or the person added to it, as variables or approvals, is theirs.
func (f fields) is(found any) bool {
	has, ok := found.(map[string]any)
	if !ok {
		return false
	}
	var wanted map[string]any
	if json.Unmarshal([]byte(encode(f, "", "")), &wanted) != nil {
		return false
	}
	kind := "http"
	if _, starts := wanted["command"]; starts {
		kind = "stdio"
	}
	if found, typed := has["type"]; typed && found != kind {
		return false
	} else if !typed && kind == "stdio" {
		delete(wanted, "type") // which is what no type means
	}
	for key, value := range wanted {
		if !reflect.DeepEqual(has[key], value) {
			return false
		}
	}
	return true
}

// same reports whether an entry of a file starts a program of the same name, in
// whatever folder, or has the same address.
func (e Entry) same(c Client, found any) bool {
	has, _ := found.(map[string]any)
	if e.URL != "" {
		return has[c.http.key] == e.URL
	}
	command, _ := has["command"].(string)
	return programName(command) == programName(e.Command)
}

// programName is without folder and ".exe", of paths of every system.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(strings.ToLower(path), ".exe")
}
