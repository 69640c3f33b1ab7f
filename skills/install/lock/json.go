package lock

import (
	"bytes"
	"encoding/json"
)

// duplicate returns the first name that an object of valid JSON has twice, and its line;
// 0 without one. A merge may leave two, of which a decoder takes the last.
func duplicate(data []byte) (name string, line int) {
	d := json.NewDecoder(bytes.NewReader(data))
	if name, found := duplicateIn(d); found {
		return name, lineAt(data, d.InputOffset())
	}
	return "", 0
}

// duplicateIn reads the next value of valid JSON, up to a name that an object of it has
// twice.
func duplicateIn(d *json.Decoder) (name string, found bool) {
	open, _ := d.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return "", false
	}
	names := map[string]bool{}
	for d.More() {
		if open == json.Delim('{') {
			token, _ := d.Token()
			name, _ := token.(string)
			if names[name] {
				return name, true
			}
			names[name] = true
		}
		if name, found := duplicateIn(d); found {
			return name, true
		}
	}
	_, _ = d.Token() // the end
	return "", false
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:max(0, min(offset, int64(len(data))))], []byte("\n"))
}
