//go:build race

package vec

// underRace thins out the cases: the race detector makes loops over bytes very slow, and looks for something else.
const underRace = true
