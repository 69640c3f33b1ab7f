package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// maxSide is how many pixels a picture may be wide or high. Models refuse larger
// ones, and what shows them makes room for all pixels.
const maxSide = 8000

// IsPicture reports whether data is what models can look at. They take few
// formats, and refuse a whole conversation for one broken image.
func IsPicture(mediaType string, data []byte) bool {
	decode := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig, "image/webp": webp,
	}[mediaType]
	if decode == nil {
		return false
	}
	size, err := decode(bytes.NewReader(data))
	return err == nil && isSide(size.Width) && isSide(size.Height)
}

func isSide(pixels int) bool { return 0 < pixels && pixels <= maxSide }

var errNoWebP = errors.New("not a WebP picture")

// webp reads the size of a WebP picture (RFC 9649) from its first chunk.
func webp(r io.Reader) (image.Config, error) {
	var head [30]byte
	_, err := io.ReadFull(r, head[:])
	if err != nil || string(head[:4]) != "RIFF" || string(head[8:12]) != "WEBP" {
		return image.Config{}, errNoWebP
	}
	little := binary.LittleEndian
	switch data := head[20:]; string(head[12:16]) {
	case "VP8 ": // lossy: after the frame's tag and a mark
		if string(data[3:6]) != "\x9d\x01\x2a" {
			return image.Config{}, errNoWebP
		}
		return image.Config{Width: int(little.Uint16(data[6:]) & 0x3fff), Height: int(little.Uint16(data[8:]) & 0x3fff)}, nil
	case "VP8L": // lossless: 14 bits each, after a mark
		if data[0] != 0x2f {
			return image.Config{}, errNoWebP
		}
		bits := little.Uint32(data[1:])
		return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, nil
	case "VP8X": // extended: 24 bits each, after flags
		return image.Config{Width: int(little.Uint32(data[4:])&0xffffff) + 1, Height: int(little.Uint32(data[6:])>>8) + 1}, nil
	}
	return image.Config{}, errNoWebP
}
