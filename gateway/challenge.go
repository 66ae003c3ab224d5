package gateway

import "github.com/valyala/fasthttp"

// bearerChallenge is what is told to whoever shows no credentials at all.
const bearerChallenge = `Bearer realm="wharf"`

// challenge says in the answer why the credentials do not do (RFC 6750, section 3). It
// tells no more than the error itself.
func (r *Request) challenge(code, description, scope string) {
	value := []byte(bearerChallenge)
	for _, p := range [][2]string{{"error", code}, {"error_description", description}, {"scope", scope}} {
		if p[1] != "" {
			value = append(value, `, `+p[0]+`="`+p[1]+`"`...)
		}
	}
	if more := r.Route.mount.Challenge; more != nil {
		value = append(value, `, `+more(r)...)
	}
	r.HTTP.Response.Header.SetBytesV(fasthttp.HeaderWWWAuthenticate, value)
}
