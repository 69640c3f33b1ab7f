package skills

import (
	"slices"
	"testing"
)

func TestFindHidden(t *testing.T) {
	for name, text := range map[string]string{
		"none":               "",
		"plain":              "tabs\tand\r\nlines, ünï ✓ “quotes” – … \u00a0 日本語",
		"family":             "👨\u200d👩\u200d👧\u200d👦 and 🏳️\u200d🌈, ❤️\u200d🔥, 👩🏽\u200d💻",
		"keycap":             "1\ufe0f\u20e3 ✔\ufe0f ℹ\ufe0f ‼\ufe0f",
		"Persian":            "می\u200cخواهم کتاب\u200cها",
		"Devanagari":         "क्\u200dष र्\u200d",
		"Malayalam":          "ന്\u200d",
		"variant of Han":     "葛\U000e0100 and 辻\U000e0101",
		"sign before digits": "\u0600١٢",
		"Mongolian":          "ᠭ\u180b ᠨ\u180eᠠ",
	} {
		if i, r := FindHidden(text); i >= 0 {
			t.Errorf("%s: %U at %d of %q is said to be hidden", name, r, i, text)
		}
	}
	for name, text := range map[string]string{
		"tag":                    "a\U000e0041",
		"tags of a flag":         "🏴\U000e0067\U000e0062",
		"override":               "a\u202eb",
		"isolate":                "a\u2066b",
		"Arabic mark":            "a\u061cb",
		"zero width":             "a\u200bb",
		"joiner in Latin":        "a\u200db",
		"non-joiner in Latin":    "a\u200cb",
		"non-joiner in Japanese": "日\u200c本",
		"joiner at the start":    "\u200d👩",
		"two joiners":            "👨\u200d\u200d👩",
		"word joiner":            "a\u2060b",
		"invisible times":        "a\u2062b",
		"byte order":             "a\ufeffb",
		"soft hyphen":            "a\u00adb",
		"filler":                 "a\u3164b",
		"grapheme joiner":        "a\u034fb",
		"C1":                     "a\u0085b",
		"escape":                 "a\x1b[1mb",
		"delete":                 "a\x7fb",
		"line separator":         "a\u2028b",
		"selector after Latin":   "a\ufe0f",
		"selectors in a row":     "✔\ufe0f\ufe0f",
		"supplement after emoji": "😀\U000e0110",
		"annotation":             "a\ufff9b",
		"unassigned":             "a\U000e0fffb",
	} {
		if i, _ := FindHidden(text); i < 0 {
			t.Errorf("%s: nothing of %q is said to be hidden", name, text)
		}
	}
}

func TestHiddenPlaces(t *testing.T) {
	first, count := HiddenPlaces("\ufeffone\nünï\u200b and\u200b\r\nplain\n\u202e\nx\u200b", 2)
	if want := []HiddenPlace{{2, 4, 0x200b}, {4, 1, 0x202e}}; !slices.Equal(first, want) || count != 4 {
		t.Errorf("got %v and %d, want %v and 4", first, count, want)
	}
}
