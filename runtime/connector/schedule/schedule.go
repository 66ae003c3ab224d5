package schedule

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones for a binary that finds none on its machine

	"github.com/robfig/cron/v3"
)

// Schedule is when something happens. It is not changed by use.
type Schedule struct {
	every time.Duration
	spec  *cron.SpecSchedule
	zone  *time.Location
}

// What a schedule may be.
const (
	maxText = 256 // bytes of an expression
	// Shortest is the shortest time between two ticks.
	Shortest = time.Second
	// Longest is the longest time for @every.
	Longest = 366 * 24 * time.Hour
)

// anyHour is what cron sets in a field that is * and so is any hour of the real day.
const anyHour = 1 << 63

// Parse reads an expression: five fields of cron, @every and a duration, or one of
// @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually. The zone is a
// name of the IANA database; UTC if it is empty.
func Parse(text, zone string) (*Schedule, error) {
	if len(text) > maxText || strings.ContainsRune(text, '=') {
		return nil, fmt.Errorf("the schedule is none of cron: it is too long, or names a time zone itself")
	}
	location, err := locate(zone)
	if err != nil {
		return nil, err
	}
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		return parseEvery(every, location)
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the schedule %q: %w", text, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("the schedule %q is none of cron", text)
	}
	s := &Schedule{spec: spec, zone: location}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return nil, fmt.Errorf("the schedule %q never comes", text)
	}
	return s, nil
}

func locate(zone string) (*time.Location, error) {
	if zone == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, fmt.Errorf("there is no time zone %q", zone)
	}
	return location, nil
}

func parseEvery(text string, zone *time.Location) (*Schedule, error) {
	every, err := time.ParseDuration(text)
	if err != nil || every < Shortest || every > Longest {
		return nil, fmt.Errorf("@every takes a duration between %s and %s, such as 5m", Shortest, Longest)
	}
	return &Schedule{every: every.Truncate(time.Second), zone: zone}, nil
}

// Next returns the first tick after t, zero when there is none within five years.
//
// @every counts from the beginning of 1970, so that ticks do not depend on when
// somebody asked. Where clocks are put forward, a tick in the skipped hour comes when
// the hour is over; where they are put back, a tick at a stated hour comes the first
// time, and one of every hour comes each time.
func (s *Schedule) Next(t time.Time) time.Time {
	switch {
	case s.spec == nil:
		since := t.Sub(time.Unix(0, 0))
		return time.Unix(0, 0).Add(since.Truncate(s.every) + s.every).UTC()
	case s.spec.Hour&anyHour != 0:
		return utc(s.spec.Next(t.In(s.zone)))
	}
	return s.nextByClock(t)
}

// utc returns t in UTC; a zero time stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// longestShift is more than clocks are ever put forward or back.
const longestShift = 3 * time.Hour

// nextByClock looks for the next tick on a clock that is never put forward or back, and
// then for the moment at which the zone's clocks show it. It begins before t, for what
// the clocks have shown twice or skipped.
func (s *Schedule) nextByClock(t time.Time) time.Time {
	shown := wall(t.In(s.zone)).Add(-longestShift)
	for {
		if shown = s.spec.Next(shown); shown.IsZero() {
			return time.Time{}
		}
		if at := s.moment(shown); at.After(t) {
			return at.UTC()
		}
	}
}

// wall returns what a clock shows, as a time in UTC.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// moment returns when the zone's clocks first show a time; when they skip it, the first
// moment after.
func (s *Schedule) moment(shown time.Time) time.Time {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, s.zone)
	begin, end := at.ZoneBounds()
	switch read := wall(at); {
	case read.Before(shown):
		return end
	case read.After(shown):
		return begin
	case begin.IsZero():
		return at
	}
	_, before := begin.Add(-time.Second).Zone()
	_, after := at.Zone()
	earlier := at.Add(-time.Duration(before-after) * time.Second)
	if before > after && earlier.Before(begin) {
		return earlier
	}
	return at
}

// Due returns the tick that is to be acted on now, when the last one that was is known.
// What was missed meanwhile is made up for once: by the first tick that was.
func (s *Schedule) Due(last, now time.Time) (tick time.Time, due bool) {
	tick = s.Next(last)
	return tick, !tick.IsZero() && !tick.After(now)
}
