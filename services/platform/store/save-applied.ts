import { type Fragment, fragment, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Role } from "../domain/role.ts";
import type { RecordedLeg } from "./leg-row.ts";
import { CHECKPOINTED } from "./log.ts";

/** The platform applied an attempt of the leg, and its answer was read whole. Every ticket of a batch is another one. */
export type Applied = { readonly leg: RecordedLeg; readonly attempt: number; readonly ticket: bigint };

export type SavedAnswer = {
  readonly number: bigint;
  /** When the leg was applied, by the clock of the database. */
  readonly at: Date;
  readonly role: Role;
  /** Another leg waits on the account: it may have its turn now. */
  readonly hasNext: boolean;
  /** Id and log position of its entry; undefined for a Master, whose log the reader appends to. */
  readonly entry: { readonly id: bigint; readonly number: bigint } | undefined;
};

type SavedRow = Omit<SavedAnswer, "entry"> & { entry_id: bigint | null; entry_number: bigint | null };

/** The ends of the logs after the new entries, and the account locks that end. */
const MOVED = fragment`
  update account
  set log_number = log_number + entries, log_entry_id = coalesce(last_id, log_entry_id), log_minor = log_minor + amount,
      locked_by = case when locked_by = released_by then null else locked_by end,
      lock_number = case when locked_by = released_by then null else lock_number end,
      lock_granted_at = case when locked_by = released_by then null else lock_granted_at end
  from (
    select applied.login as of_login, count(added.id) as entries, max(added.id) as last_id,
           coalesce(sum(added.amount_minor), 0)::bigint as amount, max(applied.releases) as released_by
    from applied
    left join added on added.leg_number = applied.number
    group by applied.login
    having count(added.id) > 0 or max(applied.releases) is not null
  ) as change
  where login = of_login
  returning login, log_number, log_minor, entries`;

/** The answers whose deal no leg and no log has. Subqueries: without statistics a join would read all deals of the server. */
function newDeals(server: string, answers: readonly Applied[]): Fragment {
  return fragment`
    select leg_number, of_attempt, ticket, of_key, releases, rank
    from unnest(
      ${answers.map(({ leg }) => leg.number)}::bigint[],
      ${answers.map(({ attempt }) => attempt)}::smallint[],
      ${answers.map(({ ticket }) => ticket)}::bigint[],
      ${answers.map(({ leg }) => leg.key)}::text[],
      ${answers.map(({ leg }) => (leg.releasesLock ? leg.lockOwner : undefined))}::text[]
    ) with ordinality as answer (leg_number, of_attempt, ticket, of_key, releases, rank)
    where (select known.number from leg as known where known.server = ${server} and known.deal_id = ticket) is null
      and (
        select known.id
        from log_entry as known
        where known.server = ${server} and known.deal_id = ticket and known.kind <> 'amendment'
      ) is null
      and (
        select known.deal_id from adopted_deal as known where known.server = ${server} and known.deal_id = ticket
      ) is null`;
}

/**
 * Locks the accounts, and writes all that follows from plain answers: the transitions from SENDING or UNKNOWN to APPLIED, the
 * outcomes of their attempts, the entries with the new ends of the logs, released account locks, and credits that are ready.
 * Leaves out a leg that does not wait for this attempt any more, and a deal that a leg or a log has already. While this
 * statement waits for a lock another transaction may book the deal: a unique index refuses it then; a Master's answer, which makes
 * its leg unlogged instead of an entry, is left out when the log has moved.
 */
export async function saveApplied(
  tx: Transaction,
  server: string,
  answers: readonly Applied[],
): Promise<SavedAnswer[]> {
  const rows = await many<SavedRow>(
    tx,
    sql`with answer as ( ${newDeals(server, answers)}
        ), locked as (
          select login as of_login, role, log_number as last_number, clock_timestamp() as at
          from account
          where login = any (${answers.map(({ leg }) => leg.login)}::text[])
          order by login
          for no key update
        ), applied as (
          update leg
          set state = 'APPLIED', server = ${server}, deal_id = ticket, applied_at = at, changed_at = clock_timestamp()
          from answer
          cross join locked
          where number = leg_number and attempt = of_attempt and login = of_login
            and state in ('SENDING', 'UNKNOWN') and deal_id is null
            and (role <> 'master' or last_number = (select log_number from account as begun where begun.login = of_login))
          returning leg.number, leg.attempt, leg.transfer_id, leg.ordinal, leg.login, leg.kind, leg.amount_minor, ticket, of_key,
                    releases, rank, role, last_number, at
        ), ended as (
          update attempt
          set state = case when state in ('SENDING', 'UNKNOWN') then 'APPLIED' else state end,
              fenced_at = coalesce(fenced_at, clock_timestamp()), answer_code = 0
          from applied
          where attempt.leg_number = applied.number and attempt.number = applied.attempt
        ), readied as (
          update leg
          set is_ready = true, next_scan_at = clock_timestamp(), changed_at = clock_timestamp()
          from applied
          where leg.transfer_id = applied.transfer_id and applied.ordinal = 1 and not leg.is_ready and leg.state = 'INTENT'
        ), added as (
          insert into log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
          select login, last_number + row_number() over (partition by login order by rank), kind, amount_minor, number,
                 transfer_id, of_key, ${server}, ticket, at
          from applied
          where role <> 'master'
          order by rank
          returning id, number, leg_number, amount_minor
        ), unlogged as (
          insert into unlogged_leg (login, leg_number)
          select login, number from applied where role = 'master'
        ), released as (
          insert into released_lock (lock_owner, login)
          select releases, login from applied where releases is not null
          on conflict (lock_owner) do nothing
        ), moved as ( ${MOVED}
        ), checkpointed as ( ${CHECKPOINTED}
        )
        select applied.number, at, role, added.id as entry_id, added.number as entry_number,
               exists (
                 select from leg as waiting
                 where waiting.login = applied.login and waiting.state = 'INTENT' and waiting.is_ready
               ) as "hasNext"
        from applied
        left join added on added.leg_number = applied.number
        order by rank`,
  );
  return rows.map(({ entry_id: id, entry_number: position, ...saved }) => ({
    ...saved,
    entry: id === null || position === null ? undefined : { id, number: position },
  }));
}
