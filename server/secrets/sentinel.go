package secrets

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
)

// minRandom is the least number of characters of a sentinel that are random: a guess does
// not find it in other text.
const minRandom = 8

// Sentinel returns a new text that looks like a value and tells nothing of it but its shape:
// the length, a prefix such as ghp_, the kind of character at each place, and the header,
// the keys and the numbers of a JWT. The error is of a value of too few letters and digits.
func Sentinel(value string) (string, error) {
	for {
		text, random := scrambleJWT(value)
		if random == 0 {
			prefix := prefixOf(value)
			text, random = scramble(value[len(prefix):])
			if text = prefix + text; random < 2*minRandom {
				text, random = scramble(value)
			}
		}
		if random < minRandom {
			return "", errors.New("the value has too few letters and digits to be masked; it can be granted with --plain")
		}
		if text != value {
			return text, nil
		}
	}
}

// prefixOf returns the public beginning of a value, by which scanners and clients know
// whose it is. The groups of a UUID are longer than a word of one, and those of random text
// have letters of both cases.
func prefixOf(value string) string {
	for _, known := range []string{"AKIA", "ASIA", "AIza", "eyJ"} {
		if strings.HasPrefix(value, known) {
			return known
		}
	}
	prefix := value[:strings.LastIndexAny(value[:min(len(value), 12)], "_-")+1]
	for word := range strings.FieldsFuncSeq(prefix, func(r rune) bool { return r == '_' || r == '-' }) {
		if len(word) > len("github") || strings.ToLower(word) != word && strings.ToUpper(word) != word {
			return ""
		}
	}
	return prefix
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// scramble exchanges the letters and digits of a text for random ones, and returns how many
// these are. A text in hexadecimal stays one.
func scramble(text string) (string, int) {
	out, random := []byte(text), 0
	alphabets := []string{digits, lower, upper}
	for i, alphabet := range alphabets[1:] {
		if !strings.ContainsAny(text, alphabet[6:]) {
			alphabets[i+1] = alphabet[:6]
		}
	}
	for i := range out {
		if exchange(&out[i], alphabets) {
			random++
		}
	}
	return string(out), random
}

// exchange replaces a character by a random one of its alphabet. It reports whether it has
// one.
func exchange(c *byte, alphabets []string) bool {
	for _, alphabet := range alphabets {
		if strings.IndexByte(alphabet, *c) >= 0 {
			n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
			if err != nil {
				panic(err) // never: the reader ends the program before
			}
			*c = alphabet[n.Int64()]
			return true
		}
	}
	return false
}

// scrambleJWT returns a JWT with the same header, claims of the same shape, and a random
// signature; 0 for a text that is none.
func scrambleJWT(value string) (text string, random int) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 {
		return "", 0
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return "", 0
		}
	}
	if !json.Valid(decoded[0]) || !json.Valid(decoded[1]) || !bytes.HasPrefix(decoded[0], []byte("{")) || len(decoded[2]) < minRandom {
		return "", 0
	}
	_, _ = rand.Read(decoded[2]) // which never fails
	claims := base64.RawURLEncoding.EncodeToString(scrambleStrings(decoded[1]))
	return parts[0] + "." + claims + "." + base64.RawURLEncoding.EncodeToString(decoded[2]), len(decoded[2])
}

// scrambleStrings exchanges the letters and digits in the strings of JSON that are no keys,
// and no part of an escape.
func scrambleStrings(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); i++ {
		if out[i] != '"' {
			continue
		}
		start := i + 1
		for i++; out[i] != '"'; i++ {
			if out[i] == '\\' {
				i++
			}
		}
		if bytes.HasPrefix(bytes.TrimLeft(out[i+1:], " \t\r\n"), []byte(":")) {
			continue // a key
		}
		for j := start; j < i; j++ {
			if out[j] == '\\' {
				if j++; out[j] == 'u' {
					j += 4
				}
				continue
			}
			exchange(&out[j], []string{digits, lower, upper})
		}
	}
	return out
}
