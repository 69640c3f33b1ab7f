package skills

import "cmp"

// CompareProblems orders problems as a catalog has them.
func CompareProblems(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}
