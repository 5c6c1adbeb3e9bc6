import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { buffersRead } from "#test/support/buffers-read.ts";
import { listOperations, type OperationFilter } from "../store/operations.ts";
import { aWorld } from "../testing/world.ts";

const PAIRS = 40_000;
/** One in so many is not executed; of these, one in five is still open. */
const RARE = 400;
const NOW = new Date("2026-07-01T00:00:00Z");

const PAGE = 5;
const FILTER: OperationFilter = {
  login: "",
  outcome: undefined,
  action: undefined,
  masterLogin: undefined,
  fromId: undefined,
  externalId: undefined,
  beforeId: "",
  limit: PAGE,
};

const idOf = (number: number) => String(number).padStart(12, "0");

/**
 * Ids ascend, as many assigns as unassigns and withdrawals, of seven Masters. The refused assigns are repeated; one in two of these is executed then. One in two
 * open ones is later than its deadline.
 */
async function insertYear(pool: Pool): Promise<void> {
  const drawn = `case when n % ${5 * RARE} = 0 then 'OPEN' when n % ${RARE} = 0 then 'REFUSED' else 'EXECUTED' end`;
  const deadline = `'${NOW.toISOString()}'::timestamptz + case when n % ${10 * RARE} = 0 then interval '-1 second' else interval '10 seconds' end`;
  await asOwner(
    pool,
    "subscription",
    `alter table subscription disable trigger user; alter table departure disable trigger user;
     insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at, started_at,
                               ended_at, baseline_entry_id, deadline_at)
     select lpad(n::text, 12, '0') || 'a', 1, n, (8000000 + n % 7)::text, (1000000 + n)::text, status, now(), now(),
            case when status = 'CANCELLED' then now() end, 1, ${deadline}
     from generate_series(1, ${PAIRS}) as n,
          lateral (select case ${drawn} when 'OPEN' then 'ASSIGNING' when 'REFUSED' then 'ABORTED' else 'CANCELLED' end as status) as drawn;
     insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at, started_at,
                               ended_at, baseline_entry_id, deadline_at)
     select command_id, 1, investor_id, master_login, investor_login, again, now(), now(),
            case when again = 'CANCELLED' then now() end, 1, ${deadline.replaceAll("n %", "investor_id %")}
     from subscription, lateral (select case when investor_id % ${2 * RARE} = 0 then 'CANCELLED' else 'ABORTED' end as again) as drawn
     where status = 'ABORTED';
     update subscription set command_id = '' where status = 'ABORTED' and id <= ${PAIRS};
     insert into departure (operation_id, kind, investor_login, subscription_id, master_login, request_id, requested_at, deadline_at, state,
                            lock_owner, next_try_at, ended_at, refusal, left_status, before_minor, pending_minor, available_minor,
                            effective_minor)
     select lpad(n::text, 12, '0') || 'b', 'EXIT', investor_login, id, master_login, '', now(), ${deadline}, state,
            case when state = 'WANTED' then 'o' end, now(), case when state <> 'WANTED' then now() end,
            case when state = 'REFUSED' then '{"code": "master_open_positions"}'::jsonb end,
            case when state = 'ENDED' then 'CANCELLED' end, 0, 0, 0, 0
     from (select id, investor_id as n, investor_login, master_login from subscription where id <= ${PAIRS}) as left_by,
          lateral (select case ${drawn} when 'OPEN' then 'WANTED' when 'REFUSED' then 'REFUSED' else 'ENDED' end as state) as drawn;
     insert into departure (operation_id, kind, investor_login, requested_minor, comment, request_id, requested_at, deadline_at, state,
                            next_try_at, ended_at, before_minor, pending_minor, available_minor, effective_minor)
     select lpad(n::text, 12, '0') || 'c', 'WITHDRAWAL', (1000000 + n)::text, 1, '', '', now(), now(), 'ENDED', now(), now(), 0, 0, 0, 0
     from generate_series(1, ${PAIRS}) as n;
     analyze subscription, departure`,
  );
}

test(
  "a page of one outcome costs the assigns and unassigns that it shows, at the end as at the start",
  { timeout: 240_000 },
  async () => {
    const { deps } = await aWorld();
    await insertYear(deps.pool);
    const page = async (part: Partial<OperationFilter>, length = PAGE): Promise<void> => {
      const buffers = await inTransaction(deps.pool, (tx) =>
        buffersRead(tx, async (db) => {
          const found = await listOperations(db, { ...FILTER, ...part }, NOW);
          expect(found).toHaveLength(length);
          if (part.outcome === undefined) return;
          expect(new Set(found.map(({ outcome }) => outcome))).toEqual(new Set([part.outcome]));
        }),
      );
      expect(buffers, JSON.stringify(part)).toBeLessThan(1_000);
    };
    const masterLogin = "8000003";

    for (const outcome of ["EXECUTED", "NOT_EXECUTED", "PENDING", "UNKNOWN"] as const) {
      for (const part of [{}, { action: "assign" }, { action: "unassign" }, { masterLogin }] as const) {
        if ("masterLogin" in part && outcome !== "EXECUTED" && outcome !== "NOT_EXECUTED") continue;
        await page({ outcome, ...part });
        await page({ outcome, ...part, beforeId: idOf(0.75 * PAIRS) });
      }
    }
    const ofMaster = [
      { masterLogin, action: "assign" },
      { masterLogin, action: "unassign" },
    ] as const;
    for (const part of [{}, { action: "assign" }, { action: "unassign" }, ...ofMaster, { fromId: idOf(2) }] as const) {
      for (const beforeId of ["", idOf(0.25 * PAIRS)]) await page({ ...part, beforeId });
    }
    // Of one Investor, and of those that are being tried, there are few: no other one is looked at.
    await page({ login: "1000007" }, 2);
    await page({ login: "1000007", action: "unassign" }, 1);
    await page({ queueState: "RUNNING" }, 0);
  },
);
