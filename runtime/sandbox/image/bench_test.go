package image

import (
	"fmt"
	"testing"
)

// BenchmarkReset measures a turn: the guest writes into some pages, and the memory is
// reset. The difference to "blind" is what the kernel's word is worth.
func BenchmarkReset(b *testing.B) {
	for _, guest := range []struct{ pages, written, read int }{{1, 2, 2}, {2, 3, 4}, {17, 4, 16}, {70, 28, 300}, {70, 120, 500}} {
		for name, make := range sources(b) {
			b.Run(fmt.Sprintf("pages=%d,written=%d,read=%d/%s", guest.pages, guest.written, guest.read, name), func(b *testing.B) {
				benchmarkReset(b, make, guest.pages, guest.written, guest.read)
			})
		}
	}
}

func benchmarkReset(b *testing.B, make_ func([]byte) (*Image, error), pages, written, read int) {
	content := make([]byte, pages*PageBytes)
	for i := range content {
		content[i] = byte(i * 7)
	}
	image, err := make_(content)
	if err != nil {
		b.Fatal(err)
	}
	defer image.Close()
	m, err := image.NewMemory(2 * image.Size())
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	e := newEngine(m, 1)
	sum := byte(0)
	for b.Loop() {
		for i := range read {
			sum += e.buffer[i*len(content)/read]
		}
		for i := range written {
			e.buffer[i*len(content)/written]++
		}
		if err := m.Reset(e); err != nil {
			b.Fatal(err)
		}
	}
	_ = sum
}

// BenchmarkResetGrown is the same for a guest that grows each time, and writes into some
// of the pages that it got.
func BenchmarkResetGrown(b *testing.B) {
	for name, make_ := range sources(b) {
		b.Run(name, func(b *testing.B) {
			image, err := make_(make([]byte, 70*PageBytes))
			if err != nil {
				b.Fatal(err)
			}
			defer image.Close()
			m, err := image.NewMemory(256 << 20)
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			e := newEngine(m, 1)
			for b.Loop() {
				e.Grow(16)
				for i := range 40 {
					e.buffer[70*PageBytes+i*4096]++
				}
				if err := m.Reset(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewMemory measures making and closing a memory of a 4.5 MB guest.
func BenchmarkNewMemory(b *testing.B) {
	for name, make_ := range sources(b) {
		b.Run(name, func(b *testing.B) {
			image, err := make_(make([]byte, 70*PageBytes))
			if err != nil {
				b.Fatal(err)
			}
			defer image.Close()
			for b.Loop() {
				m, err := image.NewMemory(256 << 20)
				if err != nil {
					b.Fatal(err)
				}
				m.Reallocate(PageBytes)
				m.Close()
			}
		})
	}
}
