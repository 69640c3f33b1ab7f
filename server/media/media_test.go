package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
)

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

func pngOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webpOf is the beginning of a WebP picture.
func webpOf(kind string, data ...byte) []byte {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(data)))
	return fmt.Appendf(nil, "RIFF\x20\x00\x00\x00WEBP%s%s%s%s", kind, size, data, strings.Repeat("\x00", 10))
}

func decoded(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestIsPicture(t *testing.T) {
	for name, test := range map[string]struct {
		kind string
		data []byte
		want bool
	}{
		"png":             {"image/png", pngOf(t, 1, 1), true},
		"png, as a gif":   {"image/gif", pngOf(t, 1, 1), false},
		"png, wide":       {"image/png", pngOf(t, maxSide, 1), true},
		"png, too wide":   {"image/png", pngOf(t, maxSide+1, 1), false},
		"png, too high":   {"image/png", pngOf(t, 1, maxSide+1), false},
		"gif, without":    {"image/gif", []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), false},
		"gif, huge":       {"image/gif", []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), false},
		"svg":             {"image/svg+xml", []byte("<svg/>"), false},
		"webp, no":        {"image/webp", []byte("hello"), false},
		"webp, empty":     {"image/webp", []byte("RIFF\x04\x00\x00\x00WEBP"), false},
		"webp, real":      {"image/webp", decoded(t, "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"), true},
		"webp, another":   {"image/webp", decoded(t, "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="), true},
		"webp, lossy":     {"image/webp", webpOf("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 2, 0, 3, 0), true},
		"webp, no frame":  {"image/webp", webpOf("VP8 ", 0, 0, 0, 0, 0, 0, 2, 0, 3, 0), false},
		"webp, lossless":  {"image/webp", webpOf("VP8L", 0x2f, 0, 0, 0, 0), true},
		"webp, large":     {"image/webp", webpOf("VP8L", 0x2f, 0xff, 0xff, 0xff, 0x0f), false},
		"webp, extended":  {"image/webp", webpOf("VP8X", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0), true},
		"webp, too large": {"image/webp", webpOf("VP8X", 0, 0, 0, 0, 9, 0, 0, 0xff, 0xff, 0xff), false},
		"webp, of what":   {"image/webp", webpOf("ABCD", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0), false},
	} {
		if got := IsPicture(test.kind, test.data); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// FuzzIsPicture has no data be more than no picture.
func FuzzIsPicture(f *testing.F) {
	f.Add("image/png", pngOf(f, 1, 1))
	f.Add("image/webp", webpOf("VP8X", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0))
	f.Add("image/gif", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) { IsPicture(kind, data) })
}
