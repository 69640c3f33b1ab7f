package media

import "testing"

// A model's API refuses what it cannot look at, and all that was said with it.
func TestType(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"a.png": {"<html>", "text/html"}, "b.jpg": {"\x00\x01", "application/octet-stream"}, "c.wav": {"text", "text/plain"},
		"d.svg": {"<svg/>", "image/svg+xml"}, "e.JSON": {"{}", "application/json"}, "f.xlsx": {"PK\x03\x04\x00", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		"g": {"%PDF-1.7", "application/pdf"}, "h.mp3": {"\xff\xfb\x90\x00", "audio/mpeg"}, "i.flac": {"fLaC\x00", "audio/flac"},
		"j.ogg": {"OggS\x00", "audio/ogg"}, "k.csv": {"<html>,b", "text/csv"}, "l.txt": {"\xff\xfe\xfd\x00\x01\x02", "text/plain"},
	} {
		if got := Type(name, []byte(test.data)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
