package gateway

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/inhand"
)

const (
	// prefetched is how much of a body fasthttp has read before a handler runs.
	prefetched = 8 << 10
	// firstPiece is how much of a larger body is read at first, and bodyPiece how much at
	// a time later: its buffer is at most four times what has really arrived, so that
	// neither a large Content-Length nor a body that goes on for ever costs anything by
	// itself, and a body whose length is known is copied once from a quarter of it on.
	firstPiece = 4 << 10
	bodyPiece  = 64 << 10
	// readBreath is after how much of a body, some 200 µs, others go first.
	readBreath = 256 << 10
	// jsonCopies is how often a JSON body is held while its request runs: as it was sent,
	// decoded, as the events that tell it, and in the log's buffers.
	jsonCopies = 4
)

// JSONBody returns the request's body, read whole. It is nil when the route
// takes an optional body and there is none, or null.
func (r *Request) JSONBody() ([]byte, error) {
	if !r.read {
		body, err := r.readBody(r.server.cfg.BodyLimit, jsonCopies)
		if err != nil {
			return nil, err
		}
		r.body, r.read = body, true
		if err := r.holdAnswer(int64(len(body))); err != nil {
			return nil, err
		}
	}
	if len(r.body) == 0 || string(bytes.TrimSpace(r.body)) == "null" {
		if r.Route.Body == BodyOptionalJSON {
			return nil, nil
		}
		return nil, abi.Errorf(abi.CodeInvalidRequest, "a JSON object is needed as the request's body")
	}
	if err := r.checkMedia(); err != nil {
		return nil, err
	}
	return r.body, nil
}

// holdAnswer takes a large body into the request's hand a second time: most answers have
// in them what they answer. It is done before anything is, so that there is nothing to
// undo when the node is crowded.
func (r *Request) holdAnswer(bytes int64) error {
	if bytes <= inhand.Small || r.hand != nil {
		return nil
	}
	r.hand = r.newHand(1, inhand.Waits)
	return r.hand.Hold(r.server.ctx, bytes)
}

// Decode reads the body into v and returns it as it was sent. Without an
// optional body, v stays as it is. The route says what becomes of unknown members.
func (r *Request) Decode(v any) ([]byte, error) {
	body, err := r.JSONBody()
	if err != nil || body == nil {
		return nil, err
	}
	err = r.Long(len(body), func() error {
		return decode(body, v, r.charge, json.RejectUnknownMembers(!r.Route.Tolerant))
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// DecodeText reads part of the body into v: with the same checks as [Request.Decode], and members
// that are not known are ignored.
func (r *Request) DecodeText(text []byte, v any) error {
	return r.Long(len(text), func() error { return decode(text, v, r.charge) })
}

// number is that of the tenant that long work is done for; 0 when nobody has called.
func (r *Request) number() uint64 {
	if r.Caller == nil {
		return 0
	}
	return uint64(r.Caller.Tenant)
}

func (r *Request) checkMedia() error {
	if err := r.checkEncoding(); err != nil {
		return err
	}
	if !isJSON(r.HTTP.Request.Header.ContentType()) {
		return unsupportedMedia("Content-Type", "the request's Content-Type must be application/json")
	}
	return nil
}

// checkEncoding refuses bodies that are compressed: nothing here decodes them, and
// what was kept of one would not be the content that the client describes.
func (r *Request) checkEncoding() error {
	if len(r.HTTP.Request.Header.ContentEncoding()) == 0 {
		return nil
	}
	return unsupportedMedia("Content-Encoding", "request bodies must not have a Content-Encoding")
}

// unsupportedMedia is about the header of that name.
func unsupportedMedia(header, message string) error {
	err := abi.Errorf(abi.CodeInvalidRequest, "%s", message)
	err.Status = fasthttp.StatusUnsupportedMediaType
	err.Param = header
	return err
}

// isJSON accepts application/json, application/*+json and no type at all.
func isJSON(contentType []byte) bool {
	media, params, _ := bytes.Cut(contentType, []byte(";"))
	media = bytes.ToLower(bytes.TrimSpace(media))
	if len(media) == 0 {
		return true
	}
	if charset, ok := bytes.CutPrefix(bytes.ToLower(bytes.TrimSpace(params)), []byte("charset=")); ok {
		if !bytes.Equal(bytes.Trim(charset, `"`), []byte("utf-8")) {
			return false
		}
	}
	return string(media) == MediaJSON ||
		bytes.HasPrefix(media, []byte("application/")) && bytes.HasSuffix(media, []byte("+json"))
}

// Whole returns the request's body, of any media type and encoding, read whole: at
// most limit bytes.
func (r *Request) Whole(limit int64) ([]byte, error) {
	return r.readBody(limit, 1)
}

// readBody reads the body, which is then held so many times.
func (r *Request) readBody(limit, copies int64) ([]byte, error) {
	stream := r.stream()
	if stream.left > limit {
		return nil, tooLarge(limit)
	}
	if stream.left >= 0 && stream.left <= prefetched {
		return r.readPiece(nil, int(stream.left), copies)
	}
	return r.readAll(limit, copies)
}

// readAll reads to the end of the stream, at most limit bytes.
func (r *Request) readAll(limit, copies int64) ([]byte, error) {
	var body []byte
	for {
		piece := min(max(firstPiece, len(body)), bodyPiece)
		grown, err := r.readPiece(body, piece, copies)
		if err != nil {
			return nil, err
		}
		if int64(len(grown)) > limit {
			return nil, tooLarge(limit)
		}
		if len(grown) < len(body)+piece {
			return grown, nil
		}
		body = grown
		if len(body)%readBreath < piece {
			runtime.Gosched()
		}
	}
}

// ForHookOf takes the body of a delivery on a tenant's public path from the part of the budget
// that is for such deliveries. It is called before anything is read.
func (r *Request) ForHookOf(tenant string) { r.hookOf = hooksOf + tenant }

// tenant is whose share of the budget a body takes; "" before anybody is known.
func (r *Request) tenant() string {
	if r.Caller == nil {
		return r.hookOf
	}
	return r.Caller.TenantID
}

// charge takes n bytes more for the request out of its tenant's share of the budget, or
// reports that they do not fit.
func (r *Request) charge(n int64) bool { return r.server.inFlight.takeMore(r.tenant(), &r.held, n) }

func errCrowded() error {
	err := abi.Errorf(abi.CodeServiceUnavailable, "the node is reading too many request bodies at once")
	err.RetryAfter = 1
	return err
}

// readPiece appends up to n bytes of the stream to body; fewer only at its end.
func (r *Request) readPiece(body []byte, n int, copies int64) ([]byte, error) {
	start := len(body)
	if int64(start+n) > r.server.inFlight.most(r.tenant()) || !r.charge(copies*int64(n)) {
		return nil, errCrowded()
	}
	if cap(body)-start < n {
		room := max(2*cap(body), start+n)
		if left := r.stream().left; left >= 0 && left <= 3*int64(start) {
			room = start + max(n, int(left))
		}
		body = append(make([]byte, 0, room), body...)
	}
	got, err := io.ReadFull(r.stream(), body[start:start+n])
	if err != nil && !r.incoming.ended {
		return nil, bodyError(err)
	}
	return body[:start+got], nil
}

// stream returns the request's body. It is the only way in which a body is read,
// so that the server knows what is left of it on the connection.
func (r *Request) stream() *incoming {
	if r.incoming.source != nil {
		return &r.incoming
	}
	r.incoming.source = r.HTTP.RequestBodyStream()
	r.incoming.left = int64(r.HTTP.Request.Header.ContentLength())
	if r.incoming.source == nil {
		body := r.HTTP.PostBody()
		r.incoming.source, r.incoming.left = bytes.NewReader(body), int64(len(body))
	}
	r.incoming.ended = r.incoming.left == 0
	return &r.incoming
}

// incoming is a request body on its way in.
type incoming struct {
	source io.Reader
	left   int64 // bytes to come, negative when only the end will tell
	ended  bool  // nothing is left on the connection
}

func (in *incoming) Read(p []byte) (int, error) {
	if in.ended {
		return 0, io.EOF
	}
	n, err := in.source.Read(p)
	if in.left > 0 {
		in.left -= int64(n)
		in.ended = in.left == 0
	} else {
		in.ended = errors.Is(err, io.EOF)
	}
	if in.ended {
		err = io.EOF
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// settled reports whether the connection can take another request: the body was
// read, or was so small that fasthttp had read it before.
func (r *Request) settled() bool {
	in := r.stream()
	length := r.HTTP.Request.Header.ContentLength()
	return in.ended || length >= 0 && length <= prefetched
}

func tooLarge(limit int64) error {
	return abi.Errorf(abi.CodePayloadTooLarge, "the request's body is larger than the %d bytes that are allowed", limit)
}

// bodyError says what went wrong while a body was read from the connection.
func bodyError(err error) error {
	if timedOut(err) {
		return errSlow()
	}
	return abi.Errorf(abi.CodeInvalidRequest, "the request's body ended early or is framed wrongly")
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func errSlow() error {
	err := abi.Errorf(abi.CodeDeadlineExceeded, "the request took too long to arrive")
	err.Status = fasthttp.StatusRequestTimeout
	return err
}

// Upload returns the body as a stream that fails with the error to answer with:
// too large, too slow, or broken. Each piece has the read timeout to arrive, the
// whole the upload timeout.
func (r *Request) Upload() (io.Reader, error) {
	if err := r.checkEncoding(); err != nil {
		return nil, err
	}
	limit := r.server.cfg.UploadLimit
	stream := r.stream()
	if stream.left > limit {
		return nil, tooLarge(limit)
	}
	return &upload{
		stream: stream, conn: r.HTTP.Conn(), left: limit, limit: limit,
		patience: r.server.cfg.ReadTimeout,
		end:      time.Now().Add(r.server.cfg.UploadTimeout),
	}, nil
}

type upload struct {
	stream      *incoming
	conn        net.Conn
	left, limit int64
	patience    time.Duration
	end         time.Time
	extended    time.Time
}

func (u *upload) Read(p []byte) (int, error) {
	if err := u.extend(time.Now()); err != nil {
		return 0, err
	}
	n, err := u.stream.Read(p)
	u.left -= int64(n)
	if u.left < 0 {
		return 0, tooLarge(u.limit)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, bodyError(err)
	}
	return n, err
}

// extend moves the read deadline on, at most once a second.
func (u *upload) extend(now time.Time) error {
	if now.After(u.end) {
		return errSlow()
	}
	if now.Sub(u.extended) < time.Second {
		return nil
	}
	u.extended = now
	return u.conn.SetReadDeadline(now.Add(u.patience))
}
