package engine

import (
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// What is found without a node is what a start sets aside.
func TestUnreadableIsWhatAStartSetsAside(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
	g := guests{"program": p.run, "echo": echo}
	n := boot(t, crashtest.NewDisk(), g)
	session, tenant := n.session(t), n.root.Tenant
	task := n.submit(t, session, "persona_program")
	n.parked(t, task)
	n.parked(t, n.submit(t, session, "persona_program"))
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 5)})
	if found, err := Unreadable(t.Context(), n.store); err != nil || len(found) != 0 {
		t.Fatalf("%v, %v", found, err)
	}
	n.restate(t, tenant, abi.ObjectTask, task, tooDeep)
	n.restate(t, tenant, abi.ObjectQuota, q.ID, tooDeep)
	n.restate(t, tenant, abi.ObjectPersona, "persona_echo", tooDeep)
	n.restate(t, tenant, abi.ObjectSkill, "skill_echo", tooDeep)
	before := n.store.Watermark()
	found, err := Unreadable(t.Context(), n.store)
	if err != nil || n.store.Watermark() != before {
		t.Fatal("it wrote, or ", err)
	}
	n.stop(t)
	n = boot(t, n.disk, g)
	defer n.stop(t)
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
