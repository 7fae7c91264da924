package main

import "github.com/tstore/tstore/bench/internal/measure"

func main() {
	measure.Main("bench/store", []measure.Group{
		{Name: "large", Run: large},
		{Name: "medium", Run: medium},
		{Name: "durable", Run: durable},
		{Name: "batches", Run: batches},
		{Name: "names", Run: names},
		{Name: "upkeep", Run: upkeep},
	}, child)
}
