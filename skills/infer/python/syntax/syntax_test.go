package syntax

import "testing"

func TestSyntaxError(t *testing.T) {
	for source, want := range map[string]int{
		"":                                  0,
		"x = 1\n":                           0,
		"type X[T] = list[T]\nX()\n":        0,
		"type = 1\ntype(x)\ntype, y = 1, 2": 0,
		"match, rest = 1, 2\n":              0,
		"class A[T: int = str, *Ts, **P](B[T]):\n  pass\n":   0,
		"def f[T](x: T) -> T:\n  return f'{x!r:>{\"a\"}}'\n": 0,
		"try:\n  pass\nexcept* (A, B):\n  pass\n":            0,
		"x = 1\nprint 'x'\n":                                 2,
		"f'{x['a']:>{w}}' f'{{{x!r}}}\\N{DASH}'":             0,
		"f'''{x:%d\n}'''\nf'{\nx}'":                          0,
		"f(*a or b, **c)[1:2, ...]":                          0,
		"x[]\n":                                              1,
		"f'{x'\n":                                            1,
		"f'}'\n":                                             1,
		"[x for x in a, b]\n":                                1,
		"def f(:\n  pass\n":                                  3,
		"if x\n  y()\n":                                      1,
		"x = 'a\ny = 1\n":                                    1,
		"if x:\n    y\n  z\n":                                3,
		"for x in y:\nz()\n":                                 1,
		"class = 1\n":                                        1,
		"x = (1, 2\ndef f(): pass":                           2,
	} {
		line, err := SyntaxError([]byte(source))
		if (err != nil) != (want > 0) || line != want && err != nil {
			t.Errorf("%q: line %d, %v; want %d", source, line, err, want)
		}
	}
}
