package skills

import (
	"cmp"
	"slices"
)

// inOrder returns problems as a catalog has them.
func inOrder(problems []Problem) []Problem {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, CompareProblems)
	return problems
}

func CompareProblems(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// merge merges problems that are in order. Where two compare as equal, those of a
// come first.
func merge(a, b []Problem) []Problem {
	if len(b) == 0 {
		return a
	}
	all := make([]Problem, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if CompareProblems(b[0], a[0]) < 0 {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}
