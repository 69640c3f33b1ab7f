package surface

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode returns the text of a file's content with "\n" as line end: UTF-8, or UTF-16
// with or without a mark. NUL bytes are dropped, as shells do. A content that has them,
// or is neither encoding, is garbled.
func decode(data []byte) (text string, garbled bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		data = wide(data[2:], 0)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		data = wide(data[2:], 1)
	case bytes.HasPrefix(data, []byte{0xef, 0xbb, 0xbf}):
		data = data[3:]
	default:
		if low, ok := unmarked(data); ok {
			data = wide(data, low)
		}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		data, garbled = bytes.ReplaceAll(data, []byte{0}, nil), true
	}
	garbled = garbled || !utf8.Valid(trimmed(data))
	text = strings.ReplaceAll(string(data), "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), garbled
}

// trimmed returns data without the part of a character at its end, where a limit may
// have cut one.
func trimmed(data []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}

// wide returns UTF-16 as UTF-8; low is the index of the lower byte in a pair.
func wide(data []byte, low int) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i+low]) | uint16(data[2*i+1-low])<<8
	}
	return []byte(string(utf16.Decode(units)))
}

// unmarked reports whether data is UTF-16 of mostly Latin text without a mark, and the
// index of the lower byte.
func unmarked(data []byte) (low int, ok bool) {
	head := data[:min(len(data), 512)&^1]
	var nuls [2]int
	for i, b := range head {
		if b == 0 {
			nuls[i&1]++
		}
	}
	for low := range 2 {
		if pairs := len(head) / 2; pairs >= 4 && nuls[1-low] > pairs*3/4 && nuls[low] == 0 {
			return low, true
		}
	}
	return 0, false
}

// mostlyText reports whether a garbled content reads as text for the most part.
func mostlyText(text string) bool {
	head := text[:min(len(text), 64<<10)]
	printable := 0
	for i := range len(head) {
		if b := head[i]; b >= ' ' && b < 0x7f || b == '\n' || b == '\t' {
			printable++
		}
	}
	return printable*20 >= len(head)*17
}

// isProgram reports whether a file that is no text is one that is run or loaded, by its
// first bytes or its extension.
func isProgram(name string, data []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xfe\xed\xfa", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm", "dex\n"} {
		if bytes.HasPrefix(data, []byte(magic)) && bytes.IndexByte(data, 0) >= 0 {
			return true
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".so", ".dll", ".dylib", ".exe", ".pyc", ".pyd", ".jar", ".class", ".wasm", ".node", ".com", ".msi", ".bin":
		return true
	}
	return false
}

// isMedia reports whether a file is a picture, a font, a sound or an office document, by
// its extension and its first bytes. Nothing runs those.
func isMedia(name string, data []byte) bool {
	for _, magic := range mediaMagic(strings.ToLower(path.Ext(name))) {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return false
}

// mediaMagic returns the first bytes of files with an extension.
func mediaMagic(extension string) []string {
	switch extension {
	case ".png", ".apng":
		return []string{"\x89PNG"}
	case ".jpg", ".jpeg":
		return []string{"\xff\xd8\xff"}
	case ".gif":
		return []string{"GIF8"}
	case ".webp", ".wav":
		return []string{"RIFF"}
	case ".ico":
		return []string{"\x00\x00\x01\x00"}
	case ".pdf":
		return []string{"%PDF"}
	case ".ttf", ".otf", ".woff", ".woff2":
		return []string{"\x00\x01\x00\x00", "OTTO", "true", "wOFF", "wOF2"}
	case ".mp3":
		return []string{"ID3", "\xff\xfb"}
	case ".ogg":
		return []string{"OggS"}
	case ".docx", ".xlsx", ".pptx", ".dotx", ".potx", ".xltx", ".odt", ".ods", ".odp":
		return []string{"PK\x03\x04"}
	}
	return nil
}
