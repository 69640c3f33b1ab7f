package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A Value is an effective setting, for people.
type Value struct {
	Key    string // with dots, such as "sandbox.limits.memory"
	Text   string // without any secret
	Origin string // where it was set; "" is the default
}

// ByCommand is the origin of a setting that a flag or its variable has changed.
const ByCommand = "the command line, or a variable"

// Values returns the settings in the order of the documentation. One that is not the default
// has the file as its origin, unless it has changed since the file was read.
func (c *Config) Values() []Value {
	all, read := c.values(), map[string]string{}
	if c.read != nil {
		for _, v := range c.read.values() {
			read[v.Key] = v.Text
		}
	}
	defaults := Default().values()
	for i, v := range all {
		switch text, known := read[v.Key]; {
		case slices.Contains(defaults, v):
		case known && text == v.Text:
			all[i].Origin = c.File
		default:
			all[i].Origin = ByCommand
		}
		all[i].Text = cmp.Or(v.Text, "none")
		if v.Key == "sandbox.slots.per_skill" && v.Text == "0" {
			all[i].Text = "all but one"
		}
	}
	return all
}

// A Change is a setting that differs between two configurations, without any secret.
type Change struct{ Key, Old, New string }

// Changes returns the settings of next that differ from those of old, also where the texts of
// secrets are alike.
func Changes(old, next *Config) (all []Change) {
	var before, after valueWriter
	before.add("", reflect.ValueOf(*old))
	after.add("", reflect.ValueOf(*next))
	find := func(w *valueWriter, key string) (text string, raw any) {
		if i := slices.IndexFunc(w.all, func(v Value) bool { return v.Key == key }); i >= 0 {
			return cmp.Or(w.all[i].Text, "none"), w.raw[i]
		}
		return "none", nil
	}
	for _, v := range slices.Concat(before.all, after.all) {
		was, a := find(&before, v.Key)
		is, b := find(&after, v.Key)
		if change := (Change{v.Key, was, is}); !reflect.DeepEqual(a, b) && !slices.Contains(all, change) {
			all = append(all, change)
		}
	}
	return all
}

// values returns the settings without their origins.
func (c *Config) values() []Value {
	var w valueWriter
	w.add("", reflect.ValueOf(*c))
	return w.all
}

// A valueWriter renders settings.
type valueWriter struct {
	all []Value
	raw []any // the value of each
}

// add adds a value, or those in it.
func (w *valueWriter) add(key string, v reflect.Value) {
	switch {
	case secret(key):
		text := "set; only its hash is known"
		if v.IsZero() {
			text = "not set"
		}
		w.put(key, text, v)
	case strings.HasPrefix(key, "policy.profiles.") && strings.Contains(key, ".env."), strings.HasPrefix(key, "agents.define.") && strings.HasSuffix(key, ".prompt"):
		w.put(key, "…", v)
	case v.Kind() == reflect.Struct && !v.Type().Implements(reflect.TypeFor[fmt.Stringer]()): // which has a text of its own
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if name != "" && name != "-" && !(inMap(key) && v.Field(i).IsZero()) {
				w.add(join(key, name), v.Field(i))
			}
		}
	case v.Kind() == reflect.Map && v.Len() > 0:
		for _, k := range slices.SortedFunc(maps.Keys(asMap(v)), strings.Compare) {
			w.add(join(key, k), asMap(v)[k])
		}
	default:
		w.put(key, render(v), v)
	}
}

// inMap reports whether a key is of a rule, a profile, a model or an agent, of which few fields
// are set.
func inMap(key string) bool {
	return slices.ContainsFunc([]string{"policy.skills.", "policy.profiles.", "agents.models.", "agents.define."}, func(of string) bool { return strings.HasPrefix(key, of) })
}

func asMap(v reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := v.MapRange(); i.Next(); {
		all[i.Key().String()] = i.Value()
	}
	return all
}

func join(key, name string) string { return strings.TrimPrefix(key+"."+name, ".") }

func (w *valueWriter) put(key, text string, v reflect.Value) {
	w.all, w.raw = append(w.all, Value{Key: key, Text: text}), append(w.raw, v.Interface())
}

// secret reports whether the value of a key proves who somebody is.
func secret(key string) bool {
	return key == "policy.passphrase" || key == "policy.script_token" || strings.HasPrefix(key, "policy.approvers.")
}

// render returns the text of a value that has no other settings in it.
func render(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case Size:
		return sandbox.Bytes(int64(value))
	case Age:
		if d := time.Duration(value); d%(24*time.Hour) == 0 {
			return fmt.Sprintf("%dd", d/(24*time.Hour))
		}
		return time.Duration(value).String()
	case string:
		return withoutSecret(value)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return render(v.Elem())
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return "none"
		}
		all := make([]string, v.Len())
		for i := range all {
			all[i] = render(v.Index(i))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v.Interface())
}

// withoutSecret returns a text without the value of a variable, and without the password
// and the query of a URL.
func withoutSecret(text string) string {
	if name, _, variable := strings.Cut(text, "="); variable && environmentEntry.MatchString(text) {
		return name + "=…"
	}
	to, err := url.Parse(text)
	if scheme, _, isURL := strings.Cut(text, "://"); err != nil && isURL {
		return scheme + "://…"
	}
	if err != nil || to.Host == "" && to.User == nil {
		return text
	}
	if to.RawQuery != "" {
		to.RawQuery = "…"
	}
	return to.Redacted()
}
