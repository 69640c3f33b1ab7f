// Package media tells of what kind a file is, so that a model is shown only what
// it can look at. Start with [Type].
package media

import (
	"bytes"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// Type is the type of a file, by its content, and by its name where the
// content says little. It is never a picture's or a sound's by name
// alone.
func Type(name string, data []byte) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(data), ";")
	extension := strings.ToLower(path.Ext(name))
	switch {
	case sniffed == "audio/wave":
		return "audio/wav"
	case bytes.HasPrefix(data, []byte("fLaC")):
		return "audio/flac"
	case extension == ".mp3" && len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0: // the first frame
		return "audio/mpeg"
	case sniffed == "application/ogg" && extension != ".ogv":
		return "audio/ogg"
	case sniffed == "video/mp4" && extension == ".m4a":
		return "audio/mp4"
	case strings.HasPrefix(sniffed, "text/"), sniffed == "application/zip", sniffed == "application/octet-stream":
		if known := namedType(extension, IsText(data)); known != "" {
			return known
		}
	}
	return sniffed
}

// IsText reports whether data can be shown as text.
func IsText(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// namedType is the type that a file's extension stands for. It does not ask the
// system, whose answers differ.
func namedType(extension string, text bool) string {
	if text {
		return map[string]string{
			".css": "text/css", ".csv": "text/csv", ".html": "text/html", ".js": "text/javascript", ".json": "application/json",
			".jsonl": "application/jsonl", ".md": "text/markdown", ".svg": "image/svg+xml", ".tsv": "text/tab-separated-values",
			".txt": "text/plain", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
		}[extension]
	}
	return map[string]string{
		".docx":    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		".parquet": "application/vnd.apache.parquet",
		".pptx":    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		".tar":     "application/x-tar",
		".xlsx":    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	}[extension]
}
