package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

type reader func(stream string) (*Reply, error)

func readOpenAI(stream string) (*Reply, error) {
	d := &draft{}
	return d.read(strings.NewReader(stream), d.openAI)
}

func readAnthropic(stream string) (*Reply, error) {
	d := &draft{}
	return d.read(strings.NewReader(stream), d.anthropic)
}

// stream returns events as a stream.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

// streams are streams of endpoints, each with its reply as text|name args…|usage, or an error.
var openAIStreams = map[string]string{
	// Endpoints that end without [DONE], or without a reason.
	stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`):                                                         "a||0 0",
	stream(`{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"):                                                                      "a||0 0",
	stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"eos"}]}`, "[DONE]"):                                                "a||0 0",
	"data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n: a comment\r\n\r\nevent: x\r\ndata: [DONE]\r\n\r\n":                "a||0 0",
	"data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n":                                              "a||0 0",
	stream(`{"choices":[{"delta":{"content":null,"refusal":"no"}}]}`, "[DONE]"):                                                      "no||0 0",
	stream(`{"choices":[{"index":1,"delta":{"content":"b"}},{"delta":{"content":"a"}}],"usage":null}`, "[DONE]", "nonsense"):         "a||0 0",
	stream(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":-5,"completion_tokens":9000000000000000000}}`, "[DONE]"): fmt.Sprintf("a||0 %d", maxTokens),
	// Calls that differ with one index, a name that is repeated, a whole call at once.
	stream(`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"{\"a\""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"id":"2","function":{"name":"g","arguments":":1}"}}]},"finish_reason":"tool_calls"}]}`): `|f {} g {"a":1}|0 0`,
	stream(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]}}]}`, "[DONE]"): `|f {} ![1]|0 0`,
	stream(`{"choices":[{"delta":{"content":"a"}}]}`):                                                        "its stream breaks off",
	stream(`{"choices":[{"delta":{"content":"a"}}]}`) + "data: [DONE]":                                       "its stream breaks off",
	stream(`{"choices":[{"delta":{"content":" \n"}}]}`, "[DONE]"):                                            "||0 0",
	stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"content_filter"}]}`):                       "the reply was withheld, for the reason content_filter",
	stream(`{"error":"the engine has died"}`):                                                                "its stream has an event that is not understood",
	stream(`{"choices":{}}`): "its stream has an event that is not understood",
	"":                       "its stream breaks off",
}

var anthropicStreams = map[string]string{
	stream(`{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation_input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}`,
		`{"type":"news"}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`, "nonsense"): "ab||12 9",
	// An endpoint that gives a call at once.
	stream(`{"type":"content_block_start","content_block":{"type":"tool_use","id":"1","name":"f","input":{"a":1}}}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`):                                                     `|f {"a":1}|0 0`,
	stream(`{"type":"content_block_start","content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"\"a\""}}`, `{"type":"message_stop"}`): `|f {} !"a"|0 0`,
	stream(`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}`):                                                                                                                                         "its stream continues block 3, which has not begun",
	stream(`{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`):                                                                                                                                                 "its stream breaks off",
	stream(`{"type":"message_start"}`, `{"type":"message_stop"}`):                                                                                                                                                                       "||0 0",
	stream(`{"type":"message_delta","delta":{"stop_reason":"refusal"}}`):                                                                                                                                                                "the reply was withheld, for the reason refusal",
	stream(`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`):                                                                                                                                          "the reply does not fit into the model's window",
	stream(`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`):                                                                                                                                                  "no",
	"": "its stream breaks off",
}

func TestStreams(t *testing.T) {
	t.Parallel()
	test := func(read reader, streams map[string]string) {
		for stream, want := range streams {
			reply, err := read(stream)
			if got := shown(reply, err); got != want && (err == nil || !strings.HasPrefix(got, want)) {
				t.Errorf("%s\n%s, want %s", stream, got, want)
			}
		}
	}
	test(readOpenAI, openAIStreams)
	test(readAnthropic, anthropicStreams)
}

// TestPassing: which errors in a stream may be gone at the next attempt.
func TestPassing(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]bool{
		`{"error":{"message":"busy","type":"overloaded_error"}}`:      true,
		`{"error":{"message":"busy","code":502}}`:                     true,
		`{"error":{"message":"busy","code":"429"}}`:                   true,
		`{"error":{"message":"busy","code":"rate_limit_exceeded"}}`:   true,
		`{"error":{"message":"no such parameter","code":400}}`:        false,
		`{"error":{"message":"no such parameter","code":"bad_name"}}`: false,
	} {
		_, err := readOpenAI(stream(event))
		if f, ok := errors.AsType[*failure](err); !ok || f.again != want {
			t.Errorf("%s is %#v", event, err)
		}
	}
}

// TestAnswers: the words for responses without a stream.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[[2]string]string{
		{"401 Unauthorized", `{"error":{"message":"invalid x-api-key"}}`}: "it answers 401 Unauthorized (is the value of its key right?): invalid x-api-key",
		{"404 Not Found", `{"detail":"Not Found"}`}:                       `it answers 404 Not Found (are its url and model right?): {"detail":"Not Found"}`,
		{"529 ", `{"error":{"message":"Overloaded"}}`}:                    "it answers 529: Overloaded",
		{"503 Service Unavailable", "\n"}:                                 "it answers 503 Service Unavailable",
	} {
		code, _ := strconv.Atoi(answer[0][:3])
		err := refusal(&http.Response{Status: answer[0], StatusCode: code, Body: io.NopCloser(strings.NewReader(answer[1]))})
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := readOpenAI(stream(`{"error":"the engine has died"}`)); err.Error() != "its stream has an event that is not understood: {\"error\":\"the engine has died\"}\n" {
		t.Error(err)
	}
}

func shown(r *Reply, err error) string {
	if err != nil {
		return err.Error()
	}
	var calls []string
	for _, c := range r.Calls {
		calls = append(calls, c.Name, string(c.Args))
		if c.Broken != "" {
			calls = append(calls, "!"+c.Broken)
		}
	}
	return fmt.Sprintf("%s|%s|%d %d", r.Text, strings.Join(calls, " "), r.Usage.Input, r.Usage.Output)
}

// TestBounds: each bound, at it and one beyond.
func TestBounds(t *testing.T) {
	t.Parallel()
	calls := func(n int) string {
		var events []string
		for i := range n {
			events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"%d","name":"f"}}`, i, i))
		}
		return stream(append(events, `{"type":"message_stop"}`)...)
	}
	if r, err := readAnthropic(calls(maxCalls)); err != nil || len(r.Calls) != maxCalls {
		t.Error(err)
	}
	if _, err := readAnthropic(calls(maxCalls + 1)); err == nil || !strings.Contains(err.Error(), "more than 128") {
		t.Error(err)
	}
	text := func(size int) string {
		around := stream(`{"choices":[{"delta":{"content":""}}]}`, "[DONE]")
		return stream(`{"choices":[{"delta":{"content":"`+strings.Repeat("a", size-len(around))+`"}}]}`, "[DONE]")
	}
	if r, err := readOpenAI(text(maxReply)); err != nil || len(r.Text) < maxReply-100 {
		t.Error(err)
	}
	d := &draft{most: 2 * maxReply / perToken} // a large reply in small events
	events := strings.Repeat(stream(`{"choices":[{"delta":{"content":"a"},"logprobs":null}],"usage":null}`), maxReply/70)
	if r, err := d.read(strings.NewReader(events+"data: [DONE]\n\n"), d.openAI); len(events) <= maxReply || err != nil || len(r.Text) != maxReply/70 {
		t.Errorf("%v of %d bytes", err, len(events))
	}
	for _, large := range []string{text(2 * maxReply), strings.Repeat(text(maxReply/2), 3), strings.Repeat("data: {}\n", maxReply/2), events} { // that has more tokens than it may
		d := &draft{most: 16 * maxReply / perToken}
		if large == events {
			d.most = 0
		}
		if _, err := d.read(strings.NewReader(strings.ReplaceAll(large, "data: [DONE]\n\n", "")), d.openAI); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
			t.Errorf("%v of %d bytes", err, len(large))
		}
	}
	if _, err := readOpenAI(text(maxReply + 1)); err == nil || !strings.Contains(err.Error(), "4 MiB") {
		t.Error(err)
	}
}

func TestToolName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a_b-C1": "a_b-C1", "rm -rf /": "rm_-rf__", "": "_", strings.Repeat("é", 70): strings.Repeat("_", 64)} {
		if got := toolName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// fuzz checks that a stream becomes a reply that can be sent again, or an error.
func fuzz(f *testing.F, read reader, streams map[string]string) {
	for stream := range streams {
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		r, err := read(stream)
		if (r == nil) == (err == nil) {
			t.Fatalf("%+v, %v", r, err)
		}
		if err != nil {
			return
		}
		if r.Role != Assistant || strings.TrimSpace(r.Text) == "" && r.Text != "" || r.Usage.Input < 0 || r.Usage.Output < 0 || r.Usage.Input+r.Usage.Output < 0 {
			t.Fatalf("%+v", r)
		}
		for _, c := range r.Calls {
			var object map[string]any
			if c.ID == "" || json.Unmarshal(c.Args, &object) != nil || object == nil {
				t.Fatalf("%+v", c)
			}
		}
		request := Request{Messages: []Message{{Role: User, Text: "a"}, r.Message}}
		for _, body := range []any{openAIBody(Options{}, request), anthropicBody(Options{}, request)} {
			if _, err := json.Marshal(body); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzOpenAI(f *testing.F)    { fuzz(f, readOpenAI, openAIStreams) }
func FuzzAnthropic(f *testing.F) { fuzz(f, readAnthropic, anthropicStreams) }
