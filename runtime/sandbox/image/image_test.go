package image

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// sources are the ways in which an image can be held on this machine.
func sources(t testing.TB) map[string]func([]byte) (*Image, error) {
	made := map[string]func([]byte) (*Image, error){
		"default": New,
		"copied":  func(c []byte) (*Image, error) { return newImage(c, newCopied(c)), nil },
	}
	for name, wrap := range detectors() {
		made[name] = func(c []byte) (*Image, error) {
			s, err := newMapped(c)
			if err != nil {
				return nil, err
			}
			wrap(s)
			return newImage(c, s), nil
		}
	}
	return made
}

// engine does what wazero does with a memory.
type engine struct {
	memory *Memory
	buffer []byte
}

func newEngine(m *Memory, pages uint64) *engine {
	return &engine{memory: m, buffer: m.Allocate(0, 0).Reallocate(pages * PageBytes)}
}

func (e *engine) Size() uint32 { return uint32(len(e.buffer)) }

func (e *engine) Grow(delta uint32) (uint32, bool) {
	before := uint32(len(e.buffer) / PageBytes)
	grown := e.memory.Reallocate(uint64(before+delta) * PageBytes)
	if grown == nil {
		return 0, false
	}
	e.buffer = grown
	return before, true
}

// TestMemoryIsTheImageAgain holds memories against a plain slice of bytes: whatever
// guests write, however they grow, each Run begins with the image and nothing else.
func TestMemoryIsTheImageAgain(t *testing.T) {
	for name, make := range sources(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkMemory(t, make) })
		})
	}
}

func checkMemory(t *rapid.T, newImage func([]byte) (*Image, error)) {
	content := drawContent(t)
	image, err := newImage(content)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, image.Close)
	first := image.Size() / PageBytes
	if len(content) == 0 {
		first = rapid.Uint64Range(0, 3).Draw(t, "declared")
	}
	most := first + rapid.Uint64Range(0, 40).Draw(t, "room")
	memory, err := image.NewMemory(most * PageBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, memory.Close)
	e := newEngine(memory, first)
	m := &model{t: t, engine: e, first: append(slices.Clone(content), make([]byte, int(first*PageBytes)-len(content))...), most: most}
	m.begin()
	t.Repeat(map[string]func(*rapid.T){
		"":      m.check,
		"write": m.write,
		"fill":  m.fill,
		"grow":  m.grow,
		"limit": m.setLimit,
		"reset": m.reset,
		"runs":  m.runs,
	})
}

func closed(t *rapid.T, close func() error) {
	if err := close(); err != nil {
		t.Error(err)
	}
}

// drawContent draws an image in which some pages are zero and some are not.
func drawContent(t *rapid.T) []byte {
	content := make([]byte, rapid.IntRange(0, 5*PageBytes).Draw(t, "size"))
	for range rapid.IntRange(0, 30).Draw(t, "spots") {
		if len(content) > 0 {
			at := rapid.IntRange(0, len(content)-1).Draw(t, "at")
			copy(content[at:], rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "bytes"))
		}
	}
	return content
}

type model struct {
	t      *rapid.T
	engine *engine
	first  []byte // a memory as it begins
	want   []byte
	most   uint64 // pages
	limit  uint64 // pages
}

func (m *model) begin() {
	m.want = slices.Clone(m.first)
	m.limit = m.most
}

func (m *model) check(t *rapid.T) {
	if !bytes.Equal(m.engine.buffer, m.want) {
		t.Fatalf("memory of %d bytes differs at %d", len(m.want), mismatch(m.engine.buffer, m.want))
	}
	if m.engine.memory.Size() != uint64(len(m.want)) {
		t.Fatalf("Size() = %d, want %d", m.engine.memory.Size(), len(m.want))
	}
}

func mismatch(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func (m *model) write(t *rapid.T) {
	if len(m.want) == 0 {
		t.Skip("no memory")
	}
	at := rapid.IntRange(0, len(m.want)-1).Draw(t, "at")
	b := rapid.SliceOfN(rapid.Byte(), 1, 9000).Draw(t, "bytes")
	copy(m.want[at:], b)
	copy(m.engine.buffer[at:], b)
}

// fill writes one byte into each of many pages.
func (m *model) fill(t *rapid.T) {
	step := rapid.IntRange(1000, 20000).Draw(t, "step")
	value := rapid.Byte().Draw(t, "value")
	for at := rapid.IntRange(0, 9999).Draw(t, "from"); at < len(m.want); at += step {
		m.want[at], m.engine.buffer[at] = value, value
	}
}

func (m *model) grow(t *rapid.T) {
	delta := rapid.Uint32Range(1, 12).Draw(t, "pages")
	pages := uint64(len(m.want))/PageBytes + uint64(delta)
	_, ok := m.engine.Grow(delta)
	if fits := pages <= m.limit; ok != fits {
		t.Fatalf("growing to %d of %d pages: %v", pages, m.limit, ok)
	}
	if !ok {
		if got := m.engine.memory.Refused(); got != pages*PageBytes {
			t.Fatalf("Refused() = %d, want %d pages", got, pages)
		}
		return
	}
	m.want = append(m.want, make([]byte, int(delta)*PageBytes)...)
}

func (m *model) setLimit(t *rapid.T) {
	limit := rapid.Uint64Range(0, m.most+3).Draw(t, "limit")
	m.engine.memory.SetLimit(limit * PageBytes)
	m.limit = min(limit, m.most)
	if got := m.engine.memory.Refused(); got != 0 {
		t.Fatalf("Refused() = %d for a new limit", got)
	}
}

func (m *model) reset(t *rapid.T) {
	if err := m.engine.memory.Reset(m.engine); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "trim") {
		kept := m.engine.memory.Kept()
		if err := m.engine.memory.Trim(); err != nil {
			t.Fatal(err)
		}
		if now := m.engine.memory.Kept(); now > kept {
			t.Fatalf("Kept() = %d after trimming, %d before", now, kept)
		}
	}
	m.engine.memory.SetLimit(m.most * PageBytes)
	m.begin()
}

// runs is many Runs that write in the same places, then one that looks.
func (m *model) runs(t *rapid.T) {
	m.reset(t)
	if len(m.want) == 0 {
		return
	}
	places := rapid.SliceOfN(rapid.IntRange(0, len(m.want)-1), 1, 20).Draw(t, "places")
	for range rapid.IntRange(1, 3*checkEvery).Draw(t, "runs") {
		for _, at := range places {
			m.engine.buffer[at]++
		}
		if err := m.engine.memory.Reset(m.engine); err != nil {
			t.Fatal(err)
		}
		m.check(t)
	}
}

// TestLargeMemoriesAreTheImageAgain writes into more places than a kernel is asked for at
// once, near and far.
func TestLargeMemoriesAreTheImageAgain(t *testing.T) {
	const size = 160 * PageBytes
	content := bytes.Repeat([]byte("large image "), size/12+1)[:size]
	for name, make := range sources(t) {
		image, err := make(content)
		if err != nil {
			t.Fatal(err)
		}
		m, err := image.NewMemory(2 * size)
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(m, 1)
		for turn := range checkEvery + 1 {
			for i := range 200 {
				e.buffer[i*10_000]++
			}
			e.buffer[size-5_000_000]++
			e.buffer[size-1]++
			if turn%4 == 3 {
				e.Grow(160)
				e.buffer[2*size-1]++
			}
			if err := m.Reset(e); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(e.buffer, content) {
				t.Fatalf("%s: turn %d: the memory differs at %d", name, turn, mismatch(e.buffer, content))
			}
		}
		closeAll(t, m.Close, image.Close)
	}
}

func TestNewMemoryRefusesLessThanTheImage(t *testing.T) {
	for name, make := range sources(t) {
		image, err := make([]byte("begins with two pages" + strings.Repeat(".", PageBytes)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := image.NewMemory(PageBytes); err == nil {
			t.Errorf("%s: a memory of one page began with an image of two", name)
		}
		if err := image.Close(); err != nil {
			t.Error(err)
		}
		if _, err := image.NewMemory(2 * PageBytes); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: a memory of a closed image: %v", name, err)
		}
	}
}

// TestMemoriesOutliveTheirImage makes, uses and closes memories from many goroutines
// while the image is closed.
func TestMemoriesOutliveTheirImage(t *testing.T) {
	for name, make := range sources(t) {
		t.Run(name, func(t *testing.T) {
			image, err := make(bytes.Repeat([]byte("image"), 50_000))
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(image.Bytes())
			var users sync.WaitGroup
			for g := range 4 {
				users.Go(func() {
					for range 50 {
						if !useOnce(t, image, want, g) {
							return
						}
					}
				})
				if g == 2 {
					if err := image.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			users.Wait()
		})
	}
}

// useOnce takes a memory through its life. It reports whether there was one.
func useOnce(t *testing.T, image *Image, want []byte, g int) bool {
	m, err := image.NewMemory(64 * PageBytes)
	if err != nil {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		return false
	}
	e := newEngine(m, 1)
	e.Grow(3)
	for at := g; at < len(e.buffer); at += 5000 {
		e.buffer[at] = byte(g)
	}
	if err := m.Reset(e); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(e.buffer, want) {
		t.Error("the memory is not the image")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return true
}

// stuck is an engine that does not adopt a smaller memory.
type stuck struct{ *engine }

func (stuck) Grow(uint32) (uint32, bool) { return 0, false }

func TestMemoryThatCannotShrinkIsBroken(t *testing.T) {
	for name, make := range sources(t) {
		image, err := make(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := image.NewMemory(4 * PageBytes)
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(m, 1)
		e.Grow(1)
		if err := m.Reset(stuck{e}); err == nil {
			t.Errorf("%s: reset although the engine keeps the memory", name)
		}
		if err := m.Reset(e); err == nil {
			t.Errorf("%s: a broken memory was reset", name)
		}
		if err := errors.Join(m.Close(), image.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingIsLeft makes and closes images and memories, and counts what the process
// holds.
func TestNothingIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process holds is read from /proc")
	}
	for name, make := range sources(t) {
		t.Run(name, func(t *testing.T) {
			before := held(t)
			for range 60 {
				image, err := make(bytes.Repeat([]byte{1}, 3*PageBytes))
				if err != nil {
					t.Fatal(err)
				}
				for range 5 {
					useOnce(t, image, image.Bytes(), 1)
				}
				if err := image.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// The Go runtime maps memory too, a few times at most.
			if after := held(t); after.files > before.files || after.mappings > before.mappings+50 {
				t.Errorf("held %+v before and %+v after", before, after)
			}
		})
	}
}

type holdings struct{ files, mappings int }

func held(t *testing.T) holdings {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return holdings{len(files), bytes.Count(maps, []byte("\n"))}
}
