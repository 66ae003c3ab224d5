package rewrite

// maxPages is what a 32-bit memory can hold, in pages of 64 KiB.
const maxPages = 65536

// activeData are the active segments, which the host applies.
func (m *module) activeData() []Segment {
	var list []Segment
	m.eachSegment(func(s Segment, active bool) {
		if active {
			list = append(list, s)
		}
	})
	return list
}

func (m *module) eachSegment(do func(s Segment, active bool)) {
	r := m.sections[sectionData]
	for range length(&r) {
		do(m.segment(&r))
	}
}

// dataSection keeps the segments where the code names them by their index. Active
// ones become passive and empty, which is what they are after they were applied.
func (m *module) dataSection() []byte {
	if !m.does(Restore) || m.sections[sectionData].b == nil {
		return m.raw(sectionData)
	}
	out := appendU32(nil, m.data)
	m.eachSegment(func(s Segment, active bool) {
		content := s.Bytes
		if active {
			content = nil
		}
		out = append(appendU32(append(out, 1), uint32(len(content))), content...)
	})
	return out
}
