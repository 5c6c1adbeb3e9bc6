import { execute, many, maybeOne, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";
import { type CaseRow, caseFrom, type ReviewCase } from "./case-row.ts";
import type { Heard, Progress, Word } from "./review.ts";
import { insertReviewEvent } from "./words.ts";

/** What people are asked. */
export type Question = {
  /** What it is about, for example stop:1001. One case at a time is open about it. */
  readonly subject: string;
  readonly reason: string;
  readonly login: string;
  /** Cents, signed. */
  readonly amount?: bigint | undefined;
  readonly operationId?: string | undefined;
  readonly reference?: string | undefined;
  readonly dealId?: bigint | undefined;
  /** Everything that is known, as it goes into JSON: amounts and tickets as texts, no secrets. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** What may be decided; never empty. */
  readonly actions: readonly string[];
};

/** Opens a case. Undefined when one about the same subject is open already; that one stays as it is. */
export async function openCase(tx: Transaction, question: Question, at: Date): Promise<bigint | undefined> {
  const { subject, reason, login, amount, operationId = "", reference = "", dealId = 0n, actions } = question;
  const evidence = JSON.stringify(question.evidence);
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into review_case (subject, reason, login, amount_minor, operation_id, reference, deal_id, evidence, actions,
                                 state, opened_at)
        values (${subject}, ${reason}, ${login}, ${amount}, ${operationId}, ${reference}, ${dealId}, ${evidence}::jsonb,
                ${actions}::text[], 'OPEN', ${at})
        on conflict (subject) where state in ('OPEN', 'PROPOSED') do nothing
        returning id`,
  );
  return row?.id;
}

/** Undecided cases whose subject begins with one of the prefixes, ascending by id. */
export async function listUndecided(db: Queryable, prefix: string, limit: number): Promise<ReviewCase[]> {
  const rows = await many<CaseRow>(
    db,
    sql`select * from review_case_row
        where state in ('OPEN', 'PROPOSED') and starts_with(subject, ${prefix})
        order by id
        limit ${limit}`,
  );
  return rows.map(caseFrom);
}

export async function findCase(db: Queryable, id: bigint): Promise<ReviewCase | undefined> {
  const row = await maybeOne<CaseRow>(db, sql`select * from review_case_row where id = ${id}`);
  return row === undefined ? undefined : caseFrom(row);
}

/** With its row locked: whoever decides locks the case first, and then what the decision is about. */
export async function lockCase(tx: Transaction, id: bigint): Promise<ReviewCase | undefined> {
  const row = await maybeOne<CaseRow>(tx, sql`select * from review_case_row where id = ${id} for update`);
  return row === undefined ? undefined : caseFrom(row);
}

/** The case goes on, and what was said stays. In the transaction that has locked it. */
export async function saveReceived(
  tx: Transaction,
  { caseId, commandId }: { readonly caseId: bigint; readonly commandId: string },
  heard: Heard,
  said: Word,
): Promise<void> {
  await saveProgress(tx, caseId, heard.progress, said.at);
  await insertReviewEvent(tx, { caseId, commandId }, { ...said, word: heard.word });
}

async function saveProgress(tx: Transaction, id: bigint, progress: Progress, at: Date): Promise<void> {
  const proposal = "proposal" in progress ? progress.proposal : undefined;
  const decision = "decision" in progress ? progress.decision : undefined;
  const said = decision ?? proposal;
  await execute(
    tx,
    sql`update review_case
        set state = ${progress.state}, action = ${said?.action}, chosen_deal_id = ${said?.dealId}, note = ${said?.note},
            proposed_by = ${said?.proposedBy}, proposed_at = ${said?.proposedAt},
            confirmed_note = ${decision?.confirmedNote}, confirmed_by = ${decision?.confirmedBy},
            confirmed_at = ${decision?.confirmedAt},
            next_try_at = ${decision === undefined ? undefined : at}
        where id = ${id}`,
  );
}

/** The facts of an undecided case have changed: a proposal that was made about the old ones is void. */
export async function renewCase(tx: Transaction, { id, progress }: ReviewCase, question: Question, at: Date) {
  const { amount, actions } = question;
  await voidProposal(tx, id, progress, at);
  await execute(
    tx,
    sql`update review_case
        set amount_minor = ${amount}, evidence = ${JSON.stringify(question.evidence)}::jsonb, actions = ${actions}::text[]
        where id = ${id} and state = 'OPEN'`,
  );
}

/** What an undecided case was about is no more. */
export async function closeCase(tx: Transaction, { id, progress }: ReviewCase, at: Date): Promise<void> {
  await voidProposal(tx, id, progress, at);
  await execute(tx, sql`update review_case set state = 'GONE' where id = ${id} and state = 'OPEN'`);
}

async function voidProposal(tx: Transaction, id: bigint, progress: Progress, at: Date): Promise<void> {
  if (progress.state !== "PROPOSED") return;
  const { action, dealId } = progress.proposal;
  await saveProgress(tx, id, { state: "OPEN" }, at);
  const note = "what it was about has changed";
  await insertReviewEvent(tx, { caseId: id, commandId: "" }, { word: "VOIDED", action, dealId, note, actor: "", at });
}
