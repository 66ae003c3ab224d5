package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) quotaCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "quota",
		Short: "Bound what Tasks may use",
		Long: `A quota bounds what the Tasks of a persona, of a workspace, of the tenant or of the
whole node may use: usd, input_tokens, output_tokens, tool_calls, wall_time_ms,
tasks, and concurrent ones. What is used is counted from the log.`,
		Example: `  wharf quota create --scope tenant --limit usd=20 --window 24h
  wharf quota update quota_01K0... --limit usd=50
  wharf quota list`,
	}, a.remote(a.quotaListCommand()), a.remote(a.quotaCreateCommand()), a.remote(a.quotaUpdateCommand()))
}

func (a *app) quotaListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the quotas and what is used of them",
		Long:    "List shows the quotas that the key sees, newest first: what is used of each limit,\nand when it begins anew.",
		Example: "  wharf quota list\n  wharf quota list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return listOf(a, c.Quotas, []string{"QUOTA", "SCOPE", "OF", "USED", "KIND", "RESETS", "EXHAUSTED"}, quotaRow)(cmd.Context())
		},
	}
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
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a quota",
		Long: `Create makes a quota and prints its id. Without --of, one of the scope persona or
workspace is for each of them by itself. Without --window it never begins anew.
A quota refuses what is beyond it; one with --soft only tells of it.`,
		Example: `  wharf quota create --scope tenant --limit usd=20 --window 24h
  wharf quota create --scope persona --of persona_agent --limit output_tokens=100000,concurrent=4
  wharf quota create --scope organization --limit tasks=1000 --window 1h --soft`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if req.Limits, err = limitsOf(cmd, limits); err != nil {
				return err
			}
			if window%time.Second != 0 {
				return usagef("%s needs a --window of whole seconds", cmd.CommandPath())
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			hard := !soft
			req.Scope, req.WindowSeconds, req.HardLimit, req.SoftLimit = abi.QuotaScope(scope), int64(window/time.Second), &hard, soft
			q, err := c.CreateQuota(cmd.Context(), req)
			return a.toldQuota(q, err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&scope, "scope", string(abi.QuotaTenant), "whose Tasks it bounds: persona, workspace, tenant, organization (the whole node)")
	flags.StringVar(&req.OwnerID, "of", "", "the id of the persona, workspace or tenant")
	flags.StringSliceVar(&limits, "limit", nil, "how much of what: NAME=NUMBER")
	flags.DurationVar(&window, "window", 0, "after how long it begins anew, such as 24h")
	flags.BoolVar(&soft, "soft", false, "tell of what is beyond, and refuse nothing")
	return cmd
}

func (a *app) quotaUpdateCommand() *cobra.Command {
	var req abi.UpdateQuotaRequest
	var limits []string
	cmd := &cobra.Command{
		Use:     "update QUOTA",
		Short:   "Change the limits of a quota",
		Long:    "Update replaces the limits of a quota. What was used stays counted.",
		Example: "  wharf quota update quota_01K0... --limit usd=50,tasks=200",
		Args:    oneArg("the id of a quota (see \"wharf quota list\")"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Limits, err = limitsOf(cmd, limits); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			q, err := c.UpdateQuota(cmd.Context(), args[0], req)
			return a.toldQuota(q, hint(err, abi.CodeResourceNotFound, "wharf quota list"))
		},
	}
	cmd.Flags().StringSliceVar(&limits, "limit", nil, "how much of what: NAME=NUMBER")
	return cmd
}

func (a *app) toldQuota(q client.Doc[abi.Quota], err error) error {
	switch {
	case err != nil:
		return err
	case a.json:
		a.printJSON(q.JSON)
	default:
		a.out.Line(q.Value.ID)
	}
	return nil
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
