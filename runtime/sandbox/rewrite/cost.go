package rewrite

// What an instruction costs is about the time it takes, in units of a simple one.
// Bulk operations cost by length as well: see byteShift and pageShift, and 1 for
// each entry of a table.
const (
	costCall         = 5 // the call and the return
	costCallIndirect = 7 // a call, and the checks of the table and the type
	costDivide       = 5 // integer division and remainder, and the slow floating-point operations
	costBulk         = 5 // to begin copying or filling
)

const (
	byteShift = 3  // 8 bytes copied or filled cost 1
	pageShift = 13 // so does a page of memory for every 8 bytes
)

// expensive is what does not cost 1.
var expensive = []struct {
	cost uint8
	ops  []opcode
}{
	{0, []opcode{opNop, opBlock, opLoop, opElse, opEnd}},
	{costCall, []opcode{opCall, opReturnCall}},
	{costCallIndirect, []opcode{opCallIndirect, opReturnCallIndirect}},
	{costDivide, []opcode{
		0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, // div and rem
		0x91, 0x95, 0x9f, 0xa3, // sqrt and div
		0xfd0e3, 0xfd0e7, 0xfd0ef, 0xfd0f3, // of vectors
	}},
	{costBulk, []opcode{
		opMemoryGrow, opMemoryFill, opMemoryCopy, opMemoryInit,
		opTableGrow, opTableFill, opTableCopy, opTableInit,
	}},
}

var costs = buildCosts()

func buildCosts() *[3][0x100]uint8 {
	table := &[3][0x100]uint8{}
	for k := range table {
		for i := range table[k] {
			table[k][i] = 1
		}
	}
	for _, row := range expensive {
		for _, op := range row.ops {
			*costOf(table, op) = row.cost
		}
	}
	return table
}

func costOf(table *[3][0x100]uint8, op opcode) *uint8 {
	switch op >> 12 {
	case prefixMisc:
		return &table[1][op&0xff]
	case prefixVector:
		return &table[2][op&0xff]
	}
	return &table[0][op&0xff]
}

// cost is the gas that an instruction takes.
func cost(op opcode) int64 { return int64(*costOf(costs, op)) }
