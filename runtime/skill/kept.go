package skill

import "github.com/wharf-dev/wharf/runtime/lockrank"

// mostKept is how many bytes of the text of schemas are kept compiled. A compiled one takes some ten
// times its text.
const mostKept = 1 << 20

// Schemas keeps schemas compiled, by their text: one that each call of a Skill is held against is
// compiled once. The zero value is ready. It is safe for concurrent use, and bounded: when it is full
// it begins anew.
type Schemas struct {
	mu    lockrank.Mutex[lockrank.Last]
	of    map[string]*Schema
	bytes int
}

// Compile is [Compile], of a schema that may have been compiled before.
func (k *Schemas) Compile(text []byte) (*Schema, error) {
	if s := k.find(text); s != nil {
		return s, nil
	}
	s, err := Compile(text)
	if err == nil {
		k.keep(text, s)
	}
	return s, err
}

func (k *Schemas) find(text []byte) *Schema {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[string(text)]
}

func (k *Schemas) keep(text []byte, s *Schema) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || k.bytes+len(text) > mostKept {
		k.of, k.bytes = map[string]*Schema{}, 0
	}
	if k.of[string(text)] == nil {
		k.bytes += len(text)
	}
	k.of[string(text)] = s
}
