import type { Plan } from "../plan/plan.ts";
import type { Edit } from "../sabotage/sabotage.ts";

/**
 * A mistake of the services that this simulation has found and that is not mended yet. Histories are lived with the mend
 * in place of what is wrong, so that it hides nothing else. Once the source has changed, the mend has nothing to replace
 * any more and the histories are lived as they are: then take the defect off this list.
 */
export type KnownDefect = {
  readonly title: string;
  readonly why: string;
  readonly mend: readonly Edit[];
  /** Histories in which it shows. */
  readonly plan: (seed: number) => Plan;
};

const QUIET = { mode: "liveness", quietPeriodMs: 20_000, processes: [{ skewMs: 0 }], calmFromMs: 6_000 } as const;

const FORGOTTEN: KnownDefect = {
  title: "an operation of a Master that the platform forgets before its deal was read is applied for ever",
  why: [
    "A Master's own operation is numbered in its log only when the reader reaches its deal. When the platform restarts in",
    "between and forgets the deal, the operation stays APPLIED, the reader waits for a deal that never comes, and the search",
    "for deals that are gone looks at logged ones only. Nobody is told; the mirror stays open and its capital inbound.",
  ].join(" "),
  mend: [
    {
      file: "services/platform/store/logged-deals.ts",
      find: "from log_entry as logged\n        where login = any",
      put: [
        "from (select login, kind, amount_minor, server, deal_id, deal_at, server_msc, action, entry, position_id, symbol,",
        "volume, volume_closed, profit_minor, swap_minor, commission_minor, fee_minor from log_entry union all",
        "select login, kind, amount_minor, server, deal_id, applied_at, null, null, null, null, null, null, null, null, null,",
        "null, null from operation where deal_id is not null and not exists (select from log_entry as own",
        "where own.server = operation.server and own.deal_id = operation.deal_id)) as logged\n        where login = any",
      ].join(" "),
    },
  ],
  plan: (seed) => ({
    ...QUIET,
    seed,
    hasPools: false,
    followers: ["pushed"],
    commands: [mirror(1_000)],
    faults: [
      { kind: "failed_reads", atMs: 900, forMs: 200 },
      { kind: "platform_restart", atMs: 1_060, forgetsMs: 400, downMs: 100 },
    ],
  }),
};

function mirror(atMs: number): Plan["commands"][number] {
  const legs = [{ login: "1001", kind: "mirror", amountMinor: 500n }] as const;
  return {
    kind: "transfer",
    atMs,
    key: "one",
    legs,
    isEnqueued: false,
    floorMinor: undefined,
    sendWithinMs: undefined,
  };
}

export const KNOWN_DEFECTS: readonly KnownDefect[] = [FORGOTTEN];
