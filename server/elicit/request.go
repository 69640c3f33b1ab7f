package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// The methods of the requests.
const (
	methodPerson = string(mcp.MethodElicitationCreate)
	methodModel  = string(mcp.MethodSamplingCreateMessage)
	methodRoots  = string(mcp.MethodListRoots)
)

// A Request is one request of a question, as MCP has it.
type Request struct {
	Method string          // elicitation/create, sampling/createMessage or roots/list
	Params json.RawMessage // an object that is fit to be sent
	Put    time.Time       // when the client got it; set by its Asker before the answer
	// Once reports that an answer that the form does not allow is the answer, and not asked
	// for again.
	Once bool
	// Fresh reports that nothing of the call has run: if its server ends, another one makes it
	// anew with the answer.
	Fresh bool

	content  *schema.Schema // of an accepted form; nil for a link
	confirms bool           // a skill's question that is answered by yes or no
}

// Form returns the message and the schema of a request to a person.
func (r *Request) Form() (message string, schema json.RawMessage) {
	var form formParams
	_ = json.Unmarshal(r.Params, &form) // which was encoded here
	return form.Message, form.Schema
}

// maxMessage is the longest message to a person, in bytes.
const maxMessage = 4 << 10

// asked returns the party that a method asks.
func asked(method string) (skills.Asked, error) {
	switch method {
	case methodPerson:
		return skills.AskPerson, nil
	case methodModel:
		return skills.AskModel, nil
	case methodRoots:
		return skills.AskRoots, nil
	}
	return "", fmt.Errorf("%q is nothing that can be asked by; use %s, %s or %s", method, methodPerson, methodModel, methodRoots)
}

// newRequest checks a skill's request and returns it as it is sent.
func newRequest(skill, method string, params json.RawMessage) (*Request, error) {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	switch method {
	case methodPerson:
		return newForm(skill, params)
	case methodModel:
		if err := checkShape("sampling", params); err != nil {
			return nil, err
		}
		return &Request{Method: method, Params: params}, nil
	}
	if err := checkShape("roots", params); err != nil {
		return nil, err
	}
	return &Request{Method: method, Params: params}, nil
}

// formParams are the params of a request to a person (elicitation, form mode).
type formParams struct {
	Mode    string          `json:"mode,omitempty"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema,omitempty"` // that of a confirmation where it is left out
}

// confirmation is the schema of a question that is answered by yes or no. The answer is
// required: a client that accepts every form, as it is, says nothing by that.
const confirmation = `{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}`

// settled returns the answer for the script: a no in the form is a decline.
func (r *Request) settled(answer json.RawMessage) json.RawMessage {
	var filled struct {
		Action  string
		Content struct{ Answer string }
	}
	if r.confirms && json.Unmarshal(answer, &filled) == nil && filled.Action == "accept" && filled.Content.Answer != "yes" {
		return json.RawMessage(`{"action":"decline"}`)
	}
	return answer
}

// newForm returns a request to a person, labelled with the skill that asks: a stranger's
// text must not look like the client's or the server's own.
func newForm(skill string, params json.RawMessage) (*Request, error) {
	var form formParams
	if err := decodeStrictly(params, &form); err != nil {
		return nil, err
	}
	switch {
	case form.Mode != "" && form.Mode != mcp.ElicitationModeForm:
		return nil, fmt.Errorf("the mode %q is not offered; only forms are", form.Mode)
	case form.Message == "":
		return nil, errors.New("the message is empty; write what is asked")
	case len(form.Message) > maxMessage || !utf8.ValidString(form.Message):
		return nil, fmt.Errorf("the message is longer than %d bytes, or not UTF-8", maxMessage)
	}
	if len(form.Schema) == 0 {
		form.Schema = json.RawMessage(confirmation)
	}
	form.Schema = formSpace.ReplaceAllFunc(form.Schema, oneSpace)
	content, err := compileForm(form.Schema)
	if err != nil {
		return nil, err
	}
	var fields struct{ Properties map[string]json.RawMessage }
	confirms := string(form.Schema) == confirmation || json.Unmarshal(form.Schema, &fields) == nil && len(fields.Properties) == 0
	if confirms {
		form.Schema = json.RawMessage(confirmation)
		if content, err = compileForm(form.Schema); err != nil {
			return nil, err
		}
	}
	if form.Message, err = labelled(skill, form.Message); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	return &Request{Method: methodPerson, Params: encoded, content: content, confirms: confirms}, nil
}

const (
	// maxLines is the number of lines of a message to a person, so that its first, the
	// name of the skill, stays in sight.
	maxLines = 32
	// maxIndented bounds the indent of a line.
	maxIndented = 8
)

// labelled returns a message with the skill's name before it. Several lines are each
// marked as the skill's, so that none looks like another label.
func labelled(skill, message string) (string, error) {
	var lines []string
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(termtext.Text(message)), "\n") {
		line = oneLine(line)
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	label := fmt.Sprintf("Skill %s asks:", skill)
	switch {
	case len(lines) == 0:
		return "", errors.New("the message is empty; write what is asked")
	case len(lines) > maxLines:
		return "", fmt.Errorf("the message has more than %d lines", maxLines)
	case len(lines) == 1:
		return label + " " + strings.TrimSpace(lines[0]), nil
	}
	return label + "\n> " + strings.Join(lines, "\n> "), nil
}

// oneLine returns a line without runs of blanks, after which text could look like
// another line.
func oneLine(line string) string {
	text := strings.TrimLeftFunc(line, isBlank)
	indent := min(utf8.RuneCountInString(line[:len(line)-len(text)]), maxIndented)
	text = strings.Join(strings.FieldsFunc(text, isBlank), " ")
	if text == "" {
		return ""
	}
	return strings.Repeat(" ", indent) + text
}

// isBlank reports whether a character is invisible but has a width.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\u2800' }

// formSpace matches blanks in the JSON of a form, whose texts all have one line, and
// escaped backslashes, so that none begins an escaped blank.
var formSpace = lazyregexp.New(`\\\\|(?:\\[nrt]|\\u(?:000[9aAdD]|00[aA]0|200[0-9aA]|202[89]|2800|3000)|[\s\p{Z}\x{2800}])+`)

func oneSpace(blanks []byte) []byte {
	if bytes.HasPrefix(blanks, []byte(`\\`)) {
		return blanks
	}
	return []byte(" ")
}

// decodeStrictly decodes an object without unknown fields, and with nothing after it.
func decodeStrictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("it is not understood: there is a %s where something else belongs", wrong.Value)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is not understood: it ends too early; a question is one line of JSON")
	case err != nil:
		return fmt.Errorf("it is not understood: %s", strings.TrimPrefix(err.Error(), "json: "))
	case decoder.More():
		return errors.New("it is not understood: there is something after it; write one question a line")
	}
	return nil
}

// Check returns the fault of a client's answer, or nil.
func (r *Request) Check(answer json.RawMessage) error {
	switch r.Method {
	case methodPerson:
		return r.checkForm(answer)
	case methodModel:
		return checkShape("sampled", answer)
	}
	return checkShape("rooted", answer)
}

func (r *Request) checkForm(answer json.RawMessage) error {
	if err := checkShape("filled", answer); err != nil {
		return err
	}
	var filled map[string]json.RawMessage // whose keys are exact
	if err := json.Unmarshal(answer, &filled); err != nil {
		return err
	}
	content := filled["content"]
	switch {
	case string(filled["action"]) != `"accept"`, r.content == nil:
		return nil
	case len(content) == 0 || string(content) == "null":
		content = json.RawMessage("{}")
	}
	if err := r.content.Check(content); err != nil {
		return fmt.Errorf("the content does not fit the form: %w", err)
	}
	return nil
}
