package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf8"
)

// protocolMembers are the members of messages that the protocol defines, by their
// names in lower case.
//
// encoding/json, mcp-go's decoder, accepts "Method" for "method", and the last of two
// equal names. A gateway in front of the server compares exactly, or uses the first: it
// would check another message than the one that is served. So a message on which
// decoders could differ is refused.
var protocolMembers = sync.OnceValue(func() map[string]string {
	members := map[string]string{}
	for _, name := range []string{
		"jsonrpc", "id", "method", "params", "result", "error", // of messages
		"_meta", "arguments", "cursor", "level", "name", "uri", // of params
		"inputResponses", "requestState", "task", "taskId", "ttl",
		"argument", "context", "ref", "type", "value", // of completion/complete
		"progress", "progressToken", "reason", "requestId", "total", // of notifications
		"notifications", "promptsListChanged", "resourceSubscriptions", "resourcesListChanged", "taskIds", "toolsListChanged",
		"protocolVersion", "capabilities", "clientInfo", // of initialize
		"description", "icons", "mimeType", "sizes", "src", "theme", "title", "version", "websiteUrl",
		"call", "cancel", "create", "createMessage", "elicitation", "experimental", "extensions", "form", "list", "listChanged",
		"requests", "roots", "sampling", "tasks", "tools", "url",
		"action", "content", "message", "model", "resultType", "role", "stopReason", // of responses
		"code", "data",
	} {
		members[string(fold(nil, []byte(name)))] = name
	}
	return members
})

// fold appends name in lower case as encoding/json compares it with the names of
// fields: two letters outside of ASCII count as letters of it.
func fold(to, name []byte) []byte {
	for _, r := range string(name) {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r == 'ſ':
			r = 's'
		case r == '\u212a': // Kelvin
			r = 'k'
		}
		to = utf8.AppendRune(to, r)
	}
	return to
}

// A scope says who defines the members of an object.
type scope int

const (
	ofProtocol scope = iota
	ofOthers         // a skill's arguments, a person's form, other people's extensions
	ofMeta           // _meta: some of its members are the protocol's, whole
	ofAnswers        // named by the server; the members inside are the protocol's
)

// within returns the scope inside the member name of an object of scope s.
func (s scope) within(name []byte) scope {
	switch s {
	case ofOthers:
		return ofOthers
	case ofAnswers:
		return ofProtocol
	case ofMeta:
		if bytes.HasPrefix(name, []byte("io.modelcontextprotocol/")) {
			return ofProtocol
		}
		return ofOthers
	}
	switch string(name) {
	case "arguments", "content", "data", "experimental", "extensions":
		return ofOthers
	case "_meta":
		return ofMeta
	case "inputResponses":
		return ofAnswers
	}
	return ofProtocol
}

// ambiguous returns an error for valid JSON on which decoders could differ: an object,
// at any depth, has a member twice, or one that differs from the protocol's in case
// alone.
func ambiguous(valid []byte) error {
	var room [maxCompared][]byte
	r := exactReader{rest: valid, keys: room[:0]}
	r.value(ofProtocol)
	return r.err
}

// An exactReader reads valid JSON once.
type exactReader struct {
	rest []byte
	err  error    // the first
	keys [][]byte // the names of the objects around it that are compared, inner ones last
}

func (r *exactReader) value(s scope) {
	r.space()
	switch r.rest[0] {
	case '{':
		r.object(s)
	case '[':
		r.array(s)
	case '"':
		r.string()
	default:
		end := bytes.IndexAny(r.rest, ",]} \t\r\n")
		if end < 0 {
			end = len(r.rest)
		}
		r.rest = r.rest[end:]
	}
}

func (r *exactReader) space() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\n' || r.rest[0] == '\t' || r.rest[0] == '\r') {
		r.rest = r.rest[1:]
	}
}

// next skips the token c and the space around it, and reports whether it was there.
func (r *exactReader) next(c byte) bool {
	r.space()
	if r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	r.space()
	return true
}

func (r *exactReader) array(s scope) {
	r.next('[')
	for r.err == nil && !r.next(']') {
		r.value(s)
		r.next(',')
	}
}

// string reads a string and returns it with its quotes.
func (r *exactReader) string() []byte {
	for i := 1; ; i++ {
		i += bytes.IndexByte(r.rest[i:], '"')
		if slashes := i - len(bytes.TrimRight(r.rest[:i], `\`)); slashes%2 == 0 {
			s := r.rest[:i+1]
			r.rest = r.rest[i+1:]
			return s
		}
	}
}

// maxCompared is the number of names of an object that are compared with each other;
// more go into a map.
const maxCompared = 16

func (r *exactReader) object(s scope) {
	first := len(r.keys)
	var seen map[string]bool // nil for few
	for r.next('{'); r.err == nil && !r.next('}'); r.next(',') {
		name := unquoted(r.string())
		if seen == nil && len(r.keys)-first == maxCompared {
			seen = map[string]bool{}
			for _, other := range r.keys[first:] {
				seen[string(other)] = true
			}
		}
		if r.has(seen, r.keys[first:], name) {
			r.err = fmt.Errorf("the member %.100q is there twice", name)
			return
		}
		if s == ofProtocol {
			r.check(name)
		}
		if seen == nil {
			r.keys = append(r.keys, name)
		}
		r.next(':')
		r.value(s.within(name))
	}
	r.keys = r.keys[:first]
}

// has reports whether name is among an object's earlier names, in seen or, if that is
// nil, in keys. It adds name to seen.
func (r *exactReader) has(seen map[string]bool, keys [][]byte, name []byte) bool {
	if seen != nil {
		found := seen[string(name)]
		seen[string(name)] = true
		return found
	}
	for _, other := range keys {
		if bytes.Equal(other, name) {
			return true
		}
	}
	return false
}

func (r *exactReader) check(name []byte) {
	var low [32]byte
	member, ok := protocolMembers()[string(fold(low[:0], name))]
	if ok && member != string(name) && r.err == nil {
		r.err = fmt.Errorf("the member %q must be spelt %q", name, member)
	}
}

// unquoted returns the text of a valid string with quotes, as encoding/json decodes it.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	return []byte(text)
}
