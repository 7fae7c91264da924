//go:build race

package layout

// raceDetector says that the race detector is on, under which a sync.Pool forgets things at random.
const raceDetector = true
