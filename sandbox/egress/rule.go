package egress

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A Rule names hosts and ports that may be connected to. The zero Rule names none.
type Rule struct {
	name string     // in lower case, without a dot at the end; "" for an address
	sub  bool       // the subdomains of name instead of name
	addr netip.Addr // not valid for a name
	port uint16     // 0 is 80 and 443
}

// ParseRule parses a rule:
//
//	api.example.com:443    one host, one port
//	api.example.com        ports 80 and 443
//	*.example.com:443      every subdomain, however deep, but not example.com
//	203.0.113.7:8443       an address
//	[2001:db8::1]:443      an IPv6 address
//
// The error has the remedy.
func ParseRule(text string) (Rule, error) {
	bad := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("%.100q is not a host: %s", text, fmt.Sprintf(format, args...))
	}
	if text == "" {
		return bad("write one such as api.example.com:443")
	}
	if scheme, rest, found := strings.Cut(text, "://"); found {
		rest, _, _ = strings.Cut(rest, "/")
		return bad("write it without %q, such as %.100q", scheme+"://", rest)
	}
	if strings.ContainsAny(text, "/?#@") {
		return bad("write a name and a port only, such as api.example.com:443")
	}
	host, digits, err := splitPort(text)
	if err != nil {
		return bad("%v", err)
	}
	var rule Rule
	if digits != "" {
		if rule.port, err = parsePort(digits); err != nil {
			return bad("%v", err)
		}
	}
	if rule.addr, err = netip.ParseAddr(host); err == nil {
		if rule.addr.Zone() != "" {
			return bad("write the address without its zone, %q", rule.addr.Zone())
		}
		rule.addr = rule.addr.Unmap()
		return rule, nil
	}
	rule.addr = netip.Addr{}
	host, rule.sub = strings.CutPrefix(host, "*.")
	if rule.name, err = parseName(host); err != nil {
		return bad("%v", err)
	}
	if rule.sub && !strings.Contains(rule.name, ".") {
		return bad("a * has to stand before a domain of its owner's, such as *.example.com:443")
	}
	return rule, nil
}

// parseTarget parses the host of a request, with port where it has none.
func parseTarget(text string, port uint16) (Rule, error) {
	target, err := ParseRule(text)
	if err != nil {
		return Rule{}, err
	}
	if target.sub {
		return Rule{}, fmt.Errorf("%.100q is not a host: it has a *", text)
	}
	target.port = cmp.Or(target.port, port)
	return target, nil
}

// splitPort splits a host from its port, which may be missing. An IPv6 address
// with a port is in brackets.
func splitPort(text string) (host, port string, err error) {
	if inner, bracket := strings.CutPrefix(text, "["); bracket {
		host, rest, closed := strings.Cut(inner, "]")
		if addr, err := netip.ParseAddr(host); !closed || err != nil || !addr.Is6() {
			return "", "", fmt.Errorf("brackets are for an IPv6 address, such as [2001:db8::1]:443")
		}
		if rest == "" {
			return host, "", nil
		}
		port, colon := strings.CutPrefix(rest, ":")
		if !colon || port == "" {
			return "", "", fmt.Errorf("write the port after a colon, such as [2001:db8::1]:443")
		}
		return host, port, nil
	}
	switch strings.Count(text, ":") {
	case 0:
		return text, "", nil
	case 1:
		host, port, _ = strings.Cut(text, ":")
		if port == "" {
			return "", "", fmt.Errorf("write a port after the colon, such as :443, or no colon")
		}
		return host, port, nil
	}
	if _, err := netip.ParseAddr(text); err != nil {
		return "", "", fmt.Errorf("write one colon, before the port, and an IPv6 address in brackets")
	}
	return text, "", nil
}

// parsePort parses a port from 1 to 65535, without leading zeros.
func parsePort(digits string) (uint16, error) {
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 || digits[0] == '0' || digits[0] == '+' {
		return 0, fmt.Errorf("the port %.20q is not a number from 1 to 65535", digits)
	}
	return uint16(port), nil
}

// parseName checks a host's name and returns it in the form for comparisons.
func parseName(name string) (string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || len(name) > 253 {
		return "", fmt.Errorf("a name has 1 to 253 characters")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	// Some programs parse a name that ends in a number as an address: 127.1, 0x7f.1.
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", fmt.Errorf("write an address as four numbers, such as 203.0.113.7")
	}
	return name, nil
}

// checkLabel checks one label of a name.
func checkLabel(label string) error {
	for _, c := range []byte(label) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case c >= 0x80:
			return fmt.Errorf("write an international name in its ASCII form, such as xn--bcher-kva.example")
		case c == '*':
			return fmt.Errorf("a * stands only for everything before a domain, such as *.example.com:443")
		default:
			return fmt.Errorf("a name has letters, digits, dots and hyphens only")
		}
	}
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return fmt.Errorf("between the dots of a name are 1 to 63 characters, no hyphen first or last")
	}
	return nil
}

// Covers reports whether r names all hosts and ports that o names.
func (r Rule) Covers(o Rule) bool {
	if r.port != o.port && (r.port != 0 || o.port != 80 && o.port != 443) {
		return false
	}
	switch {
	case r.addr.IsValid() || o.addr.IsValid():
		return r.addr == o.addr
	case r.sub:
		return strings.HasSuffix(o.name, "."+r.name) || o.sub && o.name == r.name
	}
	return r.name != "" && !o.sub && r.name == o.name
}

// Public reports whether r names hosts by name, or a public address. The addresses of
// names are checked when they are connected to.
func (r Rule) Public() bool { return !r.addr.IsValid() || refusal(r.addr, nil) == "" }

// host returns the name or the address.
func (r Rule) host() string {
	if r.addr.IsValid() {
		return r.addr.String()
	}
	return r.name
}

// String returns the rule in the syntax of [ParseRule].
func (r Rule) String() string {
	host := r.host()
	switch {
	case r.sub:
		host = "*." + host
	case r.addr.Is6():
		host = "[" + host + "]"
	}
	if r.port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(int(r.port))
}
