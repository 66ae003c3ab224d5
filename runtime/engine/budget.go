package engine

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// limitOf is a Budget as a receipt states it; nil when it bounds nothing that
// receipts count.
func limitOf(b *abi.Budget) *receipt.Budget {
	if b == nil {
		return nil
	}
	limit := &receipt.Budget{USD: unlessZero(b.USD), InputTokens: unlessZero(b.InputTokens), OutputTokens: unlessZero(b.OutputTokens),
		ToolCalls: unlessZero(b.ToolCalls), WallTimeMS: unlessZero(b.WallTimeMS)}
	if *limit == (receipt.Budget{}) {
		return nil
	}
	return limit
}

func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
