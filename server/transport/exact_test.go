package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// An exact reader in front of the server and the server must see one message.
func TestAmbiguousMessages(t *testing.T) {
	message := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	many := func(name string) string {
		var b strings.Builder
		for i := range 50 {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return message(`{"name":"echo","arguments":{` + b.String() + `"` + name + `":0}}`)
	}
	twice := func(name string) string { return fmt.Sprintf("the member %q is there twice", name) }
	spelt := func(is, must string) string { return fmt.Sprintf("the member %q must be spelt %q", is, must) }
	for name, test := range map[string]struct{ line, want string }{
		"a method of another case":          {`{"jsonrpc":"2.0","id":1,"method":"server/discover","Method":"tools/call"}`, "1: " + spelt("Method", "method")},
		"a method twice":                    {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, "1: " + twice("method")},
		"a method twice, once with escapes": {`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, "1: " + twice("method")},
		"only of another case":              {`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, "1: " + spelt("METHOD", "method")},
		"an id twice":                       {`{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, "2: " + twice("id")},
		"an id of another case":             {`{"jsonrpc":"2.0","id":1,"method":"ping","ID":2}`, "2: " + spelt("ID", "id")},
		"params of another case":            {`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"echo"}}`, "1: " + spelt("Params", "params")},
		"a long s":                          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"echo"}}`, "1: " + spelt("paramſ", "params")},
		"a Kelvin":                          {message(`{"name":"echo","ta\u212ak":{}}`), "1: error"},
		"a name of another case":            {message(`{"name":"echo","Name":"panic"}`), "1: " + spelt("Name", "name")},
		"arguments of another case":         {message(`{"name":"echo","Arguments":{"tag":"x"}}`), "1: " + spelt("Arguments", "arguments")},
		"_meta of another case":             {message(`{"name":"echo","_Meta":{"progressToken":1}}`), "1: " + spelt("_Meta", "_meta")},
		"_meta's members twice":             {message(`{"name":"echo","_meta":{"progressToken":1,"progressToken":2}}`), "1: " + twice("progressToken")},
		"what the client is":                {message(`{"name":"echo","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"a","Name":"b"}}}`), "1: " + spelt("Name", "name")},
		"what the client can":               {message(`{"name":"echo","_meta":{"io.modelcontextprotocol/clientCapabilities":{"Elicitation":{}}}}`), "1: " + spelt("Elicitation", "elicitation")},
		"an answer of another case":         {message(`{"name":"echo","inputResponses":{"Name":{"action":"decline","Action":"accept"}}}`), "1: " + spelt("Action", "action")},
		"arguments' members twice":          {message(`{"name":"echo","arguments":{"tag":"a","tag":"b"}}`), "1: " + twice("tag")},
		"the same deep within":              {message(`{"name":"echo","arguments":{"tag":[{"a":{"b":1,"b":2}}]}}`), "1: " + twice("b")},
		"the same of many":                  {many("k7"), "1: " + twice("k7")},
		"many":                              {many("k"), `1: {"content":[{"type":"text","text":""}]}`},
		"arguments' own case":               {message(`{"name":"echo","arguments":{"tag":"a","Tag":"b","Name":1,"name":2}}`), text("1", "a")},
		"_meta of others":                   {message(`{"name":"echo","_meta":{"acme/x":{"Name":1,"name":2},"Name":3}}`), text("1", "")},
		"answers named by the server":       {message(`{"name":"echo","inputResponses":{"Name":{"action":"accept","content":{"Name":1,"name":2}},"name":{}}}`), text("1", "")},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, newBench().backend(), nil).greet()
			c.send(test.line)
			got := strings.Replace(c.recv().String(), "error -32600: ", "", 1)
			if name == "a Kelvin" { // a letter more: another name
				test.want = text("1", "")
			}
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			c.hangUp()
		})
	}
}

func TestFoldIsAsEncodingJSONHasIt(t *testing.T) {
	for _, name := range []string{"task", "params", "taſk", "tas\u212a", "TASK", "tåsk", "Params ", "paramſ"} {
		for _, member := range []string{"task", "params"} {
			if got, want := string(fold(nil, []byte(name))) == member, takenFor(t, name, member); got != want {
				t.Errorf("%q for %q: %t, want %t", name, member, got, want)
			}
		}
	}
}

// takenFor reports whether encoding/json takes a member for another.
func takenFor(t *testing.T, name, member string) bool {
	t.Helper()
	encoded, err := json.Marshal(map[string]int{name: 1})
	if err != nil {
		t.Fatal(err)
	}
	into := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + member + `"`)}}))
	if err := json.Unmarshal(encoded, into.Interface()); err != nil {
		t.Fatal(err)
	}
	return into.Elem().Field(0).Int() == 1
}

// TestProtocolMembersAreAll finds every member of mcp-go's request types in the list.
func TestProtocolMembersAreAll(t *testing.T) {
	var names func(of reflect.Type, seen map[reflect.Type]bool)
	names = func(of reflect.Type, seen map[reflect.Type]bool) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || !field.IsExported() {
				continue
			}
			if name != "" && protocolMembers()[string(fold(nil, []byte(name)))] != name {
				t.Errorf("%s of %s is missing", name, of)
			}
			names(field.Type, seen)
		}
	}
	seen := map[reflect.Type]bool{}
	for _, of := range []any{
		mcp.InitializeRequest{}, mcp.DiscoverRequest{}, mcp.SubscriptionsListenRequest{}, mcp.SetLevelRequest{}, mcp.PaginatedRequest{},
		mcp.CallToolRequest{}, mcp.CallToolParams{}, mcp.GetPromptRequest{}, mcp.ReadResourceRequest{}, mcp.SubscribeRequest{},
		mcp.CompleteRequest{}, mcp.PromptReference{}, mcp.ResourceReference{}, mcp.CancelledNotification{}, mcp.ProgressNotification{},
		mcp.ElicitationResult{}, mcp.ListRootsResult{}, mcp.CreateMessageResult{}, mcp.GetTaskRequest{},
	} {
		names(reflect.TypeOf(of), seen)
	}
}

// Two headers of one name are two requests to who reads one of them.
func TestRepeatedHeaders(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	for _, name := range []string{"Mcp-Name", "Mcp-Method", "MCP-Protocol-Version", "Authorization", "Content-Type"} {
		v := s.modern()
		r := v.message(t.Context(), "1", "tools/call", callParams("echo", "{}"))
		r.Header.Set(name, r.Header.Get(name))
		r.Header.Add(name, "another")
		answer := v.do(r)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusBadRequest || !bytes.Contains(body, []byte(`"code":-32020,"message":"the header `+http.CanonicalHeaderKey(name)+` is there twice"`)) {
			t.Errorf("%s: %s %s", name, answer.Status, body)
		}
	}
}

// FuzzAmbiguous checks the reader against encoding/json: of a message that it
// accepts, encoding/json has the same members whether it reads exactly, into maps,
// or into structs, where case does not count.
func FuzzAmbiguous(f *testing.F) {
	for _, s := range []string{
		hello, `{"a":[{},{"b":"\\\""},-1.5e3,true,null ] , "c" : {"a":1}}`, `{"\u0061":1,"a":2}`, `[[],[1,{"Name":1}]]`, `"x"`, `{"tas` + "\u212a" + `":{"x":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"Name":1},"inputResponses":{"Name":{"action":"accept"}},` + modernMeta + `}}`,
		`{"\ud800":1,"\udfff":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var root any
		if !utf8.Valid(data) || json.Unmarshal(data, &root) != nil { // neither is asked
			return
		}
		found := ambiguous(data)
		var twice, spelt bool
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		walk(t, d, ofProtocol, &twice, &spelt)
		if (found != nil) != (twice || spelt) {
			t.Errorf("%v, but twice %t, in other letters %t", found, twice, spelt)
		}
	})
}

// walk looks for the same in a value as a token reader has it.
func walk(t *testing.T, d *json.Decoder, s scope, twice, spelt *bool) {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('['):
		for d.More() {
			walk(t, d, s, twice, spelt)
		}
		_, _ = d.Token()
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			token, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			name := token.(string)
			*twice = *twice || seen[name]
			seen[name] = true
			for _, member := range protocolMembers() {
				if s == ofProtocol && name != member && len(name) < 3*len(member) && takenFor(t, name, member) {
					*spelt = true
				}
			}
			walk(t, d, s.within([]byte(name)), twice, spelt)
		}
		_, _ = d.Token()
	}
}
