package web

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/api"
)

// pictures are the types of files that a browser shows as images: none of them runs
// anything.
func isPicture(mediaType string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mediaType)
}

// isDocument reports whether files of a type are shown in a frame without scripts.
func isDocument(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "image/svg+xml"
}

// serveHostile serves a stranger's file: an image of a fixed list of types as it is, a
// document if framed asks for it, and all else as a download. The sandbox gives each an
// origin of its own, where nothing runs and nothing is loaded.
func serveHostile(w http.ResponseWriter, name, mediaType string, data []byte, framed bool) {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	header := w.Header()
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	switch {
	case isPicture(mediaType):
		header.Set("Content-Type", mediaType)
	case framed && isDocument(mediaType):
		header.Set("Content-Type", mediaType+"; charset=utf-8")
	default:
		header.Set("Content-Type", "application/octet-stream")
		header.Set("Content-Disposition", api.Attachment(path.Base(name)))
	}
	_, _ = w.Write(data)
}
