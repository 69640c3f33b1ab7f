package download

import (
	"context"
	"errors"
	"os"
)

// A File is a download in a temporary file.
type File struct{ *os.File }

// Close closes and removes the file.
func (f *File) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// GetFile downloads to a temporary file in dir, an absolute host path, as Get does. The
// caller closes the file.
func (c *Client) GetFile(ctx context.Context, get Get, dir string) (*File, *Response, error) {
	temporary, err := os.CreateTemp(dir, "quarantine-*.download") // cleaned up with quarantines
	if err != nil {
		return nil, nil, err
	}
	file := &File{temporary}
	response, err := c.download(ctx, get, file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, response, nil
}
