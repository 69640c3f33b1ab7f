package surface

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// The limits of the files that are read. The content of those over them counts by its
// digest.
const (
	maxFile  = 2 << 20  // bytes of one
	maxBytes = 32 << 20 // of all
	maxFiles = 4000
)

// A folder reads the files of a skill.
type folder struct {
	*collector
	files   fs.FS
	main    map[string]bool // the paths of definitions and scripts of the skill
	scripts map[string][]string
	count   int
	bytes   int64
	rest    sum // over the files that are not read
	unread  int
	visitor func(*File) // may be nil
}

// folder adds what the files of a skill's folder do.
func (c *collector) folder(owner *skills.Skill, files fs.FS, visit func(*File)) error {
	held, release, err := skillfs.Hold(files)
	if err != nil {
		return err
	}
	defer release()
	f := &folder{collector: c, files: held, main: map[string]bool{}, scripts: map[string][]string{}, rest: newHash(), visitor: visit}
	f.main[path.Base(strings.ReplaceAll(owner.File, `\`, "/"))] = true
	for _, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		if s.Entry != nil {
			f.scripts[path.Clean(s.Entry.Script)] = s.Entry.Interpreter
			f.entries = append(f.entries, path.Clean(s.Entry.Script))
		}
	}
	c.names(owner)
	if err := fs.WalkDir(held, ".", f.visit); err != nil {
		return err
	}
	if f.unread > 0 {
		c.add(Item{Kind: Unread, Value: "more files than are read", Text: fmt.Sprintf("%d files", f.unread), Digest: f.rest.sum()})
	}
	return nil
}

// names adds the texts of a skill that are no files, and what they say.
func (c *collector) names(owner *skills.Skill) {
	c.texts = append(c.texts, newText(NameText, owner.QualifiedName()))
	for _, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		prefix := ""
		if s != owner {
			prefix = ":" + s.Name
		}
		for _, t := range []Text{newText(prefix+DescriptionText, s.Description), newText(prefix+WhenText, s.WhenToUse)} {
			if t.Content != "" {
				c.texts = append(c.texts, t)
				c.prose(&source{content: t.Content, lower: lower(t.Content), main: true})
			}
		}
	}
}

// visit implements [fs.WalkDirFunc].
func (f *folder) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case d.IsDir() && d.Name() == ".git": // snapshots omit it
		return fs.SkipDir
	case !d.Type().IsRegular(): // what a link leads to is a file of the folder itself
		return nil
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if f.count++; f.count > maxFiles || f.bytes+min(info.Size(), maxFile) > maxBytes {
		f.unread++
		digest, err := digestOf(f.files, name)
		f.rest.add(name)
		f.rest.add(digest)
		return err
	}
	return f.read(name, info)
}

// digestOf returns the digest of a file's content.
func digestOf(files fs.FS, name string) (string, error) {
	file, err := skillfs.OpenRegular(files, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := newHash()
	_, err = io.Copy(h, file)
	return h.sum(), err
}

// read adds what one file does.
func (f *folder) read(name string, info fs.FileInfo) error {
	data, err := f.head(name)
	if err != nil {
		return err
	}
	f.bytes += int64(len(data))
	executable := info.Mode()&0o111 != 0
	_, entry := f.scripts[name]
	text, isText := decode(data)
	item := Item{Kind: Unread, File: name, Digest: digest(string(data))}
	switch runs := entry || executable || strings.HasPrefix(text, "#!") || isProgram(name); {
	case isMedia(name, data) && !executable:
		return nil
	case info.Size() > maxFile:
		item.Value = "a file too large to be read whole, " + name
		if item.Digest, err = digestOf(f.files, name); err != nil {
			return err
		}
	case isText && runs:
		item.Kind, item.Value, item.Digest = Script, name, digest(text)
	case isText:
		item.Value = ""
	case runs:
		item.Kind, item.Value = Program, name
	default:
		item.Value = "a file that is no text, " + name
	}
	if item.Value != "" {
		f.add(item)
	}
	if isText {
		f.collect(f.source(name, text, executable), f.visitor)
	}
	return nil
}

// head returns the beginning of a file.
func (f *folder) head(name string) ([]byte, error) {
	file, err := skillfs.OpenRegular(f.files, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}

// decode returns a text with "\n" as line end; ok is false for a content that is no text
// in UTF-8, which counts by its digest alone.
func decode(data []byte) (text string, ok bool) {
	whole := data
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ { // a limit may have cut a character
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			whole = data[:len(data)-n]
		}
	}
	if !utf8.Valid(whole) || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	text = strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), true
}

// isProgram reports whether a file is one that is run or loaded, by its extension.
func isProgram(name string) bool {
	return slices.Contains([]string{".so", ".dll", ".dylib", ".exe", ".pyc", ".pyd", ".jar", ".class", ".wasm", ".node", ".com", ".msi", ".bin"}, strings.ToLower(path.Ext(name)))
}

// media has the first bytes of pictures, fonts, sounds and office documents, by their
// extensions.
var media = map[string]string{
	".png": "\x89PNG", ".jpg": "\xff\xd8\xff", ".jpeg": "\xff\xd8\xff", ".gif": "GIF8", ".webp": "RIFF", ".wav": "RIFF", ".ico": "\x00\x00\x01\x00", ".pdf": "%PDF",
	".ttf": "\x00\x01\x00\x00", ".otf": "OTTO", ".woff": "wOFF", ".woff2": "wOF2", ".mp3": "ID3", ".ogg": "OggS",
	".docx": "PK\x03\x04", ".xlsx": "PK\x03\x04", ".pptx": "PK\x03\x04", ".odt": "PK\x03\x04", ".ods": "PK\x03\x04", ".odp": "PK\x03\x04",
}

// isMedia reports whether a file is a picture, a font, a sound or an office document, by
// its extension and its first bytes. Nothing runs those.
func isMedia(name string, data []byte) bool {
	magic := media[strings.ToLower(path.Ext(name))]
	return magic != "" && bytes.HasPrefix(data, []byte(magic))
}

// source returns the source of a file of the skill.
func (f *folder) source(name, content string, executable bool) *source {
	s := &source{name: name, content: content, lower: lower(content)}
	extension := strings.ToLower(path.Ext(name))
	interpreter, entry := f.scripts[name]
	switch {
	case entry || executable || strings.HasPrefix(content, "#!"):
		s.script, s.language = true, languageOf(extension, content, interpreter)
	case isMarkdown(extension):
		f.keep(name, content)
		s.main = f.main[path.Base(name)] || isDefinition(name)
		s.markdown()
		return s
	default:
		s.language = languageOf(extension, content, nil)
		s.script = s.language != noCode
	}
	switch {
	case !s.script:
		s.code = blank(s.lower, nil)
	case isMarkdown(extension): // also a text that a model reads
		f.keep(name, content)
		s.code = s.lower
		s.blocks = []block{{content, 1, s.language != shellCode}}
	default:
		s.code = s.uncommented()
		if s.language == shellCode {
			s.blocks = []block{{content, 1, false}}
		}
	}
	return s
}
