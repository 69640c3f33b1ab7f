package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 256 << 20

// missing reports whether an error is of a path without a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// openFile opens a file and returns its size.
func openFile(name string) (file *os.File, size int64, err error) {
	if file, err = os.Open(name); err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = errCorrupt
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// writeFile replaces a file by the output of content.
func writeFile(name string, content func(io.Writer) error) error {
	err := atomicfile.Write(name, content)
	if err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	return prune(filepath.Dir(name))
}

// maxCaches is the maximum number of files in a folder: each set of roots has one.
const maxCaches = 16

// prune removes the oldest files of a folder beyond maxCaches.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove old caches: %w", err)
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range files[min(maxCaches, len(files)):] {
		if err := os.Remove(filepath.Join(dir, old.Name())); err != nil && !missing(err) {
			return fmt.Errorf("remove old caches: %w", err)
		}
	}
	return nil
}
