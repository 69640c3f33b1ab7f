package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// objects reads objects of a repository from one git process.
type objects struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr stderrReader
	closed bool
}

// errMissing is the error of an object that the repository does not have.
var errMissing = errors.New("the object is missing")

// read starts a process that close ends.
func (r *repository) read(ctx context.Context) (*objects, error) {
	if err := r.clearConfig(); err != nil {
		return nil, err
	}
	o := &objects{cmd: r.command(ctx, "cat-file", "--batch")}
	var err error
	if o.stdin, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := o.cmd.StdoutPipe()
	if err != nil {
		o.stdin.Close()
		return nil, err
	}
	o.stdout = bufio.NewReaderSize(stdout, 64<<10)
	o.cmd.Stderr = &o.stderr
	return o, o.cmd.Start()
}

// close ends the process. It may be called again.
func (o *objects) close() {
	if o.closed {
		return
	}
	o.closed = true
	o.stdin.Close()
	o.cmd.Cancel() // it may be writing
	o.cmd.Wait()
}

// ask requests an object, which next returns.
func (o *objects) ask(name string) error {
	_, err := io.WriteString(o.stdin, name+"\n")
	return err
}

// A header describes an object.
type header struct {
	id, kind string
	size     int64
}

// next returns the header of the next requested object (git-cat-file(1), "BATCH
// OUTPUT"). The content follows, and a line feed.
func (o *objects) next() (header, error) {
	line, err := o.stdout.ReadString('\n')
	if err != nil {
		o.close()
		return header{}, fmt.Errorf("read an object: %w", &failure{o.stderr.text(), err})
	}
	fields := strings.Fields(line)
	if len(fields) == 2 {
		return header{id: fields[0]}, errMissing
	}
	if len(fields) != 3 {
		return header{}, fmt.Errorf("read an object: %q", line)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	return header{fields[0], fields[1], size}, err
}

// get returns a small object.
func (o *objects) get(name, kind string, limit int64) (id string, content []byte, err error) {
	if err := o.ask(name); err != nil {
		return "", nil, err
	}
	h, err := o.next()
	switch {
	case err != nil:
		return h.id, nil, err
	case h.kind != kind || h.size > limit:
		return "", nil, refuse(fmt.Sprintf("the repository has a %s of %d bytes where a %s was expected", h.kind, h.size, kind), "")
	}
	content = make([]byte, h.size+1)
	_, err = io.ReadFull(o.stdout, content)
	return h.id, content[:h.size], err
}

const (
	maxCommit = 1 << 20 // bytes of a commit
	maxTree   = 8 << 20 // bytes of the list of one folder
)

// commit returns the commit that a name means, and its tree.
func (o *objects) commit(name string) (commit, tree string, err error) {
	commit, content, err := o.get(name+"^{commit}", "commit", maxCommit)
	if err != nil {
		return "", "", err
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	tree, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !source.IsCommit(tree) {
		return "", "", refuse("the repository has a commit without a tree", "")
	}
	return commit, tree, nil
}

// A file is an entry of a folder of a repository.
type file struct {
	name string // from the folder that is copied
	mode string // octal digits
	id   string
}

// The modes of entries (git-fast-import(1)).
const (
	modeFolder    = "40000"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// folder returns the entries of a tree.
func (o *objects) folder(id string) ([]file, error) {
	_, content, err := o.get(id, "tree", maxTree)
	if err != nil {
		return nil, err
	}
	return parseTree(content, len(id)/2)
}

// parseTree reads a tree: for each entry mode, space, name, NUL and the bytes of the id.
func parseTree(content []byte, idSize int) ([]file, error) {
	var files []file
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		mode, name, both := bytes.Cut(head, []byte(" "))
		if !ok || !both || len(rest) < idSize {
			return nil, refuse("the repository has a damaged folder", "")
		}
		files = append(files, file{string(name), strings.TrimLeft(string(mode), "0"), hex.EncodeToString(rest[:idSize])})
		content = rest[idSize:]
	}
	return files, nil
}
