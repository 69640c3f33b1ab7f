package main

import (
	"go/types"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// An Arrow is a use of a definition in another file of the same package.
type Arrow struct {
	From, To string // file names
	Name     string // one of the definitions that From uses
}

// arrows returns the number of arrows between the files of a package, and the back
// arrows: both arrows of two files that use each other.
func arrows(uses map[string]map[string]string) (total int, back []Arrow) {
	for _, from := range slices.Sorted(maps.Keys(uses)) {
		total += len(uses[from])
		for _, to := range slices.Sorted(maps.Keys(uses[from])) {
			if _, mutual := uses[to][from]; mutual {
				back = append(back, Arrow{From: from, To: to, Name: uses[from][to]})
			}
		}
	}
	return total, back
}

// usesBetweenFiles returns one name for each arrow, by the using and the used file.
func usesBetweenFiles(p *packages.Package) map[string]map[string]string {
	uses := map[string]map[string]string{}
	for id, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !isDefinition(object) {
			continue
		}
		from := filepath.Base(p.Fset.Position(id.Pos()).Filename)
		to := filepath.Base(p.Fset.Position(object.Pos()).Filename)
		if from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]string{}
		}
		if name := uses[from][to]; name == "" || object.Name() < name { // the same one each time
			uses[from][to] = object.Name()
		}
	}
	return uses
}

// isDefinition reports whether an object is a package-level name, a method or a
// field, not a local variable.
func isDefinition(object types.Object) bool {
	switch o := object.(type) {
	case *types.Var:
		if o.IsField() {
			return true
		}
	case *types.Func:
		if o.Signature().Recv() != nil {
			return true
		}
	}
	return object.Parent() == object.Pkg().Scope()
}

// largestCircle returns the files of the largest circle, sorted: the largest set of
// files each of which reaches every other by arrows. A file on its own is no circle.
// The algorithm is Tarjan's, for strongly connected components (SIAM Journal on
// Computing 1, 1972).
func largestCircle(uses map[string]map[string]string) []string {
	s := &circles{uses: uses, index: map[string]int{}, low: map[string]int{}, onStack: map[string]bool{}}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if _, visited := s.index[file]; !visited {
			s.visit(file)
		}
	}
	slices.Sort(s.largest)
	return s.largest
}

// circles is the state of Tarjan's algorithm.
type circles struct {
	uses       map[string]map[string]string
	index, low map[string]int
	stack      []string
	onStack    map[string]bool
	largest    []string
}

func (s *circles) visit(file string) {
	s.index[file] = len(s.index)
	s.low[file] = s.index[file]
	s.stack = append(s.stack, file)
	s.onStack[file] = true
	for _, to := range slices.Sorted(maps.Keys(s.uses[file])) {
		if _, visited := s.index[to]; !visited {
			s.visit(to)
			s.low[file] = min(s.low[file], s.low[to])
		} else if s.onStack[to] {
			s.low[file] = min(s.low[file], s.index[to])
		}
	}
	if s.low[file] == s.index[file] {
		s.pop(file)
	}
}

// pop takes the circle that begins at file from the stack.
func (s *circles) pop(file string) {
	start := slices.Index(s.stack, file)
	circle := slices.Clone(s.stack[start:])
	s.stack = s.stack[:start]
	for _, member := range circle {
		s.onStack[member] = false
	}
	if len(circle) > 1 && len(circle) > len(s.largest) {
		s.largest = circle
	}
}
