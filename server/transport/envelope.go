package transport

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxID is the longest id accepted, in bytes. Replies echo it, and the replies
// that wait to be written are bounded by their number only.
const maxID = 1024

// validID reports whether id is one that MCP allows: a string or a number,
// never null.
func validID(id json.RawMessage) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	c := id[0]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// key returns the key of an id among the requests in flight: the id itself, with the
// escapes of a string decoded, because a client may spell the same string in two ways.
func key(id json.RawMessage) string {
	var s string
	if bytes.IndexByte(id, '\\') < 0 || json.Unmarshal(id, &s) != nil {
		return string(id)
	}
	return `"` + s + `"`
}

// An envelope finds the id of a message that cannot be decoded, because it is too long
// or not valid, so that its error has the id. It reads the message in parts, in
// constant memory. It has an id only for a message whose outermost object is complete
// and has exactly one.
type envelope struct {
	depth            int
	inString, escape bool
	member           bool   // the next string of the outermost object is a name
	name             string // of the outermost object's member
	text             []byte // of the string or number that is being read, where it matters
	tooLong          bool   // more than that was there
	id               json.RawMessage
	ids              int
	asks, answers    bool // has a method; a result or an error
	begun, wrong     bool
}

// envelopeOf returns the envelope of a complete message.
func envelopeOf(message []byte) *envelope {
	e := &envelope{}
	e.feed(message)
	return e
}

// ID returns the id, or nil.
func (e *envelope) ID() json.RawMessage {
	if !e.begun || e.wrong || e.depth != 0 || e.inString || e.ids != 1 || !validID(e.id) || !utf8.Valid(e.id) || !json.Valid(e.id) {
		return nil
	}
	return e.id
}

// isResponse reports whether the message answers a request of the server.
func (e *envelope) isResponse() bool { return e.answers && !e.asks }

func (e *envelope) feed(part []byte) {
	for len(part) > 0 && !e.wrong {
		switch {
		case e.inString:
			part = e.inside(part)
		case e.depth > 1: // nothing matters but where it ends
			i := bytes.IndexAny(part, `"{}[]`)
			if i < 0 {
				return
			}
			e.token(part[i])
			part = part[i+1:]
		default:
			e.token(part[0])
			part = part[1:]
		}
	}
}

// inside reads a part of a string, up to its end, and returns the rest of part.
func (e *envelope) inside(part []byte) []byte {
	if e.escape {
		e.escape = false
		e.keep(part[:1])
		return part[1:]
	}
	i := bytes.IndexAny(part, `"\`)
	if i < 0 {
		e.keep(part)
		return nil
	}
	e.keep(part[:i+1])
	if part[i] == '\\' {
		e.escape = true
		return part[i+1:]
	}
	e.inString = false
	if e.depth == 1 && e.member {
		e.named()
	}
	return part[i+1:]
}

// named is called at the end of a member's name. A name with escapes may be any.
func (e *envelope) named() {
	if e.wrong = bytes.IndexByte(e.text, '\\') >= 0; e.wrong {
		return
	}
	e.name, e.member = "", false
	if !e.tooLong {
		e.name = string(e.text[1 : len(e.text)-1])
	}
	e.text, e.tooLong = nil, false
	switch e.name {
	case "id":
		e.ids++
	case "method":
		e.asks = true
	case "result", "error":
		e.answers = true
	}
}

// keep stores the bytes of names and of the id.
func (e *envelope) keep(part []byte) {
	if e.depth != 1 || !e.member && e.name != "id" {
		return
	}
	if e.tooLong = e.tooLong || len(e.text)+len(part) > maxID; !e.tooLong {
		e.text = append(e.text, part...)
	}
}

// token reads a byte outside of strings.
func (e *envelope) token(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n', ':':
		return
	case '"':
		e.inString = true
		e.wrong = e.depth == 0
	case '{', '[':
		e.wrong = e.depth == 0 && (c == '[' || e.begun)
		e.begun, e.member = true, e.depth == 0
		if e.depth == 1 && e.name == "id" {
			e.tooLong = true // no id
		}
		e.depth++
		return
	case '}', ']':
		if e.depth == 1 {
			e.ended()
		}
		e.depth--
		e.wrong = e.depth < 0
		return
	case ',':
		if e.depth == 1 {
			e.ended()
			e.member = true
		}
		return
	default:
		e.wrong = e.depth == 0
	}
	e.keep([]byte{c})
}

// ended is called at the end of a member.
func (e *envelope) ended() {
	if e.name == "id" && !e.tooLong {
		e.id = e.text
	}
	e.name, e.text, e.tooLong = "", nil, false
}
