package stamp

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write := func(text string, at time.Time) Stamp {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		looked, err := Look(file)
		if s := Of(info); err != nil || s != looked {
			t.Errorf("stamp %+v, looked at %+v, %v", s, looked, err)
		}
		return looked
	}
	now := time.Now()
	old := write("one", now.Add(-time.Hour))
	if longer := write("three", now.Add(-time.Hour)); longer == old {
		t.Error("another size makes no other stamp")
	}
	if later := write("one", now.Add(-time.Minute)); later == old {
		t.Error("another time makes no other stamp")
	}
	if _, err := Look(file + "x"); !os.IsNotExist(err) {
		t.Errorf("looking at nothing: %v", err)
	}
}

func TestSettled(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		changed, modified time.Duration // ago
		want              bool
	}{
		{time.Hour, time.Hour, true},
		{time.Second, time.Hour, false},
		{time.Hour, time.Second, false},
		{settledFor, settledFor, false},
		{time.Hour, -time.Hour, false}, // a time to come
	} {
		s := Stamp{Changed: now.Add(-test.changed).UnixNano(), Modified: now.Add(-test.modified).UnixNano()}
		if got := s.Settled(now); got != test.want {
			t.Errorf("changed %s and modified %s ago: %t", test.changed, test.modified, got)
		}
	}
}
