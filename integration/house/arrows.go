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
func arrows(p *packages.Package) (total int, back []Arrow) {
	uses := usesBetweenFiles(p)
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
