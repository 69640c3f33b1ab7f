package quarantine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Unpack writes the files of a ZIP, tar.gz or tar file below the folder into, by its
// first bytes. The error is an [*Error] with the name of the entry, where the archive is
// at fault; the quarantine keeps the entries before it. It leaves out .git. A hard link to a
// file earlier in the archive becomes a copy of it.
func (f *Folder) Unpack(ctx context.Context, archive io.ReaderAt, size int64, into string) error {
	return f.UnpackPart(ctx, archive, size, into, func(name string) string { return name })
}

// UnpackPart is [Folder.Unpack] for a part of an archive. pick gets the clean path of
// each entry, and returns its path below into; "" leaves it out.
func (f *Folder) UnpackPart(ctx context.Context, archive io.ReaderAt, size int64, into string, pick func(name string) string) error {
	u := &unpacker{f, ctx, strings.Trim(into, "/"), pick}
	if size > f.limits.Total {
		return &Error{"", fmt.Sprintf("the archive is larger than %s", bytesText(f.limits.Total)), "leave out what the skill does not need"}
	}
	head := make([]byte, 512)
	n, err := archive.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	all := bufio.NewReader(io.NewSectionReader(archive, 0, size))
	switch head = head[:n]; {
	case isZIP(head):
		return u.zip(archive, size)
	case isGzip(head):
		stream, err := skillfs.Gunzip(all, f.limits.Total+headroom)
		if err != nil {
			return u.broken("", err)
		}
		return u.tar(stream)
	case isTAR(head):
		return u.tar(all)
	}
	return &Error{"", "it is neither a ZIP nor a tar.gz file, by its first bytes", repack}
}

// IsArchive reports whether a file that begins with head can be unpacked. head has 512
// bytes, or all of a smaller file.
func IsArchive(head []byte) bool { return isZIP(head) || isGzip(head) || isTAR(head) }

func isZIP(head []byte) bool { return bytes.HasPrefix(head, []byte("PK")) }

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b")) }

// isTAR reports whether head has the magic of POSIX.1-1988, 10.1.1.
func isTAR(head []byte) bool { return len(head) == 512 && string(head[257:262]) == "ustar" }
