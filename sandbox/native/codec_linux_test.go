//go:build amd64 || arm64

package native

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestCodec(t *testing.T) {
	for name, test := range map[string]struct{ in, out message }{
		"setup": {
			&setup{
				Mounts: []mount{{Source: "/a", Target: "/b", Passed: true, Write: true, Device: true, Optional: true}, {}},
				Links:  []link{{"/bin", "usr/bin"}},
				Files:  []file{{"/etc/hosts", "text\n"}},
				Masks:  []string{"/proc/kcore"},
				Tmp:    1, PIDs: 2, OpenFiles: 3, Data: 4,
			}, &setup{},
		},
		"job":    {&job{Argv: []string{"echo", "\xff\xfe", ""}, Env: []string{"A=b"}}, &job{}},
		"report": {&report{Exited: true, Code: 137, Failed: failure{stepExec, "x", unix.ENOENT}}, &report{}},
	} {
		packed, err := encode(test.in)
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(bytes.NewReader(packed), test.out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.in, test.out); diff != "" {
			t.Errorf("%s (-in +out):\n%s", name, diff)
		}
		for cut := headSize; cut < len(packed); cut++ { // a body that is shorter than its lists say
			c := &codec{buf: packed[headSize:cut], unpacks: true}
			if test.out.pack(c); !errors.Is(c.err, errShort) {
				t.Fatalf("%s cut to %d bytes: error %v", name, cut, c.err)
			}
		}
	}
}
