package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) quotaCommand() *cobra.Command {
	return family(page{
		use:   "quota",
		short: "Bound what Tasks may use",
		long: `A quota bounds what the Tasks of a persona, of a workspace, of the tenant or of the
whole node may use: usd, input_tokens, output_tokens, tool_calls, wall_time_ms,
tasks, and concurrent ones. What is used is counted from the log.`,
		example: `  wharf quota create --scope tenant --limit usd=20 --window 24h
  wharf quota update quota_01K0... --limit usd=50
  wharf quota list`,
	}, a.quotaListCommand(), a.quotaShowCommand(), a.quotaCreateCommand(), a.quotaUpdateCommand())
}

func (a *app) quotaListCommand() *cobra.Command {
	return a.node(page{
		use:     "list",
		short:   "List the quotas and what is used of them",
		long:    "List shows the quotas that the key sees, newest first: what is used of each limit,\nand when it begins anew.",
		example: "  wharf quota list\n  wharf quota list --json",
	}, list[abi.Quota]{
		call:   gets("/v1/quotas"),
		titles: []string{"QUOTA", "SCOPE", "OF", "USED", "KIND", "RESETS", "EXHAUSTED"},
		row:    quotaRow,
	})
}

func (a *app) quotaShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a quota and what is used of it",
		long:    "Show shows whose Tasks a quota bounds, what is used of each limit, and when it begins anew.",
		example: "  wharf quota show quota_01K0...\n  wharf quota show quota_01K0... --json",
		args:    oneArg("the id of a quota (see \"wharf quota list\")"),
	}, ask[abi.Quota]{call: gets("/v1/quotas/{}"), tips: absent("wharf quota list"), text: func(q *abi.Quota) {
		row := quotaRow(q)
		a.out.Line(q.ID, "  ", row[4].Text)
		a.out.Pairs([2]string{"scope", row[1].Text}, [2]string{"of", row[2].Text}, [2]string{"used", row[3].Text}, [2]string{"begins anew", row[5].Text}, [2]string{"exhausted", row[6].Text})
	}})
}

func quotaRow(q *abi.Quota) []show.Cell {
	of, resets, kind, exhausted := q.OwnerID, "never", "soft", ""
	switch {
	case q.Each():
		of = "each"
	case of == "":
		of = "all"
	}
	if q.ResetAt != nil {
		resets = q.ResetAt.Format(time.RFC3339)
	}
	if q.HardLimit {
		kind = "hard"
	}
	if q.ExhaustionReason != nil {
		exhausted = *q.ExhaustionReason
	}
	return []show.Cell{{Text: q.ID}, {Text: string(q.Scope)}, {Text: of}, {Text: usedOf(q)}, {Text: kind}, {Text: resets}, {Text: exhausted}}
}

// usedOf tells what is used of each limit.
func usedOf(q *abi.Quota) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(q.Limits)) {
		all = append(all, name+" "+number(q.Usage[name])+"/"+number(q.Limits[name]))
	}
	return strings.Join(all, ", ")
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (a *app) quotaCreateCommand() *cobra.Command {
	var req abi.CreateQuotaRequest
	var scope string
	var limits []string
	var window time.Duration
	var soft bool
	return a.node(page{
		use:   "create",
		short: "Make a quota",
		long: `Create makes a quota and prints its id. Without --of, one of the scope persona or
workspace is for each of them by itself. Without --window it never begins anew.
A quota refuses what is beyond it; one with --soft only tells of it.`,
		example: `  wharf quota create --scope tenant --limit usd=20 --window 24h
  wharf quota create --scope persona --of persona_agent --limit output_tokens=100000,concurrent=4
  wharf quota create --scope organization --limit tasks=1000 --window 1h --soft`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&scope, "scope", string(abi.QuotaTenant), "whose Tasks it bounds: persona, workspace, tenant, organization (the whole node)")
			f.StringVar(&req.OwnerID, "of", "", "the id of the persona (or its name), workspace or tenant")
			f.StringSliceVar(&limits, "limit", nil, "how much of what: NAME=NUMBER")
			f.DurationVar(&window, "window", 0, "after how long it begins anew, such as 24h")
			f.BoolVar(&soft, "soft", false, "tell of what is beyond, and refuse nothing")
		},
	}, ask[abi.Quota]{
		call: func(cmd *cobra.Command, _ []string) (call client.Call, err error) {
			if req.Limits, err = limitsOf(cmd, limits); err != nil {
				return call, err
			}
			if window%time.Second != 0 {
				return call, usagef("%s needs a --window of whole seconds", cmd.CommandPath())
			}
			if abi.QuotaScope(scope) == abi.QuotaPersona {
				if err := a.namedPersona(cmd.Context(), &req.OwnerID); err != nil {
					return call, err
				}
			}
			hard := !soft
			req.Scope, req.WindowSeconds, req.HardLimit, req.SoftLimit = abi.QuotaScope(scope), int64(window/time.Second), &hard, soft
			return client.Post(req, "/wharf/v1/quotas"), nil
		},
		text: func(q *abi.Quota) { a.out.Line(q.ID) },
	})
}

func (a *app) quotaUpdateCommand() *cobra.Command {
	var req abi.UpdateQuotaRequest
	var limits []string
	return a.node(page{
		use:     "update QUOTA",
		short:   "Change the limits of a quota",
		long:    "Update replaces the limits of a quota. What was used stays counted.",
		example: "  wharf quota update quota_01K0... --limit usd=50,tasks=200",
		args:    oneArg("the id of a quota (see \"wharf quota list\")"),
		flags:   func(f *pflag.FlagSet) { f.StringSliceVar(&limits, "limit", nil, "how much of what: NAME=NUMBER") },
	}, ask[abi.Quota]{
		call: func(cmd *cobra.Command, args []string) (call client.Call, err error) {
			req.Limits, err = limitsOf(cmd, limits)
			return client.Patch(req, "/wharf/v1/quotas/{}", args[0]), err
		},
		text: func(q *abi.Quota) { a.out.Line(q.ID) },
		tips: absent("wharf quota list"),
	})
}

// limitsOf reads the limits that are given.
func limitsOf(cmd *cobra.Command, given []string) (map[string]float64, error) {
	if len(given) == 0 {
		return nil, usagef("%s needs a --limit, such as usd=20", cmd.CommandPath())
	}
	limits := map[string]float64{}
	for _, text := range given {
		name, value, _ := strings.Cut(text, "=")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, usagef("%s: --limit is NAME=NUMBER, and not %q", cmd.CommandPath(), text)
		}
		limits[name] = n
	}
	return limits, nil
}
