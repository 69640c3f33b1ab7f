// Package media detects the media type of a file, so that models get only pictures that
// they accept. Start with [Type].
package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// Type returns the media type of a file: by its content, and by its name if the content
// is ambiguous. It never is a picture's or a sound's by name alone.
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

// namedType returns the type of a file's extension. It does not use the system's table,
// which differs between machines.
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

// maxSide is the largest width and height of a picture, in pixels. Models refuse larger
// ones, and a viewer allocates memory for all pixels.
const maxSide = 8000

// IsPicture reports whether data is a picture that models accept. They accept few
// formats, and refuse a whole conversation for one broken image.
func IsPicture(mediaType string, data []byte) bool {
	decode := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig, "image/webp": webp,
	}[mediaType]
	if decode == nil {
		return false
	}
	size, err := decode(bytes.NewReader(data))
	return err == nil && isSide(size.Width) && isSide(size.Height)
}

func isSide(pixels int) bool { return 0 < pixels && pixels <= maxSide }

var errNoWebP = errors.New("not a WebP picture")

// webp reads the size of a WebP picture (RFC 9649) from its first chunk.
func webp(r io.Reader) (image.Config, error) {
	var head [30]byte
	_, err := io.ReadFull(r, head[:])
	if err != nil || string(head[:4]) != "RIFF" || string(head[8:12]) != "WEBP" {
		return image.Config{}, errNoWebP
	}
	little := binary.LittleEndian
	switch data := head[20:]; string(head[12:16]) {
	case "VP8 ": // lossy: after the frame's tag and a mark
		if string(data[3:6]) != "\x9d\x01\x2a" {
			return image.Config{}, errNoWebP
		}
		return image.Config{Width: int(little.Uint16(data[6:]) & 0x3fff), Height: int(little.Uint16(data[8:]) & 0x3fff)}, nil
	case "VP8L": // lossless: 14 bits each, after a mark
		if data[0] != 0x2f {
			return image.Config{}, errNoWebP
		}
		bits := little.Uint32(data[1:])
		return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, nil
	case "VP8X": // extended: 24 bits each, after flags
		return image.Config{Width: int(little.Uint32(data[4:])&0xffffff) + 1, Height: int(little.Uint32(data[6:])>>8) + 1}, nil
	}
	return image.Config{}, errNoWebP
}
