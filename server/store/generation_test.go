package store

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// Each decision of another process is noticed by the next use, however fast they come;
// one whose process ended before it wrote the stamp, after a while.
func TestGenerationFollows(t *testing.T) { eachBackend(t, testGenerationFollows) }

func testGenerationFollows(t *testing.T, newStore opener) {
	s, other := newStore(t)
	if err := trust(t.Context(), s, "/a"); err != nil {
		t.Fatal(err)
	}
	last, err := s.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := trust(t.Context(), other, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if s.Shared() { // as on another machine: it has no stamp here
			s.db.generation.until = time.Time{}
		}
		n, err := s.Generation(t.Context())
		if n <= last || err != nil {
			t.Fatalf("decision %d: generation %d, then %d, %v", i, last, n, err)
		}
		last = n
	}
	if err := os.Remove(other.Stamp()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Generation(t.Context()); n != last || err != nil {
		t.Errorf("without a stamp: %d, %v, want %d", n, err, last)
	}
}

// BenchmarkGeneration measures the check of a cache of decisions.
func BenchmarkGeneration(b *testing.B) {
	s := New(b.TempDir()+"/skills-mcp.db", nil)
	defer s.Close()
	if err := trust(b.Context(), s, "/a"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Generation(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
