package archive

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"path"
	"slices"
	"strings"
)

// ErrNoSkill is the error, beside an [*Error], of a file that has no SKILL.md, as
// far as could be seen: nobody means it to be a skill.
var ErrNoSkill = errors.New("no skill")

// noSkill is an [*Error] that is [ErrNoSkill], too.
type noSkill struct{ fault *Error }

func (n noSkill) Error() string        { return n.fault.Error() }
func (n noSkill) Unwrap() error        { return n.fault }
func (n noSkill) Is(target error) bool { return target == ErrNoSkill }

// unmeant marks an error about a package without a SKILL.md.
func (t *tree) unmeant(err error) error {
	var fault *Error
	if !t.meant && errors.As(err, &fault) {
		return noSkill{fault}
	}
	return err
}

// isManifest reports whether an entry is a SKILL.md, wherever it lies.
func isManifest(entry string) bool { return strings.EqualFold(path.Base(entry), "SKILL.md") }

func (t *tree) meantZIP(list []*zip.File) {
	t.meant = slices.ContainsFunc(list, func(f *zip.File) bool { return isManifest(f.Name) })
}

// meantTAR looks for a SKILL.md behind an entry that was refused, within the
// limits that hold for all entries.
func (t *tree) meantTAR(list *tar.Reader, entries int) {
	for ; !t.meant && entries < MaxEntries; entries++ {
		header, err := list.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return
		}
		t.meant = isManifest(header.Name)
	}
}
