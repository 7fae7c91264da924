//go:build !race

package vec

const underRace = false
