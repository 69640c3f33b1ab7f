package check

import "bytes"

// A Change is one repaired fault.
type Change struct {
	Line, Col int    // from 1, in the file before the change
	Message   string // the repair, in the past tense
	// Problem describes the fault; "" if loading the skill reports it.
	Problem string
}

// edit replaces a range of bytes.
type edit struct {
	start, end int
	text       string
	change     *Change // nil if another edit reports the change
}

// apply returns data with the edits, which are in order and do not overlap, and
// their changes.
func apply(data []byte, edits []edit) ([]byte, []Change) {
	if len(edits) == 0 {
		return data, nil
	}
	var out bytes.Buffer
	var changes []Change
	at := 0
	for _, e := range edits {
		out.Write(data[at:e.start])
		out.WriteString(e.text)
		at = e.end
		if e.change != nil {
			changes = append(changes, *e.change)
		}
	}
	out.Write(data[at:])
	return out.Bytes(), changes
}
