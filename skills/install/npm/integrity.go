package npm

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A digest is one that a file must have.
type digest struct {
	algorithm string
	hash      func() hash.Hash
	sums      [][]byte // of which the file has one
	by        string   // who states it
}

type digests []digest

// algorithms lists the algorithms of Subresource Integrity, the strongest first, and the SHA-1 of old
// packages.
var algorithms = [...]struct {
	name string
	new  func() hash.Hash
}{{"sha512", sha512.New}, {"sha384", sha512.New384}, {"sha256", sha256.New}, {"sha1", sha1.New}}

// parseDigests returns the digests that a registry and the author of the source state, of
// each the strongest.
func parseDigests(integrity, shasum, pin string) (digests, error) {
	var all digests
	if d, ok := strongest(integrity); ok {
		d.by = "the registry"
		all = append(all, d)
	} else if sum, err := hex.DecodeString(shasum); err == nil && len(sum) == sha1.Size {
		all = append(all, digest{"sha1", sha1.New, [][]byte{sum}, "the registry"})
	}
	if pin == "" {
		return all, nil
	}
	d, ok := strongest(pin)
	if !ok {
		return nil, &source.RefusedError{Reason: fmt.Sprintf("%q is no integrity of a package", pin), Remedy: "write sha512- and the digest in base64"}
	}
	d.by = "the source"
	return append(all, d), nil
}

// strongest reads an integrity as a browser does: of the strongest algorithm one digest
// must fit (W3C, "Subresource Integrity", 3.3.4).
func strongest(integrity string) (digest, bool) {
	for _, a := range algorithms {
		d := digest{algorithm: a.name, hash: a.new}
		for word := range strings.FieldsSeq(integrity) {
			text, ok := strings.CutPrefix(word, a.name+"-")
			text, _, _ = strings.Cut(text, "?")
			sum, err := base64.StdEncoding.DecodeString(text)
			if ok && err == nil && len(sum) == a.new().Size() {
				d.sums = append(d.sums, sum)
			}
		}
		if len(d.sums) > 0 {
			return d, true
		}
	}
	return digest{}, false
}

// check reads a file to its end and returns the proofs that were checked. The error is a
// [*source.RefusedError] for another digest.
func (all digests) check(file io.ReadSeeker) (checked []string, err error) {
	for _, d := range all {
		h := d.hash()
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if _, err := io.Copy(h, file); err != nil {
			return nil, err
		}
		sum := h.Sum(nil)
		if !slices.ContainsFunc(d.sums, func(want []byte) bool { return slices.Equal(want, sum) }) {
			return nil, &source.RefusedError{Reason: fmt.Sprintf("the package has another %s than %s states", d.algorithm, d.by), Remedy: "do not install it; tell the author"}
		}
		checked = append(checked, fmt.Sprintf("%s of the package, stated by %s", d.algorithm, d.by))
	}
	return checked, nil
}
