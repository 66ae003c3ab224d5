package lifecycle

import "time"

const (
	// trials is how long all suspects together have the node to themselves, and
	// longestTrial how long one of them has at most: others wait meanwhile.
	trials       = time.Minute
	longestTrial = 10 * time.Second
	// maxTrial is the same for one that has been started more often: it may need longer to
	// end the node. No run of a plugin has more time by default.
	maxTrial = time.Minute
)

// Trial is how long one of several suspects ([Suspect]) has the node to itself, given how many
// times it has had that before. It is longer each time.
func Trial(suspects, before int) time.Duration {
	trial := min(longestTrial, trials/time.Duration(suspects))
	for range before {
		if trial >= maxTrial {
			break
		}
		trial *= 2
	}
	return min(trial, maxTrial)
}
