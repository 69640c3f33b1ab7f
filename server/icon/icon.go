// Package icon has the project's mark, for the page and for clients of MCP that show icons.
// Start with [SVG].
package icon

import (
	_ "embed"
	"encoding/base64"
)

var (
	//go:embed mark.svg
	vector string
	//go:embed mark.png
	pixels string // of the same picture, with 48 by 48 pixels
)

// SVG returns the mark as an SVG document.
func SVG() string { return vector }

// SVGData returns the mark as a data: URI of the type image/svg+xml.
func SVGData() string { return data("image/svg+xml", vector) }

// PNGData returns the mark as a data: URI of the type image/png, with 48 by 48 pixels.
func PNGData() string { return data("image/png", pixels) }

func data(kind, content string) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))
}
