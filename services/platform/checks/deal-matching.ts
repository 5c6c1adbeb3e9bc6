import { type Check, CHECK_EVERY_MS, type Finding, inSnapshot } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { listAmended } from "./amended-deals.ts";
import { idsOf, nextCursor, ROWS_PER_RUN } from "#kernel/reconcile/rows-per-run.ts";

/** The prefix of the keys of breaks about legs is part of the API. */
const LEG = "operation";
const ENTRY = "entry";

type Row = {
  readonly id: bigint;
  readonly login: string;
  readonly master: string;
  readonly leg: bigint;
  readonly deal: bigint | null;
  readonly key: string;
  readonly bookedMinor: bigint | null;
  readonly loggedMinor: bigint | null;
  readonly loggedLogin: string | null;
  readonly loggedLeg: bigint | null;
};

/**
 * deal_matching. Every applied leg has one deal, and every deal of this service has one leg: same ticket, login
 * and amount. The deal of a Master's leg enters the log when the history is read; it has to be there once the history
 * was read completely for the quiet period after it. While the history cannot be read, no break is reported.
 */
export function dealMatching({ pool, settings: { quietPeriodMs } }: Pick<Deps, "pool" | "settings">): Check {
  return {
    name: "deal_matching",
    title: "Each applied leg is one deal of the log, and each deal of this service is one leg.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    async run({ cursor, pendingBreaks }) {
      const [legsAfter = 0n, entriesAfter = 0n] = cursor === "" ? [] : cursor.split(" ").map(BigInt);
      return inSnapshot(pool, async (db) => {
        const legs = await listUnlogged(db, {
          after: legsAfter,
          again: idsOf(pendingBreaks, LEG),
          quietPeriodMs,
        });
        const entries = await listUnexplained(db, { after: entriesAfter, again: idsOf(pendingBreaks, ENTRY) });
        const findings = [...legs.map(unlogged), ...entries.map(unexplained), ...(await listAmended(db))];
        return { findings, covers: () => true, nextCursor: await cursorAfter(db, legsAfter, entriesAfter) };
      });
    },
  };
}

/** Each list continues after the last row of this run; a full pass is complete when a run reaches the end of both. */
async function cursorAfter(db: Queryable, legs: bigint, entries: bigint): Promise<string> {
  const lastLeg = await nextCursor(
    db,
    sql`select number as id from leg where number > ${legs} order by number offset ${ROWS_PER_RUN - 1} limit 1`,
  );
  const lastEntry = await nextCursor(
    db,
    sql`select id from log_entry where id > ${entries} order by id offset ${ROWS_PER_RUN - 1} limit 1`,
  );
  if (lastLeg === "" && lastEntry === "") return "";
  return `${lastLeg || legs} ${lastEntry || entries}`;
}

type RowSelection = { readonly after: bigint; readonly again: readonly bigint[] };

/** Applied legs whose deal is not in the log with the same leg, login and amount. */
function listUnlogged(
  db: Queryable,
  { after, again, quietPeriodMs }: RowSelection & { quietPeriodMs: number },
): Promise<Row[]> {
  return many<Row>(
    db,
    sql`with selected as (
          (select number from leg order by number desc limit ${ROWS_PER_RUN})
          union
          (select number from leg where number > ${after} order by number limit ${ROWS_PER_RUN})
          union
          select unnest(${again}::bigint[])
        )
        select leg.number as id, leg.number as leg, leg.login, leg.deal_id as deal, transfer.key,
               case role when 'master' then leg.login else '' end as master,
               leg.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.leg_number as "loggedLeg"
        from selected
             join leg on leg.number = selected.number
             join transfer on transfer.id = leg.transfer_id
             join account on account.login = leg.login
             left join log_entry as entry
               on entry.server = leg.server and entry.deal_id = leg.deal_id and entry.kind <> 'amendment'
        where coalesce(leg.came_from, leg.state) = 'APPLIED'
          and (entry.id is null or entry.leg_number is distinct from leg.number
               or entry.login <> leg.login or entry.amount_minor <> leg.amount_minor)
          and (entry.id is not null or role <> 'master'
               or leg.applied_at < (select read_to from reader_cursor) - ${quietPeriodMs} * interval '1 millisecond')
        order by leg.number`,
  );
}

/** Entries of the log whose leg is not applied or has another deal. */
function listUnexplained(db: Queryable, { after, again }: RowSelection): Promise<Row[]> {
  return many<Row>(
    db,
    sql`with selected as (
          (select id from log_entry order by id desc limit ${ROWS_PER_RUN})
          union
          (select id from log_entry where id > ${after} order by id limit ${ROWS_PER_RUN})
          union
          select unnest(${again}::bigint[])
        )
        select entry.id, entry.login, entry.leg_number as leg, entry.deal_id as deal, entry.key,
               case role when 'master' then entry.login else '' end as master,
               leg.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.leg_number as "loggedLeg"
        from selected
             join log_entry as entry on entry.id = selected.id
             join account on account.login = entry.login
             join leg on leg.number = entry.leg_number
        where entry.leg_number is not null and entry.kind <> 'amendment'
          and (coalesce(leg.came_from, leg.state) <> 'APPLIED'
               or leg.deal_id is distinct from entry.deal_id or leg.server is distinct from entry.server)
        order by entry.id`,
  );
}

function unlogged(row: Row): Finding {
  const isMissing = row.loggedLogin === null;
  const message = isMissing
    ? `Leg ${row.leg} is applied, but its deal ${row.deal} is not in a log.`
    : `Deal ${row.deal} in the log differs from leg ${row.leg}.`;
  return { ...factsOf(row), key: `${LEG}:${row.id}`, message };
}

function unexplained(row: Row): Finding {
  const message = `Deal ${row.deal} is in the log for leg ${row.leg}, which does not have this deal.`;
  return { ...factsOf(row), key: `${ENTRY}:${row.id}`, message };
}

function factsOf(row: Row): Omit<Finding, "key" | "message"> {
  const { login, master, leg, deal, key, bookedMinor, loggedMinor, loggedLogin, loggedLeg } = row;
  const booked = bookedMinor ?? 0n;
  const differs = booked - (loggedMinor ?? 0n);
  return {
    login,
    masterLogin: master,
    // With equal amounts, the deal has a wrong account or a wrong leg: then the whole amount is at risk.
    atRiskMinor: abs(differs === 0n ? booked : differs),
    operationIds: [String(leg)],
    dealIds: deal === null ? [] : [deal],
    evidence: {
      key,
      booked_minor: text(bookedMinor),
      logged_minor: text(loggedMinor),
      logged_login: loggedLogin,
      logged_operation: text(loggedLeg),
    },
  };
}

function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

function text(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
