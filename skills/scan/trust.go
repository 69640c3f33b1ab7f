package scan

import (
	"maps"
	"os"
	"slices"
)

// rankRoots asks which workspaces are trusted, and returns the roots in the order of
// their priority: those in workspaces that are not trusted come last.
func (s *Scanner) rankRoots() (roots []Root, trusted map[string]bool) {
	roots, trusted = slices.Clone(s.roots), map[string]bool{}
	for i := range roots {
		r := &roots[i]
		if r.Within == "" || s.options.Trusted == nil {
			continue
		}
		if _, asked := trusted[r.Within]; !asked && r.exists() {
			trusted[r.Within] = s.options.Trusted(r.Within)
		}
	}
	for i := range roots {
		roots[i].trusted = trusted[roots[i].Within]
	}
	slices.SortStableFunc(roots, func(a, b Root) int {
		switch {
		case a.untrusted() == b.untrusted():
			return 0
		case b.untrusted():
			return -1
		}
		return 1
	})
	return roots, trusted
}

// untrusted reports whether the root is in a workspace that is not trusted.
func (r Root) untrusted() bool { return r.Within != "" && !r.trusted }

// exists reports whether there is something at the root.
func (r Root) exists() bool {
	_, err := os.Lstat(r.Dir)
	return r.FS != nil || err == nil
}

// sameTrust reports whether the workspaces that a scan trusted still are the trusted
// ones.
func (s *Scanner) sameTrust(m *memory) bool {
	_, trusted := s.rankRoots()
	return maps.Equal(trusted, m.trusted)
}
