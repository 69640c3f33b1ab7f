package cache

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// A file is the magic, the long texts, the values, the index and the footer: the
// offsets of the values and of the index, and a checksum of these with both. The index
// is the version, the number of entries and for each its key, looks, the length of its
// value and the location of its text. Skills refer to the values for as long as they
// live; the index is dropped when nobody asks for changes any more.

const magic = "skills-mcp parse cache 4\n"

// footerSize is the size of two offsets and a checksum.
const footerSize = 8 + 8 + 4

// A footer is the end of a file. Files with the same footer and size have the same
// content.
type footer [footerSize]byte

func newFooter(values, index uint64, sum uint32) footer {
	b := binary.LittleEndian.AppendUint64(nil, values)
	b = binary.LittleEndian.AppendUint64(b, index)
	return footer(binary.LittleEndian.AppendUint32(b, sum))
}

// offsets returns the offsets of the values and of the index.
func (f footer) offsets() (values, index uint64) {
	return binary.LittleEndian.Uint64(f[:]), binary.LittleEndian.Uint64(f[8:])
}

// format writes the content of a file: entries by key. It leaves out an entry whose
// text is not readable any more. It returns the locations of the texts, by key.
func format(to io.Writer, entries map[string]*entry, version string) (texts map[string]location, end footer, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	_, _ = w.WriteString(magic) // an error stays until Flush
	keys := slices.Sorted(maps.Keys(entries))
	texts, values := writeTexts(w, keys, entries)
	keys = slices.DeleteFunc(keys, func(key string) bool { return entries[key].text != nil && texts[key].n == 0 })
	sum := crc32.New(checksums())
	both := io.MultiWriter(w, sum)
	index := values
	for _, key := range keys {
		_, _ = io.WriteString(both, entries[key].value)
		index += uint64(len(entries[key].value))
	}
	writeIndex(both, keys, entries, texts, version)
	end = newFooter(values, index, 0)
	_, _ = sum.Write(end[:footerSize-4]) // it never fails
	end = newFooter(values, index, sum.Sum32())
	_, _ = w.Write(end[:])
	return texts, end, w.Flush()
}

// writeTexts writes the texts. It returns their locations by key, and the offset
// behind them.
func writeTexts(w io.Writer, keys []string, entries map[string]*entry) (texts map[string]location, end uint64) {
	texts, end = map[string]location{}, uint64(len(magic))
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
		texts[key] = location{at: end, n: uint64(len(s)), sum: checksum(s)}
		end += uint64(len(s))
	}
	return texts, end
}

func writeIndex(w io.Writer, keys []string, entries map[string]*entry, texts map[string]location, version string) {
	c := codec{}
	c.string(version)
	c.uint(uint64(len(keys)))
	for _, key := range keys {
		e := entries[key]
		c.string(key)
		c.string(e.looks)
		c.uint(uint64(len(e.value)))
		c.location(texts[key], math.MaxUint64)
		_, _ = w.Write(c.written)
		c.written = c.written[:0]
	}
	_, _ = w.Write(c.written)
}

// parse returns the entries that format wrote, by key. Their texts stay in the file.
func parse(file source, size int64, version string) (map[string]*entry, error) {
	values, index, at, err := readParts(file, size)
	if err != nil {
		return nil, err
	}
	c := codec{reading: true, unread: index}
	if c.string("") != version {
		return nil, errCorrupt
	}
	n := c.uint(0)
	if n > uint64(len(index)) {
		return nil, errCorrupt
	}
	entries, all := make(map[string]*entry, n), make([]entry, n)
	for i := range all {
		e := &all[i]
		key := c.string("")
		e.looks = c.string("")
		length := c.uint(0)
		if length > uint64(len(values)) {
			return nil, errCorrupt
		}
		e.value, values = values[:length], values[length:]
		if at := c.location(location{}, at); at.n > 0 {
			e.text = &text{file: file, location: at}
		}
		entries[key] = e
	}
	if c.unread != "" || values != "" {
		c.fail(errCorrupt)
	}
	return entries, c.err
}

// readParts returns the values and the index of a file, and the offset of the values.
func readParts(file source, size int64) (values, index string, at uint64, err error) {
	if head, _, err := readPart(file, 0, min(size, int64(len(magic))), 0); err != nil || head != magic || size < int64(len(magic)+footerSize) {
		return "", "", 0, errCorrupt
	}
	end, err := readFooter(file, size)
	if err != nil {
		return "", "", 0, err
	}
	at, indexAt := end.offsets()
	if at < uint64(len(magic)) || indexAt < at || indexAt > uint64(size-footerSize) {
		return "", "", 0, errCorrupt
	}
	values, sum, err := readPart(file, int64(at), int64(indexAt), 0)
	if err != nil {
		return "", "", 0, err
	}
	if index, sum, err = readPart(file, int64(indexAt), size-footerSize, sum); err != nil {
		return "", "", 0, err
	}
	sum = crc32.Update(sum, checksums(), end[:footerSize-4])
	if end != newFooter(at, indexAt, sum) {
		return "", "", 0, errCorrupt
	}
	return values, index, at, nil
}

func readFooter(file source, size int64) (end footer, err error) {
	if size < footerSize {
		return end, errCorrupt
	}
	_, err = file.ReadAt(end[:], size-footerSize)
	return end, err
}

// readPart returns the content of a file from one offset to another, and the checksum
// of it behind a sum.
func readPart(file io.ReaderAt, from, to int64, sum uint32) (string, uint32, error) {
	var b strings.Builder
	b.Grow(int(to - from))
	buffer := make([]byte, min(to-from, 256<<10))
	for from < to {
		n, err := file.ReadAt(buffer[:min(to-from, int64(len(buffer)))], from)
		if err != nil && int64(n) < min(to-from, int64(len(buffer))) {
			return "", 0, err
		}
		b.Write(buffer[:n])
		sum = crc32.Update(sum, checksums(), buffer[:n])
		from += int64(n)
	}
	return b.String(), sum, nil
}

// checksum returns the checksum of a text, of which it copies one part at a time.
func checksum(text string) uint32 {
	var sum uint32
	var buffer [4 << 10]byte
	for text != "" {
		n := copy(buffer[:], text)
		sum = crc32.Update(sum, checksums(), buffer[:n])
		text = text[n:]
	}
	return sum
}
