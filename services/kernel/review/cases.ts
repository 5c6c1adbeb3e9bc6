import { execute, fragment, many, matchesRow, maybeOne, one, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";
import { type DealCause, groupedBy, type ReviewCase } from "./case-row.ts";
import type { Action, Reason } from "#catalogue/reviews.ts";
import type { AppliedVote, Progress, Vote, ReviewEvent } from "./review.ts";

/** What operators have to decide. */
export type NewCase = {
  /** For example stop:1001. At most one case of a subject is open. */
  readonly subject: string;
  readonly reason: Reason;
  readonly login: string;
  /** Cents, signed. */
  readonly amount?: bigint | undefined;
  readonly operationId?: string | undefined;
  readonly reference?: string | undefined;
  readonly dealId?: bigint | undefined;
  /** Of the deals that it is about, when all are of one kind. */
  readonly cause?: DealCause | undefined;
  /** The known facts, in the form of JSON: amounts and tickets as texts, no secrets. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** The allowed decisions; never empty. */
  readonly actions: readonly Action[];
};

/** Opens a case. Returns undefined, and changes nothing, when a case of the same subject is open. */
export async function openCase(tx: Transaction, newCase: NewCase, at: Date): Promise<bigint | undefined> {
  const { subject, reason, login, amount, operationId = "", reference = "", dealId = 0n, actions } = newCase;
  const { action, comment, day, group } = groupedBy(newCase, at);
  const evidence = JSON.stringify(newCase.evidence);
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into review_case (subject, reason, login, amount_minor, operation_id, reference, deal_id, cause_action, cause_comment,
                                 cause_day, cause_group, evidence, actions, state, opened_at)
        values (${subject}, ${reason}, ${login}, ${amount}, ${operationId}, ${reference}, ${dealId}, ${action}, ${comment}, ${day}, ${group},
                ${evidence}::jsonb, ${actions}::text[], 'OPEN', ${at})
        on conflict (subject) where state in ('OPEN', 'PROPOSED') do nothing
        returning id`,
  );
  return row?.id;
}

/** Undecided cases whose subject begins with the prefix, ascending by id. */
export async function listUndecided(db: Queryable, prefix: string): Promise<ReviewCase[]> {
  return await many<ReviewCase>(
    db,
    sql`select * from review_case_row
        where state in ('OPEN', 'PROPOSED') and starts_with(subject, ${prefix})
        order by id`,
  );
}

export async function findCase(db: Queryable, id: bigint): Promise<ReviewCase | undefined> {
  return await maybeOne<ReviewCase>(db, sql`select * from review_case_row where id = ${id}`);
}

/** Locks the row. A decision locks the case first, and then the rows that it changes. */
export async function lockCase(tx: Transaction, id: bigint): Promise<ReviewCase | undefined> {
  return await maybeOne<ReviewCase>(tx, sql`select * from review_case_row where id = ${id} for update`);
}

/** The open case of a subject, locked. */
export async function lockUndecidedCase(tx: Transaction, subject: string): Promise<ReviewCase | undefined> {
  return await maybeOne<ReviewCase>(
    tx,
    sql`select * from review_case_row where subject = ${subject} and state in ('OPEN', 'PROPOSED') for update`,
  );
}

/** Stores the new progress of the case and the event, in the transaction that has locked the case. Returns the amount of the case. */
export async function saveVote(
  tx: Transaction,
  { caseId, commandId }: { readonly caseId: bigint; readonly commandId: string },
  applied: AppliedVote,
  vote: Vote,
): Promise<bigint | null> {
  await insertReviewEvent(tx, { caseId, commandId }, { ...vote, event: applied.event });
  return await saveProgress(tx, caseId, applied.progress, vote.at);
}

async function saveProgress(tx: Transaction, id: bigint, progress: Progress, at: Date): Promise<bigint | null> {
  const decision = progress.state === "DECIDED" ? progress : undefined;
  const proposed = progress.state === "PROPOSED" ? progress : decision;
  const { amount } = await one<Pick<ReviewCase, "amount">>(
    tx,
    sql`update review_case
        set state = ${progress.state}, action = ${proposed?.action}, chosen_deal_id = ${proposed?.chosenDealId}, note = ${proposed?.note},
            proposed_by = ${proposed?.proposedBy}, proposed_at = ${proposed?.proposedAt},
            confirmed_note = ${decision?.confirmedNote}, confirmed_by = ${decision?.confirmedBy},
            confirmed_at = ${decision?.confirmedAt},
            next_try_at = ${decision === undefined ? undefined : at}
        where id = ${id}
        returning amount_minor as amount`,
  );
  return amount;
}

/** Stores changed facts of an undecided case, and voids a proposal that was made for the old facts. */
export async function renewCase(tx: Transaction, reviewCase: ReviewCase, newCase: NewCase, at: Date): Promise<void> {
  const { id, openedAt } = reviewCase;
  const { amount, actions } = newCase;
  const { action, comment, day, group } = groupedBy(newCase, openedAt);
  await voidProposal(tx, reviewCase, at);
  await execute(
    tx,
    sql`update review_case
        set amount_minor = ${amount}, cause_action = ${action}, cause_comment = ${comment}, cause_day = ${day},
            cause_group = ${group}, evidence = ${JSON.stringify(newCase.evidence)}::jsonb, actions = ${actions}::text[]
        where id = ${id} and state = 'OPEN'`,
  );
}

/** The amount for which a decision is carried out, in its transaction: it may be another one than that of the proposal. */
export async function noteAmount(tx: Transaction, id: bigint, amount: bigint): Promise<void> {
  await execute(
    tx,
    sql`update review_case set amount_minor = ${amount} where id = ${id} and amount_minor <> ${amount}`,
  );
}

/** Closes an undecided case whose subject no longer exists. */
export async function closeCase(tx: Transaction, reviewCase: ReviewCase, at: Date): Promise<void> {
  await voidProposal(tx, reviewCase, at);
  await execute(tx, sql`update review_case set state = 'OBSOLETE' where id = ${reviewCase.id} and state = 'OPEN'`);
}

async function voidProposal(tx: Transaction, reviewCase: ReviewCase, at: Date): Promise<void> {
  if (reviewCase.state !== "PROPOSED") return;
  const { id, action, chosenDealId: dealId } = reviewCase;
  await saveProgress(tx, id, { state: "OPEN" }, at);
  const note = "The facts of the review have changed.";
  await insertReviewEvent(
    tx,
    { caseId: id, commandId: "" },
    { event: "VOIDED", action, dealId, note, actor: "", keyId: "", at },
  );
}

/** Decisions whose effect is not complete and that are due, the oldest first. */
export async function listUnfinished(db: Queryable, at: Date, limit: number): Promise<ReviewCase[]> {
  return await many<ReviewCase>(
    db,
    sql`select * from review_case_row where "nextTryAt" <= ${at} order by "nextTryAt", id limit ${limit}`,
  );
}

/** Records that a decision is carried out completely. True for the call that recorded it. */
export async function markFinished(db: Queryable, id: bigint, at: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update review_case set done_at = ${at}, next_try_at = null, last_error = null
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
}

/** Records a failed attempt and schedules the next one. */
export async function delayUnfinished(db: Queryable, id: bigint, nextTryAt: Date, lastError: string): Promise<void> {
  await execute(
    db,
    sql`update review_case set next_try_at = ${nextTryAt}, tries = tries + 1, last_error = ${lastError}
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
}

/** The instant at which the next decided case is due; null without one. */
export const nextUnfinished = fragment`(select min(next_try_at) from review_case where next_try_at is not null)`;

/** Inserts an event, which is never changed afterwards. `commandId` is empty when no command caused it. */
export async function insertReviewEvent(
  tx: Transaction,
  { caseId, commandId }: { readonly caseId: bigint; readonly commandId: string },
  { event, action, dealId, note, actor, keyId, at }: ReviewEvent,
): Promise<void> {
  await execute(
    tx,
    sql`insert into review_event (case_id, event, action, deal_id, note, actor, key_id, recorded_at, command_id)
        values (${caseId}, ${event}, ${action}, ${dealId}, ${note}, ${actor}, ${keyId}, ${at}, ${commandId})`,
  );
}

/** The events of a case up to the one that the command recorded, in their order; none when it has recorded none. */
export async function listReviewEventsUntil(
  db: Queryable,
  commandId: string,
): Promise<(ReviewEvent & { caseId: bigint })[]> {
  return await many(
    db,
    sql`select recorded.case_id as "caseId", recorded.event, recorded.action, recorded.deal_id as "dealId", recorded.note, recorded.actor,
               recorded.key_id as "keyId",
               recorded.recorded_at as at
        from review_event own
        join review_event recorded on recorded.case_id = own.case_id and recorded.id <= own.id
        where own.command_id = ${commandId} and own.command_id <> ''
        order by recorded.id`,
  );
}
