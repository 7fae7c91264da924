package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Figure is a row of the table.
type Figure struct {
	Name     string  `json:"name"`
	Measured float64 `json:"measured"`
	Unit     string  `json:"unit"` // "×" for a ratio
	Aim      *Aim    `json:"aim,omitempty"`
	Met      *bool   `json:"met,omitempty"` // nil without an aim
	Note     string  `json:"note"`
}

// Aim is a bound on a figure, in the unit of the figure.
type Aim struct {
	Bound string  `json:"bound"` // "≥" or "≤"
	Value float64 `json:"value"`
}

func AtLeast(v float64) *Aim { return &Aim{"≥", v} }
func AtMost(v float64) *Aim  { return &Aim{"≤", v} }

func (a *Aim) met(v float64) bool {
	if a.Bound == "≥" {
		return v >= a.Value
	}
	return v <= a.Value
}

type Table struct{ Figures []Figure }

// Add adds a row; a is nil if there is no aim.
func (t *Table) Add(name string, measured float64, unit string, a *Aim, note string, args ...any) {
	f := Figure{Name: name, Measured: measured, Unit: unit, Aim: a, Note: fmt.Sprintf(note, args...)}
	if a != nil {
		met := a.met(measured)
		f.Met = &met
	}
	t.Figures = append(t.Figures, f)
}

// Print writes the table in aligned columns.
func (t *Table) Print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "figure\taim\tmeasured\t\tnote")
	for _, f := range t.Figures {
		aim, verdict := "", ""
		if f.Aim != nil {
			aim = f.Aim.Bound + " " + quantity(f.Aim.Value, f.Unit)
			verdict = "missed"
			if *f.Met {
				verdict = "met"
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", f.Name, aim, quantity(f.Measured, f.Unit), verdict, f.Note)
	}
	tw.Flush()
}

// WriteJSON writes the table and what it was measured on to a file.
func (t *Table) WriteJSON(name string, quick bool) error {
	b, err := json.MarshalIndent(struct {
		OS      string   `json:"os"`
		Arch    string   `json:"arch"`
		CPUs    int      `json:"cpus"`
		CPU     string   `json:"cpu,omitempty"`
		Go      string   `json:"go"`
		Quick   bool     `json:"quick"`
		Figures []Figure `json:"figures"`
	}{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpuName(), runtime.Version(), quick, t.Figures}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o666)
}

// quantity writes v with three significant digits, or more where these would be 1, and its unit.
func quantity(v float64, unit string) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if unit == "×" && v != 1 && math.Abs(v-1) < 0.005 { // sizes, which differ by little
		s = strconv.FormatFloat(v, 'g', 5, 64)
	}
	if v >= 100 || strings.Contains(s, "e") {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	switch unit {
	case "":
		return s
	case "×":
		return s + "×"
	}
	return s + " " + unit
}

// span writes the quartiles of a ratio.
func (s Spread) String() string { return fmt.Sprintf("quartiles %.2f–%.2f", s.Low, s.High) }
