package replays

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/replay"
)

// checkOverrides checks every override and returns the hashes of their content.
// What was restored from a checkpoint cannot be replaced.
func (k *Keeper) checkOverrides(ctx context.Context, c *desk.Caller, rec *journal.Record, req *abi.ReplayTaskRequest, checkpoint int) (map[string]string, error) {
	hashes := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(req.Override)) {
		o := req.Override[key]
		o.Visibility = cmp.Or(o.Visibility, abi.VisibilityReceiptOnly)
		if err := checkOverride(key, &o); err != nil {
			return nil, err
		}
		content, err := k.overrideContent(ctx, c, key, &o)
		if err != nil {
			return nil, err
		}
		r, err := replay.Resolve(rec, key, &o, content)
		if err != nil {
			return nil, err
		}
		if r.Index >= 0 && r.Index < checkpoint {
			return nil, abi.InvalidParam("override", "%s lies before the checkpoint, and is restored as it was", key)
		}
		hashes[key] = r.Delta.AfterSHA256
		o.SHA256 = r.Delta.AfterSHA256
		req.Override[key] = o
	}
	return hashes, nil
}

func checkOverride(key string, o *abi.ReplayOverride) error {
	at := "override." + key
	if err := desk.CheckOneOf(at+".kind", o.Kind, abi.OverrideModel, abi.OverrideMCP, abi.OverrideSecret, abi.OverrideTime,
		abi.OverrideHostFact, abi.OverrideTool, abi.OverridePayload, abi.OverrideCheckpoint); err != nil {
		return err
	}
	if err := desk.CheckVisibility(at+".visibility", o.Visibility); err != nil {
		return err
	}
	if (len(o.Value) == 0) == (o.ArtifactID == "") {
		return abi.InvalidParam(at+".value", "an override has a value or an artifact_id, and not both")
	}
	if o.SHA256 != "" {
		if _, err := journal.ParseHash(o.SHA256); err != nil {
			return abi.InvalidParam(at+".sha256", "%v", err)
		}
	}
	return nil
}

// maxOverride is the largest Artifact that can replace an answer, in bytes.
const maxOverride = 32 << 20

// overrideContent returns what an override replaces with.
func (k *Keeper) overrideContent(ctx context.Context, c *desk.Caller, key string, o *abi.ReplayOverride) ([]byte, error) {
	if o.ArtifactID == "" {
		return o.Value, nil
	}
	a, _, err := desk.Find[abi.Artifact](ctx, k.parts.Desk, c, abi.ObjectArtifact, o.ArtifactID)
	if err != nil {
		return nil, err
	}
	if a.SizeBytes != nil && *a.SizeBytes > maxOverride {
		return nil, abi.InvalidParam("override."+key+".artifact_id", "the artifact has %d bytes; an override has at most %d", *a.SizeBytes, maxOverride)
	}
	content, err := k.parts.Artifacts.ReadArtifact(ctx, &a, 0, 0, maxOverride)
	if ledger.Lost(err) != nil {
		return nil, err
	}
	if err != nil {
		return nil, abi.InvalidParam("override."+key+".artifact_id", "reading artifact %s: %v", o.ArtifactID, err)
	}
	return content, nil
}
