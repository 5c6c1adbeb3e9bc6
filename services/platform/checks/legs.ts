import { column, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { abs, type Check, type Finding } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS, selectIds } from "#kernel/reconcile/table-walk.ts";
import { walkingCheck } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";

const KEY = "transfer";
const TABLES = { transfer: { name: "transfer", rows: fragment`transfer`, id: fragment`id` } };

type Row = {
  readonly id: bigint;
  readonly key: string;
  readonly login: string;
  readonly master: string;
  readonly appliedMinor: bigint;
  readonly largestMinor: bigint;
  readonly legNumbers: readonly bigint[];
  readonly deals: readonly bigint[];
  readonly isIncomplete: boolean;
  readonly isStuck: boolean;
  readonly legs: unknown;
};

/**
 * transfer_legs. A transfer is applied completely, refused completely, or open. The transaction that ends a leg allows the
 * next leg to be sent, so one snapshot is enough.
 */
export function legs({ pool }: Pick<Deps, "pool">): Check {
  return walkingCheck("transfer_legs", {
    pool,
    tables: TABLES,
    async examine(db, { transfer }, { broken, open }) {
      const ids = selectIds(transfer, [...broken(KEY), ...open("transfer")]);
      const rows = await many<Row>(db, brokenTransfers(ids));
      return { findings: rows.map(findingOf), open: { transfer: await listOpen(db, ids) } };
    },
  });
}

/** Transfers with a leg that is not final. The two parts are those of the indexes of such legs. */
function listOpen(db: Queryable, ids: Fragment): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select distinct transfer_id
        from (
          select transfer_id from leg where state in ('INTENT', 'SENDING', 'UNKNOWN')
          union all
          select transfer_id from leg where state = 'REVIEW'
        ) as open
        where transfer_id in ${ids}
        order by transfer_id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

function brokenTransfers(ids: Fragment) {
  return sql`
    with selected as (
      select id, key, leg_count from transfer where id in ${ids}
    ), status as (
      select selected.id, selected.key, selected.leg_count, leg.login, role,
             number, ordinal, state, amount_minor, deal_id, is_ready,
             state in ('INTENT', 'SENDING', 'UNKNOWN', 'REVIEW') as is_open
      from selected
           left join leg on transfer_id = selected.id
           left join account on account.login = leg.login
    ), summed as (
      select id, key,
             coalesce(min(login) filter (where ordinal = 1), '') as login,
             coalesce(min(login) filter (where role = 'master'), '') as master,
             coalesce(sum(amount_minor) filter (where state = 'APPLIED'), 0)::bigint as "appliedMinor",
             coalesce(max(abs(amount_minor)), 0)::bigint as "largestMinor",
             coalesce(array_agg(number order by ordinal) filter (where number is not null), '{}') as "legNumbers",
             coalesce(array_agg(deal_id order by ordinal) filter (where deal_id is not null), '{}') as deals,
             count(*) filter (where ordinal <= 2) <> max(leg_count) as "isIncomplete",
             coalesce(bool_or(ordinal = 2 and state = 'INTENT' and not is_ready)
                      and bool_or(ordinal = 1 and state in ('APPLIED', 'REFUSED')), false) as "isStuck",
             coalesce(bool_or(is_open), false) as is_open, max(leg_count) as requested,
             jsonb_agg(jsonb_build_object('leg', ordinal, 'login', login, 'state', state, 'amount_minor', amount_minor::text)
                       order by ordinal) as legs
      from status
      group by id, key
    )
    select id, key, login, master, "appliedMinor", "largestMinor", "legNumbers", deals, "isIncomplete", "isStuck", legs
    from summed
    where "isIncomplete" or "isStuck" or (requested = 2 and not is_open and "appliedMinor" <> 0)
    order by id`;
}

function findingOf(row: Row): Finding {
  const { id, key, login, master, appliedMinor, legNumbers, deals } = row;
  const left = abs(appliedMinor);
  return {
    key: `${KEY}:${id}`,
    login,
    masterLogin: master,
    atRiskMinor: row.isIncomplete || row.isStuck ? row.largestMinor : left,
    operationIds: legNumbers.map(String),
    dealIds: deals,
    message: messageOf(row),
    evidence: { transfer_id: String(id), key, applied_minor: String(appliedMinor), legs: row.legs },
  };
}

function messageOf({ id, isIncomplete, isStuck }: Row): string {
  if (isIncomplete) return `Transfer ${id} does not have the requested legs.`;
  if (isStuck) return `Transfer ${id}: the second leg is pending although the first has its outcome.`;
  return `Transfer ${id} is finished, but its legs do not sum to 0.00.`;
}
