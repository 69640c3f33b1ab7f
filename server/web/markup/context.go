package markup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
)

// A place is a place of an HTML document, by what may follow there.
type place int

const (
	inText  place = iota
	inTag         // after an element's name, between attributes
	inValue       // in a quoted attribute value
	inRaw         // in a script or a style
)

// A part is a part of a URL, by which characters are encoded in it.
type part int

const (
	noURL   part = iota
	begin        // nothing of the URL stands yet
	address      // before the query
	query        // the query or the fragment
)

// A context is the place of an execution in its document, by the text of templates that it has
// written.
type context struct {
	place place
	raw   string // script or style, in its tag and in its text
	url   part   // of the value
}

// addresses returns the attributes whose values are URLs, by the HTML standard's
// index of attributes.
func addresses() []string {
	return []string{"action", "background", "cite", "data", "formaction", "href", "manifest", "ping", "poster", "src", "srcset", "xlink:href"}
}

// escape escapes text and attribute values, as html/template does.
func escape(value string) string {
	return strings.NewReplacer("\x00", "\uFFFD", "+", "&#43;").Replace(html.EscapeString(value))
}

// escapeURL escapes a URL, which has to be a path or a fragment of the page's own server;
// for any other it returns "#".
func escapeURL(value string) string {
	local := strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") && !strings.HasPrefix(value, `/\`)
	if !local && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?") {
		return "#"
	}
	return escapePath(value)
}

// escapePath escapes a part of a URL that may have separators of its own, and
// encoded characters.
func escapePath(value string) string { return escape(encode(value, "!#$&*+,/:;=?@[]%")) }

// escapeQuery escapes one value of a query.
func escapeQuery(value string) string { return escape(encode(value, "")) }

// encode encodes the characters that are not reserved for URLs (RFC 3986, section 2.3)
// nor in keep. A "%" is kept only before two hexadecimal digits.
func encode(value, keep string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0,
			strings.IndexByte(keep, c) >= 0 && (c != '%' || isEncoded(value[i:])):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

// isEncoded reports whether a text begins with an encoded character, such as "%2f".
func isEncoded(text string) bool {
	_, err := hex.DecodeString(text[1:min(3, len(text))])
	return err == nil && len(text) > 2
}

// after returns the context after a piece of the document.
func (c context) after(text string) (context, error) {
	var err error
	for text != "" && err == nil {
		switch c.place {
		case inText:
			c, text, err = c.openTag(text)
		case inTag:
			c, text, err = c.attribute(text)
		case inValue:
			value, rest, ends := strings.Cut(text, `"`)
			switch {
			case c.url != noURL && strings.ContainsAny(value, "?#"):
				c.url = query
			case c.url == begin && value != "":
				c.url = address
			}
			if text = rest; ends {
				c = context{place: inTag, raw: c.raw}
			}
		case inRaw:
			if _, rest, ends := strings.Cut(text, "</"+c.raw); ends {
				c, text = context{place: inTag}, rest
			} else {
				text = ""
			}
		}
	}
	return c, err
}

// openTag passes text to the next tag, and its name.
func (c context) openTag(text string) (context, string, error) {
	_, text, found := strings.Cut(text, "<")
	if !found {
		return c, "", nil
	}
	if strings.HasPrefix(text, "!--") {
		return c, "", errors.New("a comment of HTML cannot be used; {{/* */}} can")
	}
	end := strings.IndexAny(text, " \t\n>")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return c, "", errors.New(`the name of a tag has to follow "<", which is written &lt; in text`)
	}
	c = context{place: inTag}
	if name := strings.ToLower(text[:end]); name == "script" || name == "style" {
		c.raw = name
	}
	return c, text[end:], nil
}

// attribute passes the name of the next attribute and the quote of its value, or the end
// of the tag.
func (c context) attribute(text string) (context, string, error) {
	text = strings.TrimLeft(text, " \t\n/")
	if text == "" {
		return c, "", nil
	}
	if rest, ends := strings.CutPrefix(text, ">"); ends {
		if c.raw != "" {
			return context{place: inRaw, raw: c.raw}, rest, nil
		}
		return context{}, rest, nil
	}
	end := strings.IndexAny(text, " \t\n/>=")
	if end < 0 {
		end = len(text)
	}
	name, rest := strings.ToLower(text[:end]), text[end:]
	if !strings.HasPrefix(rest, "=") {
		return c, rest, nil
	}
	if rest = rest[1:]; name == "" || !strings.HasPrefix(rest, `"`) {
		return c, "", fmt.Errorf("the attribute %q has to have its value in double quotes", name)
	}
	if name == "style" || name == "srcdoc" || strings.HasPrefix(name, "on") {
		return c, "", fmt.Errorf("the attribute %s cannot be used", name)
	}
	value := context{place: inValue, raw: c.raw}
	if slices.Contains(addresses(), name) {
		value.url = begin
	}
	return value, rest[1:], nil
}
