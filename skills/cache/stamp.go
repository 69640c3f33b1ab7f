package cache

import "github.com/skillsmcp/skills-mcp/skills/stamp"

func appendStamp(b []byte, s stamp.Stamp) []byte {
	for _, n := range []uint64{s.Dev, s.Ino, s.Size, s.Mode, uint64(s.Changed), uint64(s.Modified)} {
		b = appendUint(b, n)
	}
	return b
}

func (r *reader) stamp() stamp.Stamp {
	return stamp.Stamp{Dev: r.uint(), Ino: r.uint(), Size: r.uint(), Mode: r.uint(), Changed: int64(r.uint()), Modified: int64(r.uint())}
}
