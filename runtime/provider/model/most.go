package model

import (
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

var _ provider.Priced = (*Models)(nil)

// Most implements [provider.Priced]. A token is at least a byte of the request, and
// the dearest of the model and its fallbacks may be the one that answers.
func (m *Models) Most(r *abi.ModelRequest, size int) (usd float64, ok bool) {
	first := r.Model
	if first == "" {
		first = m.config.defaultModel()
	}
	for _, name := range append([]string{first}, m.config.Models[first].Fallbacks...) {
		price := m.dearest(m.config.Models[name])
		tokens := m.maxTokens(name, r)
		if tokens == 0 && price.OutputPerMillion > 0 {
			return 0, false
		}
		usd = max(usd, (float64(size)*price.InputPerMillion+float64(tokens)*price.OutputPerMillion)/1e6)
	}
	return usd, true
}

// dearest returns the highest prices, in US dollars, that an answer of a model can
// have: a provider may name a dated version, and of an alias any of its models.
func (m *Models) dearest(model Model) (most Price) {
	of, named := model.Provider+"/", model.Provider+"/"+model.named()
	var dear Price
	known := false
	for name, p := range m.config.Prices {
		if !strings.HasPrefix(name, of) || p.Currency != "" && p.Currency != DefaultCurrency {
			continue
		}
		dear = dearer(dear, p)
		if name == named || strings.HasPrefix(name, named+"-") {
			most, known = dearer(most, p), true
		}
	}
	if !known {
		return dear
	}
	return most
}

func dearer(a, b Price) Price {
	return Price{InputPerMillion: max(a.InputPerMillion, b.InputPerMillion), OutputPerMillion: max(a.OutputPerMillion, b.OutputPerMillion)}
}
