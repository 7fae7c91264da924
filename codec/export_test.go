package codec

// The two ways to decode a message, to be compared.
var (
	DecodePlain = decodePlain
	DecodeAny   = decode
)
