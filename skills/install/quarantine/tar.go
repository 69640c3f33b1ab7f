package quarantine

import (
	"archive/tar"
	"errors"
	"io"
	"path/filepath"
)

// headroom bounds the bytes of a tar file's headers and padding.
const headroom = 64 << 20

// tar writes the entries of a tar stream.
func (u *unpacker) tar(stream io.Reader) error {
	list := tar.NewReader(&entryReader{u, "", stream})
	for entries := 0; ; entries++ {
		header, err := list.Next()
		switch {
		case errors.Is(err, io.EOF):
			// Only at its end does gzip's checksum show whether all was right.
			if _, err := io.Copy(io.Discard, stream); err != nil {
				return u.broken("", err)
			}
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are checked below
			return u.broken("", err)
		case entries >= 2*u.folder.limits.Files: // a folder may be there twice
			return u.folder.names.tooMany(header.Name)
		}
		if err := u.tarEntry(header, list); err != nil {
			return u.fault(header.Name, err)
		}
	}
}

func (u *unpacker) tarEntry(header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader { // the commit, of git archive
		return nil
	}
	name, err := u.path(header.Name)
	if name == "" || err != nil {
		return err
	}
	executable := header.Mode&0o111 != 0
	switch header.Typeflag {
	case tar.TypeDir:
		return u.folder.mkdir(name)
	case tar.TypeSymlink:
		return u.folder.Link(name, header.Linkname)
	case tar.TypeLink:
		return u.copyLinked(name, executable, header.Linkname)
	case tar.TypeReg:
		if header.Size > u.folder.limits.File { // as sparse files may say for nothing
			return u.folder.tooLarge(name)
		}
		return u.create(name, executable, name, content)
	}
	return errSpecial(name)
}

// copyLinked copies the file that a hard link leads to. A tree of hard links costs its
// bytes as often.
func (u *unpacker) copyLinked(name string, executable bool, target string) error {
	from, err := u.path(target)
	if err != nil || from == "" {
		return u.fault(name, err)
	}
	if known, ok := u.folder.names.get(from); !ok || known.folder || known.link {
		return &Error{name, "the hard link leads to no file earlier in the archive", "put the file in its place"}
	}
	file, err := u.folder.root.Open(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	defer file.Close()
	return u.create(name, executable, name, file)
}
