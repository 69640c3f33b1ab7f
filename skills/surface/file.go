package surface

// A File is one text of a skill's folder.
type File struct {
	// Name is the path, and Content the text, with "\n" as line end.
	Name, Content string
	// Lower is the content with ASCII letters in lower case, and Code is that with blanks
	// for prose and comments. Offsets are the same in all three.
	Lower, Code string
	// Script reports that the whole file is code, and Main that it is the definition of a
	// skill, which models follow.
	Script, Main bool
	// Items are its capabilities by kind and value, each with its first place in the file.
	Items map[string]Item

	source *source
}

// Line returns the line of an offset, from 1.
func (f *File) Line(offset int) int { return f.source.line(offset) }

// Offset returns the offset of a line, that of the first for one before it, and the length
// of the content for one after the last.
func (f *File) Offset(line int) int {
	if line > f.Line(len(f.Content)) {
		return len(f.Content)
	}
	return f.source.offset(line)
}

// collect adds what a text does, and calls visit, unless it is nil, with the file.
func (c *collector) collect(s *source, visit func(*File)) {
	if visit == nil {
		c.text(s)
		return
	}
	own := newCollector()
	own.text(s)
	for _, item := range own.items {
		c.add(item)
	}
	visit(&File{Name: s.name, Content: s.content, Lower: s.lower, Code: s.code, Script: s.script, Main: s.main, Items: own.items, source: s})
}
