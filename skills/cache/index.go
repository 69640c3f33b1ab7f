package cache

import "io"

// indexKey is the key of the one entry of a file with an index.
const indexKey = "i"

// An Index is a file with the search index of the skills of a [Store]. It implements
// the cache of a search index.
type Index struct{ store *Store }

// NewIndex returns the index in a file, as [New] does: in a folder of its own.
func NewIndex(file string, options *Options) *Index { return &Index{New(file, options)} }

// Load returns the content that the same build of the program saved last, or "".
func (x *Index) Load() string {
	file, size, err := openFile(x.store.path)
	if err != nil {
		return ""
	}
	defer file.Close()
	entries, err := parse(file, size, x.store.options.Version)
	if e := entries[indexKey]; err == nil && e != nil && e.text != nil {
		content, _ := e.text.read() // "" of a damaged one
		return content
	}
	return ""
}

// Save replaces the content.
func (x *Index) Save(content string) {
	x.store.file.Lock()
	defer x.store.file.Unlock()
	err := writeFile(x.store.path, func(w io.Writer) error {
		_, err := format(w, map[string]*entry{indexKey: {text: &text{pending: content}}}, x.store.options.Version)
		return err
	})
	if err != nil {
		x.store.options.Logger.Warn("the next start indexes all skills again: nothing could be kept", "error", err)
	}
}
