package parsecache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// missing reports whether an error says that nothing is there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readFile returns a file's content.
func readFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", errCorrupt
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	_, err = io.Copy(&b, io.LimitReader(file, maxFile))
	return b.String(), err
}

// writeFile replaces a file as a whole.
func writeFile(name string, content []byte) (err error) {
	if len(content) > maxFile {
		return fmt.Errorf("keep what was read: %d MB are more than %d", len(content)>>20, maxFile>>20)
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	temporary, err := os.CreateTemp(dir, filepath.Base(name)+"-*.tmp")
	if err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(temporary.Name())
		}
	}()
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	if err := os.Rename(temporary.Name(), name); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	return nil
}
