package transport

import (
	"encoding/json"
	"testing"
)

// TestEncodePlain wants a skill's words to be plain, and files and the clients' own
// choices unchanged.
func TestEncodePlain(t *testing.T) {
	const sly = "a\u200bb"
	text := map[string]any{"type": "text", "text": sly}
	for want, result := range map[string]any{
		`{"content":[{"text":"ab","type":"text"}]}`:                            map[string]any{"content": []any{text}},
		`{"contents":[{"text":"` + sly + `","type":"text"}]}`:                  map[string]any{"contents": []any{text}},
		`{"content":[{"resource":{"text":"ab","type":"text"}}]}`:               map[string]any{"content": []any{map[string]any{"resource": text}}},
		`{"structuredContent":{"contents":[{"text":"ab","type":"text"}]}}`:     map[string]any{"structuredContent": map[string]any{"contents": []any{text}}},
		`{"tools":[{"inputSchema":{"enum":["ab"],"a` + "\ufffd" + `":true}}]}`: map[string]any{"tools": []any{map[string]any{"inputSchema": json.RawMessage(`{"enum":["` + sly + `"],"a` + "\u200b" + `":true}`)}}},
	} {
		line, err := encodeResult(json.RawMessage(`"`+sly+`"`), result)
		if whole := `{"jsonrpc":"2.0","id":"` + sly + `","result":` + want + "}\n"; err != nil || string(line) != whole {
			t.Errorf("got  %s\nwant %s, %v", line, whole, err)
		}
	}
}
