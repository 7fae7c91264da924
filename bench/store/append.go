package main

import (
	"os"

	"github.com/tstore/tstore/bench/internal/measure"
)

// appender appends to a growing file and makes each piece durable.
type appender struct{ f *os.File }

func newAppender(name string) (*appender, error) {
	f, err := os.Create(name)
	return &appender{f}, err
}

func (a *appender) append(b []byte) error {
	if _, err := a.f.Write(b); err != nil {
		return err
	}
	return measure.Datasync(a.f)
}

// remove closes and removes the file.
func (a *appender) remove() error {
	a.f.Close()
	return os.Remove(a.f.Name())
}
