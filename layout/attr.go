package layout

// Attr is an attribute of a stored tensor: a key with a value, both UTF-8. A tensor's attributes
// are a list whose order is kept.
type Attr struct {
	Key, Value string
}
