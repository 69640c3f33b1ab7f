package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A change replaces the bytes from start to end of a file.
type change struct {
	pkg, file  string
	line       int
	start, end int
	old, text  string
}

func (c *change) String() string {
	return fmt.Sprintf("%s:%d %q → %q", c.file, c.line, shortened(c.old), shortened(c.text))
}

func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 60)]
}

// write writes the changed file and the overlay for the compiler, and returns the
// path of the overlay.
func (c *change) write(dir string) (string, error) {
	source, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(c.file))
	text := string(source[:c.start]) + c.text + string(source[c.end:])
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{c.file: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// others are the operators that an operator becomes.
var others = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
}

// changesOf returns the changes of a file: another operator, a condition that is
// negated, a number more, the other truth, a call that is left out.
func changesOf(pkg, file string) (all []*change, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(from, to token.Pos, text string) {
		start, end := fset.Position(from), fset.Position(to)
		all = append(all, &change{pkg: pkg, file: file, line: start.Line, start: start.Offset, end: end.Offset, old: string(source[start.Offset:end.Offset]), text: text})
	}
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			ast.Inspect(f.Body, func(node ast.Node) bool { addChanges(node, source, fset, add); return true })
		}
	}
	return all, nil
}

// addChanges adds the changes of one node.
func addChanges(node ast.Node, source []byte, fset *token.FileSet, add func(from, to token.Pos, text string)) {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if other := others[n.Op]; other != "" {
			add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
		}
	case *ast.IfStmt:
		from, to := fset.Position(n.Cond.Pos()).Offset, fset.Position(n.Cond.End()).Offset
		add(n.Cond.Pos(), n.Cond.End(), "!("+string(source[from:to])+")")
	case *ast.BasicLit:
		if value, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			add(n.Pos(), n.End(), strconv.Itoa(value+1))
		}
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			add(n.Pos(), n.End(), other)
		}
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			add(n.Pos(), n.End(), "")
		}
	}
}
