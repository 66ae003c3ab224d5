package provider

import (
	"context"
	"sync"
)

// MaxCalls is how many calls of one tenant to places outside may be under way at one
// time, of each kind: each has a socket of its own. Others wait for them.
const MaxCalls = 128

// Lanes has the calls of each tenant wait for one another, and for nobody else's. It is
// safe for concurrent use.
type Lanes struct {
	each int

	mu      sync.Mutex
	tenants map[string]*lane
}

// lane is the calls of one tenant.
type lane struct {
	places chan struct{}
	users  int // calls that are under way or wait
}

// NewLanes returns Lanes in which so many calls of a tenant go on at one time.
func NewLanes(each int) *Lanes { return &Lanes{each: each, tenants: map[string]*lane{}} }

// Enter waits until another call of the tenant may begin. leave, which is called once,
// ends it. The error is the cause of ctx's end.
func (l *Lanes) Enter(ctx context.Context, tenant string) (leave func(), err error) {
	own := l.join(tenant)
	select {
	case own.places <- struct{}{}:
		return func() {
			<-own.places
			l.part(tenant, own)
		}, nil
	case <-ctx.Done():
		l.part(tenant, own)
		return nil, context.Cause(ctx)
	}
}

func (l *Lanes) join(tenant string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.tenants[tenant]
	if own == nil {
		own = &lane{places: make(chan struct{}, l.each)}
		l.tenants[tenant] = own
	}
	own.users++
	return own
}

func (l *Lanes) part(tenant string, own *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(l.tenants, tenant)
	}
}

// Do calls do as a call of the tenant.
func (l *Lanes) Do(ctx context.Context, tenant string, do func() ([]byte, error)) ([]byte, error) {
	leave, err := l.Enter(ctx, tenant)
	if err != nil {
		return nil, err
	}
	defer leave()
	return do()
}
