//go:build amd64 || arm64

package native

import "slices"

// A preparedSet holds instances with the setups of recipes, one for each of the last
// recipes. Its pool's mutex guards it.
type preparedSet struct {
	most   int
	drop   func(*instance)
	mounts *mountTable // that all agree with

	recent []*recipe   // the newest first, at most most
	ready  []*instance // of recipes in recent
}

// newPreparedSet returns an empty set for at most most recipes. It calls drop for an
// instance that no command can use any more.
func newPreparedSet(most int, drop func(*instance)) *preparedSet {
	return &preparedSet{most: most, drop: drop, mounts: openMountTable()}
}

// want makes a recipe the newest, and drops the instances of one that is too old.
func (s *preparedSet) want(r *recipe) {
	s.recent = slices.DeleteFunc(s.recent, r.equal)
	s.recent = slices.Insert(s.recent, 0, r)
	s.recent = s.recent[:min(len(s.recent), s.most)]
	s.dropIf(func(b *instance) bool { return !slices.ContainsFunc(s.recent, b.prepared.equal) })
}

// unwant removes a recipe that could not be prepared.
func (s *preparedSet) unwant(r *recipe) { s.recent = slices.DeleteFunc(s.recent, r.equal) }

// missing returns the newest recipe that has no instance, or nil.
func (s *preparedSet) missing() *recipe {
	if len(s.mounts.text) == 0 { // nobody would know that an instance is out of date
		return nil
	}
	for _, r := range s.recent {
		if s.index(r) < 0 {
			return r
		}
	}
	return nil
}

// index returns where the instance of a recipe is, or -1.
func (s *preparedSet) index(r *recipe) int {
	return slices.IndexFunc(s.ready, func(b *instance) bool { return b.prepared.equal(r) })
}

// pop removes and returns the instance of a recipe, or returns nil.
func (s *preparedSet) pop(r *recipe) *instance {
	i := s.index(r)
	if i >= 0 && len(s.ready[i].workspaces) > 0 {
		s.refresh()
		i = s.index(r)
	}
	if i < 0 {
		return nil
	}
	b := s.ready[i]
	s.ready = slices.Delete(s.ready, i, i+1)
	if !b.lives() { // killed by somebody else
		s.drop(b)
		return nil
	}
	return b
}

// add adds an instance. It may be too old for the mounts by now: others have seen
// the change.
func (s *preparedSet) add(b *instance) {
	s.ready = append(s.ready, b)
	if len(b.workspaces) > 0 {
		s.mounts.refresh()
		s.dropIf(s.stale)
	}
}

// view returns the mounts of workspaces, as they are now.
func (s *preparedSet) view(workspaces []string) string {
	if len(workspaces) == 0 {
		return ""
	}
	s.refresh()
	return s.mounts.view(workspaces)
}

// refresh drops the instances whose workspaces have other mounts now.
func (s *preparedSet) refresh() {
	if s.mounts.refresh() {
		s.dropIf(s.stale)
	}
}

// stale reports whether there are other mounts than when b was prepared.
func (s *preparedSet) stale(b *instance) bool {
	return len(b.workspaces) > 0 && s.mounts.view(b.workspaces) != b.view
}

func (s *preparedSet) dropIf(unfit func(*instance) bool) {
	s.ready = slices.DeleteFunc(s.ready, func(b *instance) bool {
		if unfit(b) {
			s.drop(b)
			return true
		}
		return false
	})
}

// clear drops all instances, and prepares for nothing.
func (s *preparedSet) clear() {
	s.dropIf(func(*instance) bool { return true })
	s.recent = nil
}
