package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A copier writes the files of a commit into a quarantine.
type copier struct {
	repo   *repository
	into   *quarantine.Folder
	limits quarantine.Limits

	entries    int // of all folders that were read
	total      int64
	submodules []string
	pointers   []string // to files of Git LFS
}

// maxEntries bounds the entries of a commit: a folder may have itself many times.
const maxEntries = 500_000

// copy writes the wanted files and returns the commit.
func (c *copier) copy(ctx context.Context, w wanted) (string, error) {
	o, err := c.repo.read(ctx)
	if err != nil {
		return "", err
	}
	defer func() { o.close() }()
	commit, tree, err := o.commit("FETCH_HEAD")
	if err != nil {
		return "", err
	}
	if w.pin != "" && !strings.EqualFold(commit, w.pin) {
		return "", refuse(fmt.Sprintf("the repository has the commit %s where the source names %s", commit, w.pin), "ask the author of the source")
	}
	files, err := c.find(o, tree, w.path)
	if err != nil {
		return "", err
	}
	if w.partial() {
		o.close()
		if err := c.repo.fill(ctx, files); err != nil {
			return "", err
		}
		if o, err = c.repo.read(ctx); err != nil {
			return "", err
		}
	}
	return commit, c.write(ctx, o, files)
}

// find returns the files below a path that are wanted.
func (c *copier) find(o *objects, tree, dir string) ([]file, error) {
	for part := range strings.SplitSeq(dir, "/") {
		if dir == "" {
			break
		}
		entries, err := o.folder(tree)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(entries, func(f file) bool { return f.name == part && f.mode == modeFolder })
		if i < 0 {
			return nil, &Error{Problem: NoPath, Text: fmt.Sprintf("the commit has no folder %q", dir), Remedy: "correct the path"}
		}
		tree = entries[i].id
	}
	files, err := c.walk(o, tree, "", 0)
	if err == nil && len(files) > c.limits.Files {
		return nil, c.tooMany(files)
	}
	return files, err
}

// tooMany returns the error of a commit with more files than the limit, with folders of it
// to name instead.
func (c *copier) tooMany(files []file) error {
	var skills []string
	for _, f := range files {
		if dir, base := path.Split(f.name); dir != "" && strings.EqualFold(base, "SKILL.md") && len(skills) < maxNamed {
			skills = append(skills, strings.TrimSuffix(dir, "/"))
		}
	}
	remedy := "name a folder of it"
	if len(skills) > 0 {
		remedy += fmt.Sprintf(", such as %q", skills)
	}
	return refuse(fmt.Sprintf("the repository has %d files; %d are the limit", len(files), c.limits.Files), remedy)
}

// walk returns the files below a folder.
func (c *copier) walk(o *objects, tree, dir string, depth int) ([]file, error) {
	entries, err := o.folder(tree)
	if err != nil {
		return nil, err
	}
	if c.entries += len(entries); c.entries > maxEntries || depth > maxDepth {
		return nil, refuse(fmt.Sprintf("the repository has more than %d files, or more than %d folders in each other", maxEntries, maxDepth), "name a folder of it")
	}
	var files []file
	for _, e := range entries {
		if e.name == "" || e.name == "." || e.name == ".." || strings.Contains(e.name, "/") {
			return nil, &quarantine.Error{Name: dir + "/" + e.name, Message: "the name leads elsewhere", Remedy: "do not trust the repository"}
		}
		e.name = strings.TrimPrefix(dir+"/"+e.name, "/")
		switch {
		case e.mode == modeFolder:
			below, err := c.walk(o, e.id, e.name, depth+1)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		case e.mode == modeSubmodule:
			c.submodules = append(c.submodules, e.name)
		case e.mode == modeLink || strings.HasPrefix(e.mode, "100"):
			files = append(files, e)
		default:
			return nil, &quarantine.Error{Name: e.name, Message: "it is neither a file nor a folder nor a link", Remedy: "do not trust the repository"}
		}
	}
	return files, nil
}

// maxDepth bounds the folders in each other that are looked into.
const maxDepth = 128

func (c *copier) write(ctx context.Context, o *objects, files []file) error {
	var ask strings.Builder
	for _, f := range files {
		ask.WriteString(f.id + "\n")
	}
	asked := make(chan error, 1)
	go func() { asked <- o.ask(strings.TrimSuffix(ask.String(), "\n")) }()
	defer func() {
		o.close() // ends the goroutine's write
		<-asked
	}()
	for _, f := range files {
		if err := c.writeFile(o, f); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}

func (c *copier) writeFile(o *objects, f file) error {
	h, err := o.next()
	if err != nil {
		return err
	}
	c.total += h.size
	switch {
	case h.kind != "blob":
		return &quarantine.Error{Name: f.name, Message: "it is a " + h.kind + " and no file", Remedy: "do not trust the repository"}
	case h.size > c.limits.File:
		return &quarantine.Error{Name: f.name, Message: fmt.Sprintf("it is larger than %d MiB", c.limits.File>>20), Remedy: "leave it out, or name a folder without it"}
	case c.total > c.limits.Total:
		return &quarantine.Error{Message: fmt.Sprintf("the files are larger than %d MiB together", c.limits.Total>>20), Remedy: "name a folder of the repository"}
	}
	content := io.LimitReader(o.stdout, h.size)
	if f.mode == modeLink {
		err = c.link(f.name, content)
	} else {
		if head, _ := o.stdout.Peek(int(min(h.size, int64(len(pointerStart))))); bytes.Equal(head, []byte(pointerStart)) {
			c.pointers = append(c.pointers, f.name)
		}
		err = c.into.Create(f.name, f.mode == "100755", content)
	}
	if err != nil {
		return err
	}
	_, err = o.stdout.Discard(1)
	return err
}

// pointerStart begins a file that has the name of a file of Git LFS (its specification,
// "Pointer").
const pointerStart = "version https://git-lfs.github.com/spec/v1\n"

// maxTarget bounds the target of a link in bytes; the quarantine makes none as long as that.
const maxTarget = 4096

func (c *copier) link(name string, content io.Reader) error {
	target, err := io.ReadAll(io.LimitReader(content, maxTarget))
	_, rest := io.Copy(io.Discard, content)
	return cmp.Or(err, rest, c.into.Link(name, string(target)))
}

// notes returns the facts about what was left out.
func (c *copier) notes() []source.Note {
	var notes []source.Note
	add := func(text string, names []string) {
		if len(names) > 0 {
			more := ""
			if n := len(names) - maxNamed; n > 0 {
				names, more = names[:maxNamed], fmt.Sprintf(", and %d more", n)
			}
			notes = append(notes, source.Note{Text: fmt.Sprintf(text, fmt.Sprintf("%q", names)+more)})
		}
	}
	add("submodules are not fetched: %s", c.submodules)
	add("files in Git LFS are not fetched, only the text that names them: %s", c.pointers)
	return notes
}
