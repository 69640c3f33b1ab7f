package invocation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// TakeOut writes the files that a skill left to the folder of --out, or names them on
// stderr.
func TakeOut(given *RunArgs, left sandbox.Files, stderr io.Writer) error {
	for _, why := range left.Left {
		fmt.Fprintln(stderr, "skills-mcp: not taken from /out:", termtext.Text(why))
	}
	if given.out != "" {
		return writeFiles(given, left.Taken, stderr)
	}
	if len(left.Taken) == 0 || given.Json { // the result names them
		return nil
	}
	names := make([]string, len(left.Taken))
	for i, f := range left.Taken {
		names[i] = fmt.Sprintf("%s (%s)", termtext.Text(f.Name), sandbox.Bytes(int64(len(f.Data))))
	}
	_, err := fmt.Fprintf(stderr, "skills-mcp: left in /out: %s; add --out DIR to keep them\n", strings.Join(names, ", "))
	return err
}

// writeFiles writes files below the folder of --out, which it creates, and follows no link out of it. A
// file that cannot be written does not prevent the others.
func writeFiles(given *RunArgs, files []sandbox.File, stderr io.Writer) error {
	dir := given.out
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var failed []error
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		err := writeFile(root, f, given.force)
		switch {
		case errors.Is(err, fs.ErrExist):
			err = fmt.Errorf("%s exists; add --force to overwrite it, or name another folder with --out", name)
		case err == nil && !given.Json:
			fmt.Fprintf(stderr, "skills-mcp: wrote %s (%s)\n", termtext.Text(name), sandbox.Bytes(int64(len(f.Data))))
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func writeFile(root *os.Root, f sandbox.File, force bool) error {
	name := filepath.FromSlash(f.Name)
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Name)), 0o777); err != nil {
		return err
	}
	if info, err := root.Lstat(name); force && err == nil && !info.IsDir() {
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Data)
	return errors.Join(err, file.Close())
}
