import { type Check, type Finding, inSnapshot } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { listAmended } from "./amended-deals.ts";
import { idsOf, nextCursor, ROWS_PER_RUN } from "#kernel/reconcile/walk.ts";

const EVERY_MS = 60_000;
const OPERATION = "operation";
const ENTRY = "entry";

type Row = {
  readonly id: bigint;
  readonly login: string;
  readonly master: string;
  readonly operation: bigint;
  readonly deal: bigint | null;
  readonly key: string;
  readonly bookedMinor: bigint | null;
  readonly loggedMinor: bigint | null;
  readonly loggedLogin: string | null;
  readonly loggedOperation: bigint | null;
};

/**
 * deal_matching. Every applied operation is one deal, and every deal of this service is one operation: same ticket, login
 * and amount. The deal of a Master's operation enters the log when the history is read; it has to be there once the history
 * was read completely for the quiet period after it. While the history cannot be read, no break is reported.
 */
export function bijection({ pool, settings: { quietPeriodMs } }: Pick<Deps, "pool" | "settings">): Check {
  return {
    name: "deal_matching",
    title: "Each applied operation is one deal of the log, and each deal of this service is one operation.",
    everyMs: EVERY_MS,
    confirmations: 1,
    async run({ cursor, pendingBreaks }) {
      const [operationsAfter = 0n, entriesAfter = 0n] = cursor === "" ? [] : cursor.split(" ").map(BigInt);
      return inSnapshot(pool, async (db) => {
        const operations = await listUnlogged(db, {
          after: operationsAfter,
          again: idsOf(pendingBreaks, OPERATION),
          quietPeriodMs,
        });
        const entries = await listUnexplained(db, { after: entriesAfter, again: idsOf(pendingBreaks, ENTRY) });
        const findings = [...operations.map(unlogged), ...entries.map(unexplained), ...(await listAmended(db))];
        return { findings, covers: () => true, nextCursor: await cursorAfter(db, operationsAfter, entriesAfter) };
      });
    },
  };
}

/** Each of the two walks restarts after its end; the pass is complete when both have ended. */
async function cursorAfter(db: Queryable, operations: bigint, entries: bigint): Promise<string> {
  const lastOperation = await nextCursor(
    db,
    sql`select number as id from operation where number > ${operations} order by number offset ${ROWS_PER_RUN - 1} limit 1`,
  );
  const lastEntry = await nextCursor(
    db,
    sql`select id from log_entry where id > ${entries} order by id offset ${ROWS_PER_RUN - 1} limit 1`,
  );
  if (lastOperation === "" && lastEntry === "") return "";
  return `${lastOperation || operations} ${lastEntry || entries}`;
}

type Walk = { readonly after: bigint; readonly again: readonly bigint[] };

/** Applied operations whose deal is not in the log with the same operation, login and amount. */
function listUnlogged(
  db: Queryable,
  { after, again, quietPeriodMs }: Walk & { quietPeriodMs: number },
): Promise<Row[]> {
  return many<Row>(
    db,
    sql`with selected as (
          (select number from operation order by number desc limit ${ROWS_PER_RUN})
          union
          (select number from operation where number > ${after} order by number limit ${ROWS_PER_RUN})
          union
          select unnest(${again}::bigint[])
        )
        select operation.number as id, operation.number as operation, operation.login, operation.deal_id as deal, transfer.key,
               case role when 'master' then operation.login else '' end as master,
               operation.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.operation_number as "loggedOperation"
        from selected
             join operation on operation.number = selected.number
             join transfer on transfer.id = operation.transfer_id
             join account on account.login = operation.login
             left join log_entry as entry
               on entry.server = operation.server and entry.deal_id = operation.deal_id and entry.kind <> 'amendment'
        where coalesce(operation.came_from, operation.state) = 'APPLIED'
          and (entry.id is null or entry.operation_number is distinct from operation.number
               or entry.login <> operation.login or entry.amount_minor <> operation.amount_minor)
          and (entry.id is not null or role <> 'master'
               or operation.applied_at < (select read_to from reader_cursor) - ${quietPeriodMs} * interval '1 millisecond')
        order by operation.number`,
  );
}

/** Entries of the log whose operation is not applied or has another deal. */
function listUnexplained(db: Queryable, { after, again }: Walk): Promise<Row[]> {
  return many<Row>(
    db,
    sql`with selected as (
          (select id from log_entry order by id desc limit ${ROWS_PER_RUN})
          union
          (select id from log_entry where id > ${after} order by id limit ${ROWS_PER_RUN})
          union
          select unnest(${again}::bigint[])
        )
        select entry.id, entry.login, entry.operation_number as operation, entry.deal_id as deal, entry.key,
               case role when 'master' then entry.login else '' end as master,
               operation.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.operation_number as "loggedOperation"
        from selected
             join log_entry as entry on entry.id = selected.id
             join account on account.login = entry.login
             join operation on operation.number = entry.operation_number
        where entry.operation_number is not null and entry.kind <> 'amendment'
          and (coalesce(operation.came_from, operation.state) <> 'APPLIED'
               or operation.deal_id is distinct from entry.deal_id or operation.server is distinct from entry.server)
        order by entry.id`,
  );
}

function unlogged(row: Row): Finding {
  const isMissing = row.loggedLogin === null;
  const message = isMissing
    ? `Operation ${row.operation} is applied, but its deal ${row.deal} is not in a log.`
    : `Deal ${row.deal} in the log differs from operation ${row.operation}.`;
  return { ...factsOf(row), key: `${OPERATION}:${row.id}`, message };
}

function unexplained(row: Row): Finding {
  const message = `Deal ${row.deal} is in the log for operation ${row.operation}, which does not have this deal.`;
  return { ...factsOf(row), key: `${ENTRY}:${row.id}`, message };
}

function factsOf(row: Row): Omit<Finding, "key" | "message"> {
  const { login, master, operation, deal, key, bookedMinor, loggedMinor, loggedLogin, loggedOperation } = row;
  const booked = bookedMinor ?? 0n;
  const differs = booked - (loggedMinor ?? 0n);
  return {
    login,
    masterLogin: master,
    // On the wrong account or for the wrong operation the whole amount is at risk.
    atRiskMinor: abs(differs === 0n ? booked : differs),
    operationIds: [String(operation)],
    dealIds: deal === null ? [] : [deal],
    evidence: {
      key,
      booked_minor: text(bookedMinor),
      logged_minor: text(loggedMinor),
      logged_login: loggedLogin,
      logged_operation: text(loggedOperation),
    },
  };
}

function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

function text(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
