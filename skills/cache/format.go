package cache

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
)

// A file is the magic, the long texts, the body, and the footer: the offset of the
// body, and a checksum of the body with that offset. The body is the version and the
// entries, each as key, looks, value and the location of its text.

const magic = "skills-mcp parse cache 3\n"

// footerSize is the size of an offset and a checksum.
const footerSize = 8 + 4

// format writes the content of a file: entries by key. It leaves out an entry whose
// text is not readable any more.
func format(to io.Writer, entries map[string]entry, version string) error {
	w := bufio.NewWriterSize(to, 1<<20)
	_, _ = w.WriteString(magic) // an error stays until Flush
	keys := slices.Sorted(maps.Keys(entries))
	texts, body := writeTexts(w, keys, entries)
	sum := crc32.New(checksums())
	writeBody(io.MultiWriter(w, sum), keys, entries, texts, version)
	footer := binary.LittleEndian.AppendUint64(nil, body)
	_, _ = sum.Write(footer) // it never fails
	_, _ = w.Write(binary.LittleEndian.AppendUint32(footer, sum.Sum32()))
	return w.Flush()
}

// writeTexts writes the texts. It returns their locations by key, and the offset
// behind them.
func writeTexts(w io.Writer, keys []string, entries map[string]entry) (texts map[string]*text, end uint64) {
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
		_, _ = io.WriteString(w, s)
		texts[key] = &text{at: end, n: uint64(len(s)), sum: crc32.Checksum([]byte(s), checksums())}
		end += uint64(len(s))
	}
	return texts, end
}

func writeBody(w io.Writer, keys []string, entries map[string]entry, texts map[string]*text, version string) {
	c := codec{}
	c.string(version)
	_, _ = w.Write(c.written)
	for _, key := range keys {
		e, at := entries[key], texts[key]
		if e.text != nil && at == nil {
			continue
		}
		e.text, c.written = at, c.written[:0]
		c.entry(key, e, nil, math.MaxUint64)
		_, _ = w.Write(c.written)
	}
}

// parse returns the entries that format wrote, by key. Their texts stay in the file.
func parse(file source, size int64, version string) (map[string]entry, error) {
	body, end, err := readBody(file, size)
	if err != nil {
		return nil, err
	}
	c := codec{reading: true, unread: body}
	if c.string("") != version {
		return nil, errCorrupt
	}
	entries := map[string]entry{}
	for c.unread != "" {
		key, e := c.entry("", entry{}, file, end)
		entries[key] = e
	}
	return entries, c.err
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
	if crc32.Update(checksum(body), checksums(), footer[:8]) != binary.LittleEndian.Uint32(footer[8:]) {
		return "", 0, errCorrupt
	}
	return body, at, nil
}

// checksum returns the checksum of a text, of which it copies one part at a time.
func checksum(text string) uint32 {
	var sum uint32
	buffer := make([]byte, 64<<10)
	for text != "" {
		n := copy(buffer, text)
		sum = crc32.Update(sum, checksums(), buffer[:n])
		text = text[n:]
	}
	return sum
}
