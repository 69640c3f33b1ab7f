package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// TestTokens shows the terms of texts.
func TestTokens(t *testing.T) {
	kinds := [...]string{text.Whole: "", text.Joined: "=", text.Part: "<", text.Pair: ":"}
	a := text.New()
	for _, test := range []struct{ in, want string }{
		{"Extracting tables", "extract tabl"},
		{"code-review", "=codereview code review"},
		{"get_user_id", "=getuserid get user id"},
		{"JavaScript PowerPoint", "javascript <java <script powerpoint <power <point"},
		{"iOS, APIs, PDFReader", "io api pdfreader <pdf <reader"},
		{"C++ and C#, F#!", "c++ and c# f#"},
		{"10MB in 2 s, v1.2.3", "10mb <mb in 2 s =v123 v1 2 3"},
		{"1.2.3", "1.2.3"},
		{"python3 sha256 mp3", "python3 <python sha256 <sha mp3"},
		{"the user's don't l'équipe", "the user dont l equip"},
		{"CI/CD docs/guides/intro.md", "=cicd ci cd doc guid intro md"},
		{"Crème brûlée, ﬁne ＡＢＣ", "creme brule fine abc"},
		{"文件转换PDF", ":文件 :件转 :转换 pdf"},
		{"表", ":表"},
		{"データ", ":デー :ータ"},
		{"таблицы и отчёты", "таблиц и отчет"},
		{strings.Repeat("x", 100) + " y", "y"},
		{"", ""},
	} {
		var got []string
		for token := range a.Tokens(test.in, text.English) {
			got = append(got, kinds[token.Kind]+token.Term)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

// TestDetect: function words, letters and endings show the language of queries and of
// texts.
func TestDetect(t *testing.T) {
	a := text.New()
	for in, want := range map[string]text.Language{
		"extract tables from a PDF":               text.English,
		"deploy":                                  text.English,
		"Rechnungen als PDF erstellen":            text.German,
		"übersetze die Datei":                     text.German,
		"créer un tableau":                        text.French,
		"résumer des réunions":                    text.French,
		"convertir imágenes a PDF":                text.Spanish,
		"revisar el código":                       text.Spanish,
		"criar uma apresentação":                  text.Portuguese,
		"traduzir o texto para inglês":            text.Portuguese,
		"creare una presentazione":                text.Italian,
		"tradurre il testo in inglese":            text.Italian,
		"maak een presentatie":                    text.Dutch,
		"de factuur naar PDF omzetten":            text.Dutch,
		"文件转换":                                    text.English,
		"write unit tests in Go":                  text.English,
		"set up a new repo for me in the cloud":   text.English,
		"Use when someone asks about la carte es": text.English,
	} {
		if got := a.Detect(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	var bodies []string
	size := 0
	filepath.WalkDir(os.Getenv("SKILLS"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Name() == "SKILL.md" {
			body, _ := os.ReadFile(path)
			bodies = append(bodies, string(body))
			size += len(body)
		}
		return nil
	})
	b.SetBytes(int64(10 * size))
	for b.Loop() {
		a := text.New()
		n := 0
		for i := range 10 * len(bodies) {
			body := bodies[i%len(bodies)]
			for range a.Tokens(body, a.Detect(body)) {
				n++
			}
		}
		b.ReportMetric(float64(n), "tokens")
		b.ReportMetric(float64(a.Words()), "words")
	}
}

func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"code-review of PDFReader's 10MB", "l'été à Łódź", "文件转换 データ한국어", "a\xff-b", "x\u0301 ﬁ１０", "\u0300"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		a := text.New()
		language := a.Detect(in)
		for token := range a.Tokens(in, language) {
			if token.Surface == "" || token.Term == "" || token.ID >= a.Words() {
				t.Fatalf("%q: %+v", in, token)
			}
		}
	})
}

// TestInflections: another form of a word has a term in common with it, in each language.
func TestInflections(t *testing.T) {
	a := text.New()
	for _, test := range []struct {
		language   text.Language
		said, form string
	}{
		{text.English, "extracting", "extracts"},
		{text.English, "invoices", "Invoice"},
		{text.German, "Rechnungen", "rechnung"},
		{text.German, "Übersetzungen", "uebersetzung"},
		{text.German, "Verträge", "vertrag"},
		{text.French, "réunions", "réunion"},
		{text.French, "traduire", "traduire"},
		{text.Spanish, "imágenes", "imagen"},
		{text.Spanish, "facturas", "factura"},
		{text.Portuguese, "traduções", "tradução"},
		{text.Italian, "fatture", "fattura"},
		{text.Dutch, "facturen", "factuur"},
		{text.English, "таблицы", "таблица"},
	} {
		in := terms(a, test.said, test.language)
		shared := false
		for term := range terms(a, test.form, test.language) {
			shared = shared || in[term]
		}
		if !shared {
			t.Errorf("%s: %q and %q have no term in common: %v", test.language, test.said, test.form, in)
		}
	}
}

func terms(a *text.Analyzer, of string, language text.Language) map[string]bool {
	all := map[string]bool{}
	for token := range a.Tokens(of, language) {
		all[token.Term] = true
		for _, native := range a.Natives(token.Word, []text.Language{language}) {
			all[native] = true
		}
	}
	return all
}
