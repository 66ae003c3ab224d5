// Command work-go is the worker in Go: see README.md in the folder above.
package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

//go:wasmexport run
func run() int32 { return wharf.Run(work) }

func main() {}

func work(task *wharf.Task) (wharf.Result, error) {
	var in struct {
		Work  string `json:"work"`
		Times *int   `json:"times"`
	}
	if err := task.Decode(&in); err != nil {
		return wharf.Result{}, err
	}
	times := 1
	if in.Times != nil {
		times = *in.Times
	}
	do := works()[in.Work]
	if do == nil {
		return wharf.Result{}, fmt.Errorf("there is no work %q", in.Work)
	}
	d := digest(0xcbf29ce484222325)
	if err := do(&d, times); err != nil {
		return wharf.Result{}, err
	}
	return wharf.Result{Summary: fmt.Sprintf("%016x", uint64(d))}, nil
}

func works() map[string]func(d *digest, n int) error {
	return map[string]func(d *digest, n int) error{
		"busy":    func(*digest, int) error { return busy() },
		"calls":   calls,
		"exit":    func(_ *digest, n int) error { os.Exit(n); return nil },
		"floats":  floats,
		"heap":    heap,
		"look":    look,
		"maps":    maps,
		"recurse": func(d *digest, n int) error { d.mix(even(uint64(n))); return nil },
		"sort":    sorts,
		"trap":    func(*digest, int) error { return trap() },
		"write":   write,
	}
}

type digest uint64 // FNV-1a

func (d *digest) bytes(bytes []byte) {
	for _, b := range bytes {
		*d = (*d ^ digest(b)) * 0x100000001b3
	}
}

func (d *digest) mix(v uint64) { d.bytes(binary.LittleEndian.AppendUint64(nil, v)) }

// maps mixes a map in the order in which it is told, which is chance.
func maps(d *digest, n int) error {
	m := map[string]int{}
	for i := range n {
		m[strconv.Itoa(i)] = i
	}
	for k, v := range m {
		d.bytes([]byte(k))
		d.mix(uint64(v))
	}
	secret := make([]byte, 16)
	rand.Read(secret)
	d.bytes(secret)
	return nil
}

func sorts(d *digest, n int) error {
	state := uint64(1)
	v := make([]uint32, n)
	for i := range v {
		state = state*6364136223846793005 + 1442695040888963407
		v[i] = uint32(state >> 33)
	}
	slices.Sort(v)
	for _, x := range v {
		d.mix(uint64(x))
	}
	return nil
}

func heap(d *digest, n int) error {
	var kept [][]uint32
	for i := range n {
		block := make([]uint32, 4<<(i%12))
		for j := range block {
			block[j] = uint32(i * j)
		}
		if i%3 == 0 {
			kept = append(kept, block)
		}
	}
	for _, block := range kept {
		d.mix(uint64(block[3]))
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	d.mix(stats.HeapSys)
	d.mix(stats.Mallocs)
	d.mix(uint64(stats.NumGC))
	return nil
}

//go:noinline
func even(n uint64) uint64 {
	if n == 0 {
		return 1
	}
	return odd(n-1)*31 + n
}

//go:noinline
func odd(n uint64) uint64 {
	if n == 0 {
		return 1
	}
	return even(n-1)*31 + n
}

func calls(d *digest, n int) error {
	begun := time.Now()
	for range n {
		d.mix(uint64(time.Now().UnixNano()))
		d.mix(uint64(time.Since(begun)))
		at, err := wharf.Now()
		if err != nil {
			return err
		}
		d.mix(uint64(at.UnixNano()))
		chance := make([]byte, 16)
		if err := wharf.Random(chance); err != nil {
			return err
		}
		d.bytes(chance)
		if err := keep(d); err != nil {
			return err
		}
		if err := wharf.Log(wharf.LevelInfo, "%016x", uint64(*d)); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func keep(d *digest) error {
	if err := wharf.State("work").Set(fmt.Sprintf("%016x", uint64(*d))); err != nil {
		return err
	}
	var kept any
	found, err := wharf.State("work").Get(&kept)
	d.bytes(fmt.Append(nil, found, kept))
	return err
}

var (
	touched   = 1
	untouched int
	left      = map[string]int{"here": 1}
)

// look mixes everything that another Task could have left behind.
func look(d *digest, _ int) error {
	d.mix(uint64(touched))
	d.mix(uint64(untouched))
	for k, v := range left {
		d.bytes([]byte(k))
		d.mix(uint64(v))
	}
	for _, v := range os.Environ() {
		d.bytes([]byte(v))
	}
	n, err := os.Stdout.WriteString("here\n")
	d.bytes(fmt.Append(nil, n, err))
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	d.bytes(fmt.Append(nil, stats.Mallocs, stats.HeapSys, stats.NumGC, runtime.NumGoroutine()))
	return nil
}

func write(d *digest, n int) error {
	touched, untouched = 0xdead, 0xbeef
	for i := range n * 100 {
		left[fmt.Sprint("left behind ", i)] = i
	}
	os.Setenv("LEFT", "behind")
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		d.bytes(fmt.Append(nil, f.Close()))
	}
	go func() { select {} }()
	left["block"] = len(make([]byte, n<<16))
	runtime.GC()
	return nil
}

func busy() error {
	for {
		touched++
	}
}

func trap() error {
	var none *int
	*none = 1
	return nil
}
