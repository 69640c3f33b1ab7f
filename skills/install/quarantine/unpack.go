package quarantine

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

const repack = "pack the folder anew, with zip -r or tar -czf"

// Unpack writes the files of a ZIP, tar.gz or tar file below the folder into, by its
// first bytes. The error is an [*Error] where the archive is at fault. It leaves out
// .git. A hard link to a file earlier in the archive becomes a copy of it.
func (f *Folder) Unpack(ctx context.Context, archive io.ReaderAt, size int64, into string) error {
	u := &unpacker{f, ctx, into}
	magic := make([]byte, 512)
	n, err := archive.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch magic = magic[:n]; {
	case bytes.HasPrefix(magic, []byte("PK")):
		return u.zip(archive, size)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return u.tarGzip(io.NewSectionReader(archive, 0, size))
	case n == len(magic) && string(magic[257:262]) == "ustar":
		return u.tar(bufio.NewReader(io.NewSectionReader(archive, 0, size)))
	}
	return &Error{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", repack}
}

// An unpacker writes the entries of one archive.
type unpacker struct {
	folder *Folder
	ctx    context.Context
	into   string
}

func (u *unpacker) zip(archive io.ReaderAt, size int64) error {
	list, err := zip.NewReader(archive, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return broken("", err)
	}
	for _, file := range list.File {
		if err := u.zipEntry(file); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) zipEntry(file *zip.File) error {
	mode, name := file.Mode(), below(u.into, file.Name)
	switch {
	case mode.IsDir():
		return u.folder.mkdir(name)
	case mode&fs.ModeSymlink == 0 && !mode.IsRegular():
		return errSpecial(name)
	}
	content, err := file.Open()
	if err != nil {
		return broken(name, err)
	}
	defer content.Close()
	if mode&fs.ModeSymlink != 0 {
		target, err := io.ReadAll(io.LimitReader(content, maxTarget+1))
		if err != nil {
			return broken(name, err)
		}
		return u.folder.Link(name, string(target))
	}
	return u.folder.Create(name, mode&0o111 != 0, &contextReader{u.ctx, content})
}

func (u *unpacker) tarGzip(packed io.Reader) error {
	stream, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		return broken("", err)
	}
	return u.tar(stream)
}

func (u *unpacker) tar(stream io.Reader) error {
	list := tar.NewReader(&contextReader{u.ctx, stream})
	for {
		header, err := list.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return broken("", err)
		}
		if err := u.tarEntry(header, list); err != nil {
			return err
		}
	}
}

func (u *unpacker) tarEntry(header *tar.Header, content io.Reader) error {
	name := below(u.into, header.Name)
	switch header.Typeflag {
	case tar.TypeXGlobalHeader: // the commit, of git archive
		return nil
	case tar.TypeDir:
		return u.folder.mkdir(name)
	case tar.TypeSymlink:
		return u.folder.Link(name, header.Linkname)
	case tar.TypeReg:
		return u.folder.Create(name, header.Mode&0o111 != 0, content)
	}
	return errSpecial(name)
}

// broken returns the error of an archive, or of an entry, that cannot be read.
func broken(name string, err error) error {
	return &Error{name, "the archive is not whole: " + err.Error(), repack}
}

// asError returns the error of package skillfs as one of this package.
func asError(name string, err error) error {
	var fault *skillfs.ArchiveError
	if errors.As(err, &fault) {
		return &Error{name, fault.Message, fault.Remedy}
	}
	return err
}
