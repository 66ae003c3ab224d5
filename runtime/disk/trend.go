package disk

import (
	"math"
	"slices"
	"time"
)

const (
	// Samples are a minute apart: as many as make three hours, and twenty minutes for what has begun lately.
	sampleEvery = time.Minute
	mostSamples = 180
	lateSamples = 20
	// leastSamples is from how many a trend is told.
	leastSamples = 10
	// gap is how long nothing may have been seen: the machine slept, or its clock was set.
	gap = 10 * time.Minute
	// farthest is how far the trend is believed in.
	farthest = 10 * 365 * 24 * time.Hour
)

// trend tells how free room changes. What lies before a gap, or before a clock that was set back, is
// forgotten, and it begins empty with each start: a trend over what nobody has seen is a guess.
type trend struct {
	samples []sample
	rate    float64 // bytes a second that free room becomes less by; 0 when it does not
}

type sample struct {
	at   time.Time
	free uint64
}

// add takes what is free, as often as it is told.
func (t *trend) add(at time.Time, free uint64) {
	if n := len(t.samples); n > 0 {
		since := at.Sub(t.samples[n-1].at)
		if since >= 0 && since < sampleEvery {
			return
		}
		if since < 0 || since > gap {
			t.samples, t.rate = nil, 0
		}
	}
	t.samples = append(t.samples, sample{at, free})
	if n := len(t.samples) - mostSamples; n > 0 {
		t.samples = slices.Delete(t.samples, 0, n)
	}
	late := t.samples[max(0, len(t.samples)-lateSamples):]
	t.rate = max(fall(t.samples), fall(late), 0)
}

// fall returns by how many bytes a second free room becomes less: the median of what each two samples say that
// are not far apart. One large file that comes or goes lies between few of these, and does not change it.
func fall(samples []sample) float64 {
	if len(samples) < leastSamples {
		return 0
	}
	var rates []float64
	for i, a := range samples {
		for _, b := range samples[i+1 : min(len(samples), i+1+len(samples)/3)] {
			rates = append(rates, (float64(a.free)-float64(b.free))/b.at.Sub(a.at).Seconds())
		}
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// until returns when no more than so much is free, if it goes on.
func (t *trend) until(left uint64) (time.Duration, bool) {
	if t.rate <= 0 {
		return 0, false
	}
	free := t.samples[len(t.samples)-1].free
	if free <= left {
		return 0, true
	}
	seconds := float64(free-left) / t.rate
	if math.IsInf(seconds, 0) || seconds > farthest.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
