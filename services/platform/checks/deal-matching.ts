import { column, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { abs, type Check, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS, selectIds } from "#kernel/reconcile/table-walk.ts";
import { walkingCheck } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";

/** The prefix of the keys of breaks about legs is part of the API. */
const LEG = "operation";
const ENTRY = "entry";
const TABLES = {
  leg: { name: "leg", rows: fragment`leg`, id: fragment`number` },
  entry: { name: "log_entry", rows: fragment`log_entry`, id: fragment`id` },
};

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
/** `isAwaited`: its entry may still come, because the history has not been read for a quiet period after it. */
type UnloggedRow = Row & { readonly isAwaited: boolean };

/**
 * deal_matching. Every applied leg has one deal, and every deal of this service has one leg: same ticket, login
 * and amount. The deal of a Master's leg enters the log when the history is read; it has to be there once the history
 * was read completely for the quiet period after it. While the history cannot be read, no break is reported.
 */
export function dealMatching({ pool, settings: { quietPeriodMs } }: Pick<Deps, "pool" | "settings">): Check {
  const check = walkingCheck("deal_matching", {
    pool,
    tables: TABLES,
    async examine(db, pages, { broken, open }) {
      const legs = selectIds(pages.leg, [...broken(LEG), ...open("leg")]);
      const entries = selectIds(pages.entry, broken(ENTRY));
      const unlogged = await listUnlogged(db, legs, quietPeriodMs);
      const findings = [
        ...unlogged.filter(({ isAwaited }) => !isAwaited).map(unloggedFinding),
        ...(await listUnexplained(db, entries)).map(unexplainedFinding),
      ];
      const awaited = unlogged.filter(({ isAwaited }) => isAwaited).map(({ leg }) => leg);
      return { findings, open: { leg: await listOpen(db, legs, awaited) } };
    },
  });
  return {
    ...check,
    async run(request) {
      const run = await check.run(request);
      // Last, because a run stores only its first findings.
      return { ...run, findings: [...run.findings, ...(await listAmended(pool))] };
    },
  };
}

/** Legs that are not final, and others. The first two parts are those of the indexes of such legs. */
function listOpen(db: Queryable, numbers: Fragment, others: readonly bigint[]): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select number
        from (
          select number from leg where state in ('INTENT', 'SENDING', 'UNKNOWN')
          union
          select number from leg where state = 'REVIEW'
          union
          select unnest(${others}::bigint[])
        ) as open
        where number in ${numbers}
        order by number
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** Applied legs whose deal is not in the log with the same leg, login and amount. */
function listUnlogged(db: Queryable, numbers: Fragment, quietPeriodMs: number): Promise<UnloggedRow[]> {
  return many<UnloggedRow>(
    db,
    sql`select leg.number as id, leg.number as leg, leg.login, leg.deal_id as deal, transfer.key,
               case role when 'master' then leg.login else '' end as master,
               leg.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.leg_number as "loggedLeg",
               entry.id is null and role = 'master' and not coalesce(
                 leg.applied_at < (select read_to from reader_cursor) - ${quietPeriodMs} * interval '1 millisecond', false
               ) as "isAwaited"
        from leg
             join transfer on transfer.id = leg.transfer_id
             join account on account.login = leg.login
             left join log_entry as entry
               on entry.server = leg.server and entry.deal_id = leg.deal_id and entry.kind <> 'amendment'
        where leg.number in ${numbers} and coalesce(leg.came_from, leg.state) = 'APPLIED'
          and (entry.id is null or entry.leg_number is distinct from leg.number
               or entry.login <> leg.login or entry.amount_minor <> leg.amount_minor)
        order by leg.number`,
  );
}

/** Entries of the log whose leg is not applied or has another deal. */
function listUnexplained(db: Queryable, ids: Fragment): Promise<Row[]> {
  return many<Row>(
    db,
    sql`select entry.id, entry.login, entry.leg_number as leg, entry.deal_id as deal, entry.key,
               case role when 'master' then entry.login else '' end as master,
               leg.amount_minor as "bookedMinor", entry.amount_minor as "loggedMinor", entry.login as "loggedLogin",
               entry.leg_number as "loggedLeg"
        from log_entry as entry
             join account on account.login = entry.login
             join leg on leg.number = entry.leg_number
        where entry.id in ${ids} and entry.leg_number is not null and entry.kind <> 'amendment'
          and (coalesce(leg.came_from, leg.state) <> 'APPLIED'
               or leg.deal_id is distinct from entry.deal_id or leg.server is distinct from entry.server)
        order by entry.id`,
  );
}

function unloggedFinding(row: Row): Finding {
  const isMissing = row.loggedLogin === null;
  const message = isMissing
    ? `Leg ${row.leg} is applied, but its deal ${row.deal} is not in a log.`
    : `Deal ${row.deal} in the log differs from leg ${row.leg}.`;
  return { ...factsOf(row), key: `${LEG}:${row.id}`, message };
}

function unexplainedFinding(row: Row): Finding {
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

function text(value: bigint | null): string | null {
  return value === null ? null : String(value);
}

type AmendedRow = {
  readonly id: bigint;
  readonly login: string;
  readonly master: string;
  readonly amendment: string;
  readonly deal: bigint;
  readonly leg: bigint | null;
  readonly amountMinor: bigint;
  readonly at: Date;
};

/** A review that names a deal as the cause of its stop, and decides nothing about the deal. */
const ABOUT_ALL_ACCOUNTS = "database_behind";
/** The review of an account whose deals were amended: it is about all that were amended before the decision. */
const ABOUT_THE_HISTORY = "history_changed";

const MESSAGES: Readonly<Record<string, string>> = {
  deal_gone: "deleted on the trading platform",
  deal_changed: "amended on the trading platform after it was booked",
  deal_cancelled: "cancelled on the trading platform",
  unmatched_deal: "a deal of this service that no leg accounts for",
};

/**
 * Amendments in the log. The reader of deals compares the platform's history with the log continuously and records
 * amendments; each is a break until operators have decided its review.
 */
async function listAmended(db: Queryable): Promise<Finding[]> {
  const rows = await many<AmendedRow>(
    db,
    sql`select amended.id, amended.login, case role when 'master' then amended.login else '' end as master, amended.amendment,
               amended.deal_id as deal, amended.deal_at as at, booked.leg_number as leg,
               coalesce(booked.amount_minor, 0) as "amountMinor"
        from log_entry as amended
             join account on account.login = amended.login
             left join log_entry as booked
               on booked.server = amended.server and booked.deal_id = amended.deal_id and booked.kind <> 'amendment'
             cross join lateral (
               select bool_or(state = 'DECIDED') and not bool_or(state in ('OPEN', 'PROPOSED')) as decided
               from review_case
               where review_case.login = amended.login
                 and case when amended.shown_as is null
                          then review_case.deal_id = amended.deal_id and reason <> ${ABOUT_ALL_ACCOUNTS}
                          else reason = ${ABOUT_THE_HISTORY} and confirmed_at >= amended.logged_at end
             ) as reviews
        where amended.kind = 'amendment' and reviews.decided is not true
        order by amended.id desc
        limit ${MAX_FINDINGS}`,
  );
  return rows.map(amendedFinding);
}

function amendedFinding({ login, master, amendment, deal, leg, amountMinor, at }: AmendedRow): Finding {
  return {
    key: `${amendment}:${login}:${deal}`,
    login,
    masterLogin: master,
    atRiskMinor: abs(amountMinor),
    operationIds: leg === null ? [] : [String(leg)],
    dealIds: [deal],
    message: `Deal ${deal}: ${MESSAGES[amendment] ?? amendment}.`,
    evidence: { amendment, booked_minor: String(amountMinor), deal_at: at.toISOString() },
  };
}
