package icon

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"image/png"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestIcon wants pictures that are small, and that clients accept.
func TestIcon(t *testing.T) {
	if err := xml.Unmarshal([]byte(SVG()), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
	encoded, ok := strings.CutPrefix(PNGData(), "data:image/png;base64,")
	picture, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !ok {
		t.Fatal(err)
	}
	if size, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || size.Width != 48 || size.Height != 48 {
		t.Errorf("%+v, %v", size, err)
	}
	if n := len(SVGData()) + len(PNGData()); n > 1<<10 || !strings.HasPrefix(SVGData(), "data:image/svg+xml;base64,") {
		t.Errorf("the mark has %d bytes: %s", n, SVGData())
	}
}
