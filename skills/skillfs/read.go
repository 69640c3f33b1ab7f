package skillfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// ErrTooLarge is the error of a file that is larger than the limit for its kind.
var ErrTooLarge = errors.New("it is too large; shorten it")

// A NotRegularError is the error of a folder, named pipe or device in the place
// of a file.
type NotRegularError struct{ Name string }

func (e *NotRegularError) Error() string { return e.Name + " is not a regular file" }

// OpenRegular opens a regular file. Anything else, such as a named pipe that
// would never end, is a [*NotRegularError].
func OpenRegular(fsys fs.FS, name string) (fs.File, error) {
	file, _, err := openRegular(fsys, name)
	return file, err
}

// openRegular is [OpenRegular], and returns the file's size.
func openRegular(fsys fs.FS, name string) (fs.File, int64, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return regular(file, name)
}

// regular returns an open file and its size, or closes one that is not regular.
func regular(file fs.File, name string) (fs.File, int64, error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{path.Base(name)}
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// ReadRegular reads a regular file of at most limit bytes. The error is
// [ErrTooLarge] for a larger one.
func ReadRegular(fsys fs.FS, name string, limit int64) ([]byte, error) {
	file, size, err := openRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	return readAll(file, size, limit)
}

// ReadHost is [ReadRegular] for a host path, with links followed. It does not wait
// for the writer of a named pipe.
func ReadHost(name string, limit int64) ([]byte, error) {
	opened, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	file, size, err := regular(opened, name)
	if err != nil {
		return nil, err
	}
	return readAll(file, size, limit)
}

// firstRoom bounds the bytes that are allocated for a size that a file claims to have.
const firstRoom = 1 << 20

// readAll reads a file, which has had a size, and closes it.
func readAll(file fs.File, size, limit int64) ([]byte, error) {
	defer file.Close()
	data := make([]byte, max(0, min(size, limit, firstRoom))+1) // with room to see the end
	n, err := io.ReadFull(file, data)
	data = data[:n]
	switch {
	case err == nil: // it is larger
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(file, limit+1-int64(n)))
		data = append(data, rest...)
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}

// ReadHead returns the first 4 KiB of a regular file.
func ReadHead(fsys fs.FS, name string) ([]byte, error) {
	file, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 4<<10))
}

// A ContextReader reads until Context is done.
type ContextReader struct {
	Context context.Context
	io.Reader
}

// Read implements [io.Reader].
func (r *ContextReader) Read(p []byte) (int, error) {
	if r.Context.Err() != nil {
		return 0, context.Cause(r.Context)
	}
	return r.Reader.Read(p)
}
