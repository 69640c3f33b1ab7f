package cache

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"slices"
)

// A file is the magic, the long texts, the index and the footer, which is the location of
// the index. The index is the version, the number of entries and for each its key, looks,
// value and the location of its text.

const magic = "skills-mcp parse cache 5\n"

// footerSize is the size of the offset, the length and the checksum of the index, in bytes.
const footerSize = 3 * 8

// format writes the content of a file: entries by key. It leaves out an entry whose
// text is not readable any more. It returns the locations of the texts, by key.
func format(to io.Writer, entries map[string]*entry, version string) (texts map[string]location, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	_, _ = w.WriteString(magic) // an error stays until Flush
	keys := slices.Sorted(maps.Keys(entries))
	texts, at := writeTexts(w, keys, entries)
	keys = slices.DeleteFunc(keys, func(key string) bool { return entries[key].text != nil && texts[key].n == 0 })
	index := encodeIndex(keys, entries, texts, version)
	_, _ = w.WriteString(index)
	_ = binary.Write(w, binary.LittleEndian, [...]uint64{at, uint64(len(index)), uint64(checksum(index))})
	return texts, w.Flush()
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

func encodeIndex(keys []string, entries map[string]*entry, texts map[string]location, version string) string {
	c := codec{}
	c.string(version)
	c.uint(uint64(len(keys)))
	for _, key := range keys {
		e := entries[key]
		c.string(key)
		c.string(e.looks)
		c.string(e.value)
		c.location(texts[key], math.MaxUint64)
	}
	return string(c.written)
}

// location writes or reads the location of a text, before the offset end.
func (c *codec) location(at location, end uint64) location {
	if at.n = c.uint(at.n); at.n == 0 {
		return location{}
	}
	at = location{n: at.n, at: c.uint(at.at), sum: uint32(c.uint(uint64(at.sum)))}
	if at.at > end || at.n > end-at.at {
		c.fail(errCorrupt)
	}
	return at
}

// parse returns the entries that format wrote, by key. Their texts stay in the file.
func parse(file source, size int64, version string) (map[string]*entry, error) {
	at, err := findIndex(file, size)
	if err != nil {
		return nil, err
	}
	index, err := readPart(file, at)
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
	entries := make(map[string]*entry, n)
	for range n {
		key := c.string("")
		e := &entry{looks: c.string(""), value: c.string("")}
		if stored := c.location(location{}, at.at); stored.n > 0 {
			e.text = &text{file: file, location: stored}
		}
		entries[key] = e
	}
	if c.unread != "" {
		c.fail(errCorrupt)
	}
	return entries, c.err
}

// findIndex returns the location of the index of a file that begins with the magic.
func findIndex(file source, size int64) (index location, err error) {
	if size < int64(len(magic)+footerSize) {
		return index, errCorrupt
	}
	var head [len(magic)]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || string(head[:]) != magic {
		return index, errCorrupt
	}
	var end [footerSize / 8]uint64
	err = binary.Read(io.NewSectionReader(file, size-footerSize, footerSize), binary.LittleEndian, &end)
	index = location{at: end[0], n: end[1], sum: uint32(end[2])}
	if err != nil || end[2]>>32 > 0 || index.at > uint64(size) || index.n > uint64(size)-index.at {
		return index, errCorrupt
	}
	return index, nil
}
