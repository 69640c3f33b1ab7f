package scriptio

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pixel is a PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestParseResult(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`plain`, "none"},
		{`{"a": 1}`, "none"},
		{`{"mcp": 1}`, "none"},
		{`{"mcp": {}, "other": 1}`, "none"},
		{`{"mcp": {}} {"mcp": {}}`, "none"},
		{`{"mcp": {}}`, ""},
		{" {\"mcp\": {\"isError\": true}}\n", "error"},
		{`{"mcp": {"structuredContent": {"a": 1}}}`, `structure {"a": 1}`},
		{`{"mcp": {"content": ["hello"]}}`, `{"type":"text","text":"hello"}`},
		{`{"mcp": {"content": [{"type": "text", "text": "", "annotations": {"audience": ["user"], "priority": 0.5}}]}}`, `{"annotations":{"audience":["user"],"priority":0.5},"type":"text","text":""}`},
		{`{"mcp": {"content": [{"type": "image", "data": "` + pixel + `", "mimeType": "image/png"}]}}`, `{"type":"image","data":"` + pixel + `","mimeType":"image/png"}`},
		{`{"mcp": {"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]}}`, `{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}`},
		{`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "test://x", "mimeType": "text/plain", "text": "t"}}]}}`, `{"type":"resource","resource":{"uri":"test://x","mimeType":"text/plain","text":"t"}}`},
		{`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "test://x", "blob": "AAE="}}]}}`, `{"type":"resource","resource":{"uri":"test://x","blob":"AAE="}}`},
		{`{"mcp": {"content": [{"type": "resource_link", "uri": "test://x", "name": "x", "title": "X", "size": 3}]}}`, `{"type":"resource_link","uri":"test://x","name":"x","title":"X","description":"","mimeType":"","size":3}`},
		{`{"mcp": {"content": [{"path": "a/b.png"}, {"path": "/out/c", "type": "text", "mimeType": "text/csv"}]}}`, "file a/b.png  \nfile c text text/csv"},

		{`{"mcp": {"ask": "Sure?"}}`, `"ask" is not known`},
		{`{"mcp": {"isError": 1}}`, `isError is not true or false`},
		{`{"mcp": {"structuredContent": [1]}}`, `structuredContent is not an object`},
		{`{"mcp": {"content": {}}}`, `content is not a list`},
		{`{"mcp": {"content": ["a", 1]}}`, `content[1]: it is neither a text nor an object`},
		{`{"mcp": {"content": [{}]}}`, `content[0]: it has neither a type nor a path`},
		{`{"mcp": {"content": [{"type": "video"}]}}`, `content[0]: the type "video" is none of`},
		{`{"mcp": {"content": [{"type": "text"}]}}`, `content[0]: there is no text`},
		{`{"mcp": {"content": [{"type": "text", "text": 1}]}}`, `content[0]: cannot unmarshal number`},
		{`{"mcp": {"content": [{"type": "text", "text": "", "annotations": {"audience": ["me"]}}]}}`, `has "me", which is neither user nor assistant`},
		{`{"mcp": {"content": [{"type": "text", "text": "", "annotations": {"priority": 2}}]}}`, `priority is not between`},
		{`{"mcp": {"content": [{"type": "text", "text": "", "annotations": {"lastModified": "yesterday"}}]}}`, `lastModified is "yesterday"`},
		{`{"mcp": {"content": [{"type": "text", "text": "", "annotations": {"lastModified": "2026-01-31T12:00:00+01:00"}}]}}`, `{"annotations":{"lastModified":"2026-01-31T12:00:00+01:00"},"type":"text","text":""}`},
		{`{"mcp": {"content": [{"type": "resource_link", "name": "x", "uri": "JavaScript:alert(1)"}]}}`, `uri has the scheme javascript`},
		{`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "data:text/html,x", "text": "x"}}]}}`, `resource.uri has the scheme data`},
		{`{"mcp": {"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/webp"}]}}`, `data is no picture of mimeType "image/webp"`},
		{`{"mcp": {"structuredContent": {"a": 1e400}}}`, `structuredContent cannot be used: the number 1e400 is out of range`},
		{`{"mcp": {"structuredContent": ` + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200) + `}}`, `nests more than`},
		{`{"mcp": {"content": [{"type": "image", "data": "!", "mimeType": "image/png"}]}}`, `data is not base64`},
		{`{"mcp": {"content": [{"type": "image", "data": "UklG\nRg==", "mimeType": "image/png"}]}}`, `data is not base64`},
		{`{"mcp": {"content": [{"type": "image", "data": "UklGRg==", "mimeType": "image/png"}]}}`, `data is no picture of mimeType "image/png"`},
		{`{"mcp": {"content": [{"type": "image", "data": "` + pixel + `"}]}}`, `data is no picture of mimeType ""`},
		{`{"mcp": {"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "text/plain"}]}}`, `is not of a sound`},
		{`{"mcp": {"content": [{"type": "audio", "mimeType": "audio/wav"}]}}`, `there is no data`},
		{`{"mcp": {"content": [{"type": "resource"}]}}`, `there is no resource`},
		{`{"mcp": {"content": [{"path": "x", "annotations": {"priority": 1}}]}}`, `has neither annotations nor _meta`},
		{`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "x", "text": "t"}}]}}`, `resource.uri is not a URI`},
		{`{"mcp": {"content": [{"type": "resource_link", "uri": "test://x"}]}}`, `has no name`},
		{`{"mcp": {"content": [{"path": "../x"}]}}`, `path "../x" is not`},
		{`{"mcp": {"content": [{"path": "/etc/passwd"}]}}`, `path "/etc/passwd" is not`},
		{`{"mcp": {"content": [{"path": "x", "type": "video"}]}}`, `the type "video"`},
		{`{"mcp": {"content": [` + strings.Repeat(`"",`, maxItems) + `""]}}`, `content has 257 items`},
	} {
		got := render(ParseResult([]byte(test.in)))
		if got != test.want && !(strings.HasPrefix(got, "fault: ") && strings.Contains(got, test.want) && test.want != "") {
			t.Errorf("%.200s\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

func render(r *Result, err error) string {
	switch {
	case err != nil:
		return "fault: " + err.Error()
	case r == nil:
		return "none"
	}
	var lines []string
	if r.IsError {
		lines = append(lines, "error")
	}
	if r.Structured != nil {
		lines = append(lines, "structure "+string(r.Structured))
	}
	for _, item := range r.Items {
		line := fmt.Sprintf("file %s %s %s", item.Path, item.Type, item.MIMEType)
		if item.Path == "" {
			encoded, err := json.Marshal(item.Content)
			if err != nil {
				return err.Error()
			}
			line = string(encoded)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestParseProgress(t *testing.T) {
	for line, want := range map[string]string{
		"0/100": "0/100 ", " 1/2  half ": "1/2 half", "0.5/1.5 x": "0.5/1.5 x", "3/3 a/b": "3/3 a/b",
		"": "", "1": "", "1/": "", "/2": "", "2/1": "", "1/0": "", "+1/2": "", "1e1/20": "", "1/2/3": "", "1/2:": "", "1..2/3": "", "NaN/1": "",
		"0x1/2": "", "1/" + strings.Repeat("9", 400): "", "２/３": "", "1,5/2": "", "a 1/2": "",
	} {
		got := ""
		if p, ok := ParseProgress(line); ok {
			got = fmt.Sprintf("%g/%g %s", p.Done, p.Total, p.Message)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestParseLog(t *testing.T) {
	for line, want := range map[string]string{
		"[info] a": "info a", "[Warn] b c": "warning b c", "[EMERGENCY]d": "emergency d", " [debug] [x] ": "debug [x]",
		"[notice] 1/2": "notice 1/2", "info a": "", "[info]": "", "[trace] x": "", "[info x": "", "[]": "", "": "", "a [info] b": "",
	} {
		got := ""
		if level, message, ok := ParseLog(line); ok {
			got = string(level) + " " + message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Whatever a script prints, a result can be encoded, and what it decodes is what
// it shows.
func FuzzParseResult(f *testing.F) {
	f.Add([]byte(`{"mcp": {"content": ["a", {"path": "b"}, {"type": "image", "data": "` + pixel + `", "mimeType": "image/png"}], "structuredContent": {}, "isError": false}}`))
	f.Add([]byte(`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "AAE="}, "_meta": {"a": 1}}, {"type": "resource_link", "uri": "a:b", "name": "c", "annotations": {"priority": 1}}]}}`))
	f.Add([]byte(`{"mcp": null}`))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		r, err := ParseResult(stdout)
		if err != nil && r != nil && r.Items != nil {
			t.Error("a fault, and items")
		}
		if err != nil || r == nil {
			return
		}
		for _, item := range r.Items {
			if (item.Path == "") == (item.Content == nil) {
				t.Errorf("neither content nor file, or both: %+v", item)
			}
			if strings.HasPrefix(item.Path, "/") || strings.HasPrefix(item.Path, "..") && (len(item.Path) == 2 || item.Path[2] == '/') {
				t.Errorf("path %q", item.Path)
			}
			encoded, err := json.Marshal(item.Content)
			if err != nil {
				t.Error(err)
			}
			if item.Data != nil && !strings.Contains(string(encoded), base64.StdEncoding.EncodeToString(item.Data)) {
				t.Errorf("%d bytes are not in %s", len(item.Data), encoded)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	for _, line := range []string{"1/2 x", "[info] y", "0.1/0.2", "[]/1"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := ParseProgress(line); ok && !(p.Done >= 0 && p.Done <= p.Total && p.Total > 0) {
			t.Errorf("%q: %+v", line, p)
		}
		if level, message, ok := ParseLog(line); ok && (level == "" || message == "") {
			t.Errorf("%q: %q %q", line, level, message)
		}
	})
}
