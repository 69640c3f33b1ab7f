package embeddings

import (
	"encoding/binary"
	"math"
)

// maxDimensions bounds the length of a vector.
const maxDimensions = 8192

// normalize scales a vector to the length 1; false is one without direction.
func normalize(vector []float32) bool {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return false
	}
	for i := range vector {
		vector[i] = float32(float64(vector[i]) / math.Sqrt(sum))
	}
	return true
}

// product returns the cosine of vectors of length 1.
func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func encode(vector []float32) []byte {
	data := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

// decode returns nil for bytes that are no vector of length 1.
func decode(data []byte) []float32 {
	if len(data)%4 != 0 || len(data) == 0 || len(data) > 4*maxDimensions {
		return nil
	}
	vector := make([]float32, len(data)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	if length := product(vector, vector); math.IsNaN(length) || math.Abs(length-1) > 1e-3 {
		return nil
	}
	return vector
}
