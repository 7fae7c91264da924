package summary

import "math"

// moments are the number, mean and squared deviation of finite values.
type moments struct {
	n, mean, squares float64
}

// merge adds the values of o.
func (m *moments) merge(o moments) {
	if m.n == 0 || o.n == 0 {
		if o.n > 0 {
			*m = o
		}
		return
	}
	n := m.n + o.n
	delta := o.mean - m.mean
	m.squares += o.squares + delta*delta*(m.n/n)*o.n
	m.mean = m.mean*(m.n/n) + o.mean*(o.n/n)
	m.n = n
}

// std is the standard deviation.
func (m *moments) std() float64 { return math.Sqrt(max(m.squares, 0) / m.n) }
