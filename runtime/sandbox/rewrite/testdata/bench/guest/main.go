// Command guest is what a standard-Go plugin spends its time with.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
)

type item struct {
	ID    int               `json:"id"`
	Name  string            `json:"name"`
	Price float64           `json:"price"`
	Tags  []string          `json:"tags"`
	Meta  map[string]string `json:"meta"`
}

var items = func() (list []item) {
	for i := range 10 {
		list = append(list, item{i, fmt.Sprint("item ", i), float64(i) * 1.25, []string{"a", "b"}, map[string]string{"k": "v", "x": "y"}})
	}
	return list
}()

//go:wasmexport json
func encodeDecode() int32 {
	b, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	var back []item
	if err := json.Unmarshal(b, &back); err != nil {
		panic(err)
	}
	slices.SortFunc(back, func(x, y item) int { return y.ID - x.ID })
	return int32(len(b) + len(back))
}

var message = make([]byte, 1<<14)

//go:wasmexport sha256
func hash() int32 {
	sum := sha256.Sum256(message)
	return int32(sum[0])
}

func main() {}
