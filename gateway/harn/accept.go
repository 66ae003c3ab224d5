package harn

import (
	"mime"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// preference is one media range of an Accept header (RFC 9110, section 12.5.1).
type preference struct {
	media   string
	params  map[string]string // without q
	quality float64
}

// negotiate returns which of the offers the client wants most; of those that it
// wants alike, the first. Offers are media types, with parameters that a client
// may name but need not.
func negotiate(header string, offers ...string) (string, error) {
	if strings.TrimSpace(header) == "" {
		return offers[0], nil
	}
	ranges := preferences(header)
	best, most := "", 0.0
	for _, offer := range offers {
		if q := quality(ranges, offer); q > most {
			best, most = offer, q
		}
	}
	if best == "" {
		err := abi.InvalidParam("Accept", "this resource is there as %s", strings.Join(offers, ", "))
		err.Status = fasthttp.StatusNotAcceptable
		return "", err
	}
	return best, nil
}

// preferences reads an Accept header. Ranges that cannot be read are passed over.
func preferences(header string) (all []preference) {
	for field := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(field)
		if err != nil {
			continue
		}
		p := preference{media: media, params: params, quality: 1}
		if q, given := params["q"]; given {
			if p.quality, err = strconv.ParseFloat(q, 64); err != nil || !(p.quality >= 0 && p.quality <= 1) {
				continue
			}
			delete(params, "q")
		}
		all = append(all, p)
	}
	return all
}

// quality returns how much an offer is wanted: what the most specific range that
// it falls into says, 0 when there is none.
func quality(ranges []preference, offer string) float64 {
	media, params, _ := mime.ParseMediaType(offer)
	q, specific := 0.0, -1
	for _, p := range ranges {
		if s := p.covers(media, params); s > specific {
			q, specific = p.quality, s
		}
	}
	return q
}

// covers returns how specific the range is that an offer falls into, -1 when the
// offer does not.
func (p *preference) covers(media string, params map[string]string) int {
	for name, value := range p.params {
		if params[name] != value {
			return -1
		}
	}
	family, _, _ := strings.Cut(media, "/")
	switch p.media {
	case media:
		return 2 + len(p.params)
	case family + "/*":
		return 1
	case "*/*":
		return 0
	}
	return -1
}
