package main

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Count is the size of something with a name, such as the lines of a function.
type Count struct {
	Name string
	N    int
}

func (c Count) String() string { return fmt.Sprintf("%d %s", c.N, c.Name) }

func (c *Count) max(other Count) {
	if other.N > c.N {
		*c = other
	}
}

// A Package holds the figures of one package, or the sum of several. Test files do
// not count.
type Package struct {
	Path           string
	Files, Lines   int
	Exported       int      // package-level names, methods and fields of exported types
	Methods        Count    // the largest method set, with unexported and promoted methods
	Function, File Count    // the longest, in lines
	Comments, What int      // lines of comments, and those with "what"
	Arrows         int      // uses between two files, counted once for each direction
	Back           []Arrow  // arrows whose files use each other
	Circle         []string // the files of the largest circle, see [largestCircle]
}

// add adds the figures of another package, and keeps the larger of each maximum.
func (p *Package) add(q *Package) {
	p.Files += q.Files
	p.Lines += q.Lines
	p.Exported += q.Exported
	p.Comments += q.Comments
	p.What += q.What
	p.Arrows += q.Arrows
	p.Back = append(p.Back, q.Back...)
	p.Methods.max(q.Methods)
	p.Function.max(q.Function)
	p.File.max(q.File)
	if len(q.Circle) > len(p.Circle) {
		p.Circle = q.Circle
	}
}

// Load measures the packages of the module in dir, sorted by path. A package that does
// not compile is an error.
func Load(ctx context.Context, dir string) ([]*Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir,
		Env: append(os.Environ(), "CGO_ENABLED=0"), // as releases are built, whose packages are compiled already
	}, "./...")
	if err != nil {
		return nil, err
	}
	var all []*Package
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		all = append(all, measure(p))
	}
	slices.SortFunc(all, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

func measure(p *packages.Package) *Package {
	m := &Package{Path: strings.TrimPrefix(p.PkgPath, p.Module.Path+"/"), Files: len(p.Syntax)}
	for _, file := range p.Syntax {
		name := filepath.Base(p.Fset.Position(file.FileStart).Filename)
		lines := p.Fset.File(file.FileStart).LineCount()
		m.Lines += lines
		m.File.max(Count{name, lines})
		m.comments(file)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				m.function(p.Fset, f)
			}
		}
	}
	m.Methods = largestMethodSet(p.Types, p.Module.Path)
	m.Exported = exported(p.Types)
	uses := usesBetweenFiles(p)
	m.Arrows, m.Back = arrows(uses)
	m.Circle = largestCircle(uses)
	return m
}

// comments counts the lines of comments. Those with "what" count apart: the word is a
// sign of a clause where a noun is missing.
func (m *Package) comments(file *ast.File) {
	for _, group := range file.Comments {
		for line := range strings.SplitSeq(strings.TrimSuffix(group.Text(), "\n"), "\n") {
			m.Comments++
			if slices.Contains(strings.FieldsFunc(strings.ToLower(line), notLetter), "what") {
				m.What++
			}
		}
	}
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

// function measures a function.
func (m *Package) function(fset *token.FileSet, f *ast.FuncDecl) {
	name := f.Name.Name
	if f.Recv != nil {
		receiver := types.ExprString(f.Recv.List[0].Type)
		receiver, _, _ = strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
		name = receiver + "." + name
	}
	m.Function.max(Count{name, fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1})
}

// largestMethodSet returns the largest method set of a type of the package. A method
// that is promoted from an embedded type of the module counts: embedding hides a large
// type, and does not divide it. Methods of libraries do not count.
func largestMethodSet(p *types.Package, module string) Count {
	var largest Count
	for _, name := range p.Scope().Names() {
		object, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() || types.IsInterface(object.Type()) {
			continue
		}
		n := 0
		for method := range types.NewMethodSet(types.NewPointer(object.Type())).Methods() {
			if pkg := method.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path()+"/", module+"/") {
				n++
			}
		}
		largest.max(Count{name, n})
	}
	return largest
}

// exported returns the number of names that other packages can use: package-level
// names, and the methods and fields of types.
func exported(p *types.Package) int {
	n := 0
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		n++
		named, ok := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !isType || !ok {
			continue
		}
		for method := range named.Methods() {
			if method.Exported() {
				n++
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for field := range s.Fields() {
				if field.Exported() {
					n++
				}
			}
		}
	}
	return n
}
