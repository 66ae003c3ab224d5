package engine_test

import (
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// What is found without a node is what a start sets aside.
func TestUnreadableIsWhatAStartSetsAside(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	session, tenant := n.Session(t), n.Root.Tenant
	task := n.Submit(t, session, "persona_program")
	n.parked(t, task)
	n.parked(t, n.Submit(t, session, "persona_program"))
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 5)})
	if found, err := engine.Unreadable(t.Context(), n.Store); err != nil || len(found) != 0 {
		t.Fatalf("%v, %v", found, err)
	}
	n.restate(t, tenant, abi.ObjectTask, task, tooDeep)
	n.restate(t, tenant, abi.ObjectQuota, q.ID, tooDeep)
	n.restate(t, tenant, abi.ObjectPersona, "persona_echo", tooDeep)
	n.restate(t, tenant, abi.ObjectSkill, "skill_echo", tooDeep)
	before := n.Store.Watermark()
	found, err := engine.Unreadable(t.Context(), n.Store)
	if err != nil || n.Store.Watermark() != before {
		t.Fatal("it wrote, or ", err)
	}
	n.Stop(t)
	n = boot(t, n.Disk, g)
	defer n.Stop(t)
	name := func(list []aside.Resource) (names []string) {
		for _, a := range list {
			names = append(names, a.String())
		}
		return names
	}
	if got, want := fmt.Sprint(name(found)), fmt.Sprint(name(n.LeftOut())); got != want || len(found) != 4 {
		t.Errorf("found %s, set aside %s", got, want)
	}
}
