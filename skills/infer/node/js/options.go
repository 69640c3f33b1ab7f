package js

// Options are the values of the options that a library has read.
type Options struct {
	Command *Command
	Key     string   // of the positionals
	Values  *Options // of parseArgs, whose result has them in a member
	Open    bool     // any option is read, declared or not
	Line    int32    // of the call
	Offset  int      // of the first positional
	At      map[string]Value
}

// Member returns the value of an option, or the positionals.
func (o *Options) Member(name string) Value {
	if v, ok := o.At[name]; ok {
		return v
	}
	if o.Values != nil {
		if name == "values" {
			return o.Values
		}
		if name != "positionals" {
			return Unknown{}
		}
	}
	if name == o.Key {
		if o.Command.Words == nil {
			o.Command.Words = NewWordList()
			o.Command.Words.Declared = true
		}
		return Words{o.Command.Words, o.Offset}
	}
	if a := o.Command.Find(name); a != nil {
		return Given{a, false}
	}
	for _, p := range o.Command.Positionals {
		if p.Name == name || camel(p.Name) == name {
			return Given{p, false}
		}
	}
	if !o.Open || o.Values != nil || name == "$0" || name == "help" || name == "h" || name == "version" {
		return Unknown{}
	}
	if len(o.Command.Options) > MaxArguments {
		return Unknown{}
	}
	a := NewOption(o.Line, "--"+name)
	a.Undeclared = true
	o.Command.Options = append(o.Command.Options, a)
	return Given{a, false}
}
