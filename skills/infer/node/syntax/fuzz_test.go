package syntax

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse: whatever a source is, it is parsed, and no node has a line behind its end.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/scripts/*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, n := range Parse(source).Body {
			n.Each(func(n *Node) bool {
				if int(n.Line) > len(source)+1 {
					t.Errorf("%d: line %d", n.Kind, n.Line)
				}
				return true
			})
		}
	})
}

// A TestBroken that is JavaScript or TypeScript is read as a whole, and another one is not.
func TestBroken(t *testing.T) {
	for source, broken := range map[string]int32{
		"": 0,
		"const a: Map<string, B[]> = f<C>(d as E)!;":                                                0,
		"enum A { b = 1 }\nabstract class C<T> extends D implements E { private f?: G; static {} }": 0,
		"x = `${`${a}`}` / b / c;":                                                                  0,
		"for (const [i, a] of b.entries()) if (/[/]/.test(a)) break;":                               0,
		"const = (":     1,
		"f();\nif (a {": 2,
	} {
		if got := Parse(source).Broken; got != broken {
			t.Errorf("%q: broken in line %d, want %d", source, got, broken)
		}
	}
}
