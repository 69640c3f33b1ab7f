package figures

import "testing"

func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		values []int
		p      int
		want   int
	}{
		{nil, 50, 0},
		{[]int{7}, 95, 7},
		{[]int{3, 1, 2}, 50, 2},
		{[]int{4, 3, 2, 1}, 50, 2},
		{[]int{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 95, 19},
	} {
		if got := Percentile(test.values, test.p); got != test.want {
			t.Errorf("percentile %d of %v is %d, want %d", test.p, test.values, got, test.want)
		}
	}
}
