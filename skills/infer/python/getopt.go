package python

import "strings"

// readGetopt evaluates getopt.getopt(sys.argv[1:], "ho:", ["help", "output="]).
func (r *wordRecord) readGetopt(gnu bool, a *wordArgs) value {
	parts := append(append([]value{}, a.positional...), nil, nil, nil)
	for at, name := range []string{"args", "shortopts", "longopts"} {
		if v, ok := a.keywords[name]; ok {
			parts[at] = v
		}
	}
	v, _ := parts[0].(vector)
	short, ok := parts[1].(string)
	if v.from != 1 || v.space != allWords || !ok || a.opaque {
		r.fail(a.line, "the options of getopt are computed")
		return unknown{}
	}
	for letters := strings.TrimLeft(short, "+:"); letters != ""; {
		letter := letters[:1]
		takes := false
		letters, takes = strings.CutPrefix(letters[1:], ":")
		r.getoptOption(a.line, "-"+letter, takes)
	}
	long, ok := parts[2].(string)
	names := []value{long}
	if !ok {
		names, ok = iterable(parts[2])
	}
	if !ok && parts[2] != nil {
		r.fail(a.line, "the options of getopt are computed")
	}
	for _, name := range names {
		text, _ := name.(string)
		if flag, takes := strings.CutSuffix(text, "="); flag != "" {
			r.getoptOption(a.line, "--"+flag, takes)
		}
	}
	r.getopt = true
	return &sequence{[]value{optionPairs{}, vector{space: restWords, from: 1}}, '('}
}

func (r *wordRecord) getoptOption(line int, flag string, takes bool) {
	o := r.option(line, flag)
	if o.stripped = true; takes {
		o.kind = valueNext
	}
}
