package cache

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// A file is the magic, the long texts, the body, and the footer: the offset of
// the body, and a checksum of it with that offset. The body is the version and the
// entries, each as key, looks, value and where its text is.

// maxFile is the largest file that is read or written, in bytes.
const maxFile = 256 << 20

const magic = "skills-mcp parse cache 2\n"

// footerSize is the size of an offset and a checksum.
const footerSize = 8 + 4

var checksums = crc32.MakeTable(crc32.Castagnoli)

// format writes the content of a file. An entry whose text cannot be read any
// more is left out.
func format(to io.Writer, entries map[string]entry, version string) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if _, err := w.WriteString(magic); err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(entries))
	texts, body, err := writeTexts(w, keys, entries)
	if err != nil {
		return err
	}
	sum := crc32.New(checksums)
	writeBody(io.MultiWriter(w, sum), keys, entries, texts, version)
	footer := binary.LittleEndian.AppendUint64(nil, body)
	_, _ = sum.Write(footer) // it never fails
	_, _ = w.Write(binary.LittleEndian.AppendUint32(footer, sum.Sum32()))
	return w.Flush() // has the first error of all
}

// writeTexts writes the texts, and returns where they are, by key, and where they
// end.
func writeTexts(w *bufio.Writer, keys []string, entries map[string]entry) (texts map[string]*text, end uint64, err error) {
	texts, end = map[string]*text{}, uint64(len(magic))
	for _, key := range keys {
		t := entries[key].text
		if t == nil {
			continue
		}
		s, err := t.read()
		if err != nil {
			continue
		}
		if _, err := w.WriteString(s); err != nil {
			return nil, 0, err
		}
		texts[key] = &text{at: end, n: uint64(len(s)), sum: crc32.Checksum([]byte(s), checksums)}
		end += uint64(len(s))
	}
	return texts, end, nil
}

func writeBody(w io.Writer, keys []string, entries map[string]entry, texts map[string]*text, version string) {
	line := appendString(nil, version)
	_, _ = w.Write(line) // an error stays until Flush
	for _, key := range keys {
		e, at := entries[key], texts[key]
		if e.text != nil && at == nil {
			continue
		}
		line = appendString(appendString(appendString(line[:0], key), e.looks), e.value)
		_, _ = w.Write(appendText(line, at))
	}
}

// parse reads what format wrote, but for the texts.
func (c *cache) parse(file source, size int64, version string) error {
	body, end, err := readBody(file, size)
	if err != nil {
		return err
	}
	r := reader{rest: body}
	if r.string() != version {
		return errCorrupt
	}
	for r.rest != "" {
		key, e := r.string(), entry{looks: r.string(), value: r.string(), text: r.text(file, end)}
		switch {
		case r.broken || key == "":
			return errCorrupt
		case key[0] == 's':
			c.skills[key[1:]] = e
		default:
			c.folders[key[1:]] = e
		}
	}
	return nil
}

// readBody returns the body of a file and its offset.
func readBody(file source, size int64) (body string, at uint64, err error) {
	if head, err := readPart(file, 0, min(size, int64(len(magic)))); err != nil || head != magic || size < int64(len(magic)+footerSize) {
		return "", 0, errCorrupt
	}
	var footer [footerSize]byte
	if _, err := file.ReadAt(footer[:], size-footerSize); err != nil {
		return "", 0, err
	}
	at = binary.LittleEndian.Uint64(footer[:])
	if at < uint64(len(magic)) || at > uint64(size-footerSize) {
		return "", 0, errCorrupt
	}
	if body, err = readPart(file, int64(at), size-footerSize); err != nil {
		return "", 0, err
	}
	if crc32.Update(checksum(body), checksums, footer[:8]) != binary.LittleEndian.Uint32(footer[8:]) {
		return "", 0, errCorrupt
	}
	return body, at, nil
}

// checksum sums a text without copying the whole of it.
func checksum(text string) uint32 {
	var sum uint32
	buffer := make([]byte, 64<<10)
	for text != "" {
		n := copy(buffer, text)
		sum = crc32.Update(sum, checksums, buffer[:n])
		text = text[n:]
	}
	return sum
}
