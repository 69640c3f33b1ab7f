//go:build amd64 || arm64

package native

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

func TestCodec(t *testing.T) {
	for name, test := range map[string]struct{ in, out message }{
		"birth": {
			&birth{
				Layout: layout{
					Mounts: []mount{{Source: "/a", Around: "/", Target: "/b", Write: true, Device: true, Optional: true}, {}},
					Links:  []link{{"/bin", "usr/bin"}},
					Files:  []file{{"/etc/hosts", "text\n"}},
				},
				Generic: "\xff\xfe",
			}, &birth{},
		},
		"request": {&request{Fork: true, Mounts: []mount{{Source: "/a"}}}, &request{}},
		"answer":  {&answer{Failed: failure{stepExec, "x", unix.ENOENT}}, &answer{}},
	} {
		packed, err := encode(test.in)
		if err != nil {
			t.Fatal(err)
		}
		if err := decodeBody(bytes.NewReader(packed[headSize:]), [headSize]byte(packed), test.out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.in, test.out, cmpopts.IgnoreUnexported(layout{})); diff != "" {
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
