import { callContext } from "../contract/context.ts";
import type { CallContext } from "../contract/contract.ts";
import { DAY_MS } from "../values/duration.ts";
import { inBatches } from "../batches/in-batches.ts";
import { MAX_PAGE_SIZE } from "../values/page.ts";
import type { Pool } from "../postgres/pool.ts";
import { column, type Fragment, fragment, many, type Queryable, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { abs, type Check, type Finding } from "../reconcile/check.ts";
import { MAX_OPEN_ROWS, type Page, selectIds } from "../reconcile/table-walk.ts";
import { walkingCheck } from "../reconcile/walk.ts";
import { openCase } from "./cases.ts";
import { isSameOwner } from "./owner.ts";
import { ACKNOWLEDGE, VOTES_UNCONFIRMED } from "./review.ts";
import { VoteServiceService } from "#proto/pamm/common/v1/votes.ts";
import type { Broker } from "../nats/connect.ts";
import { natsClient } from "../nats/client.ts";

const KEY = "review";
const TABLES = { review: { name: "review_case", rows: fragment`review_case`, id: fragment`id` } };
/** Older decisions are not compared again: the audit of the edge may have removed its entries. */
const COMPARED_FOR_MS = 30 * DAY_MS;
/** The time of one call; the edge searches its audit by an index. */
const CALL_MS = 5_000;

/** A vote as this service has recorded it. */
export type RecordedVote = {
  readonly reviewId: string;
  readonly action: string;
  readonly keyId: string;
  readonly owner: string;
  readonly at: Date;
};
/** The answer of the edge to one vote; `problem` is empty for a valid one. */
export type ConfirmedVote = { readonly problem: string; readonly clientId: string };

export type VotesDeps = {
  readonly pool: Pool;
  readonly service: "platform" | "subscription" | "fee";
  /** What the edge knows of votes, in their order. Throws when it does not answer. */
  readonly confirm: (votes: readonly RecordedVote[], context: CallContext) => Promise<readonly ConfirmedVote[]>;
  /** The Master that a break about a review of this login stops; empty when the login decides. */
  readonly masterOf: (login: string) => string;
};

/** A decided review with its last two events, which have to be the proposal and the confirmation of the decision. */
type Row = {
  readonly id: bigint;
  readonly reason: string;
  readonly login: string;
  readonly amount: bigint | null;
  readonly action: string;
  readonly dealId: bigint;
  readonly proposedBy: string;
  readonly confirmedBy: string;
  readonly confirmedAt: Date;
  readonly votes: readonly Event[];
};
type Event = {
  readonly event: string;
  readonly action: string;
  readonly deal: string;
  readonly actor: string;
  readonly key: string;
  readonly at: string;
};

/**
 * Each decision has the votes of two operators that the edge knows: keys of two clients, valid at the time, and an entry of the audit for
 * each vote, which the edge commits before it sends the vote. So it is asked after the snapshot, and once.
 */
export function reviewVotes(deps: VotesDeps): Check {
  const { pool, service } = deps;
  return walkingCheck(`review_votes_${service}`, {
    pool,
    tables: TABLES,
    async examine(db, { review: page }, { broken, open }) {
      const others = [...broken(KEY), ...open("review")];
      const ids = selectIds(page, others);
      const rows = await listDecided(db, ids, isDue(page, others));
      return { findings: () => compare(deps, rows), open: { review: await listUndecided(db, ids) } };
    },
  });
}

/** New decisions are compared whatever time they have, because a forged row has the time that its author wrote. */
function isDue({ fresh }: Page, others: readonly bigint[]): Fragment {
  return fragment`(id > ${fresh.after} and id <= ${fresh.to} or id = any (${others}::bigint[])
    or confirmed_at > clock_timestamp() - ${COMPARED_FOR_MS} * interval '1 millisecond')`;
}

async function listDecided(db: Queryable, ids: Fragment, due: Fragment): Promise<Row[]> {
  return await many<Row>(
    db,
    sql`select id, reason, login, amount_minor as amount, action, chosen_deal_id as "dealId", proposed_by as "proposedBy",
               confirmed_by as "confirmedBy", confirmed_at as "confirmedAt",
               coalesce((
                 select jsonb_agg(jsonb_build_object('event', event, 'action', last.action, 'deal', last.deal_id::text,
                                                     'actor', actor, 'key', key_id, 'at', recorded_at) order by last.id)
                 from (
                   select * from review_event where case_id = review_case.id order by review_event.id desc limit 2
                 ) as last
               ), '[]') as votes
        from review_case
        where state = 'DECIDED' and id in ${ids} and ${due}
          and not exists (
            select from review_case as acknowledged
            where acknowledged.subject = ${VOTES_UNCONFIRMED} || ':' || review_case.id and acknowledged.state = 'DECIDED'
          )
        order by id`,
  );
}

async function listUndecided(db: Queryable, ids: Fragment): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from review_case
        where state in ('OPEN', 'PROPOSED') and id in ${ids}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

async function compare(deps: VotesDeps, rows: readonly Row[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const page of inBatches(rows, MAX_PAGE_SIZE / 2)) {
    const complete = page.filter(hasVotes);
    const votes = complete.flatMap((row) => row.votes.map((vote) => recordedVote(deps.service, row, vote)));
    const context = callContext({ caller: deps.service, withinMs: CALL_MS });
    const confirmed = votes.length === 0 ? [] : await deps.confirm(votes, context);
    for (const row of page) {
      const first = complete.indexOf(row) * 2;
      const problem = first < 0 ? "has no votes for its decision" : problemOf(row, confirmed.slice(first, first + 2));
      if (problem !== undefined) findings.push(findingOf(deps, row, problem));
    }
  }
  for (const finding of findings) await askOperators(deps.pool, finding);
  return findings;
}

function hasVotes({ action, dealId, proposedBy, confirmedBy, votes }: Row): boolean {
  const [proposal, confirmation] = votes;
  const isFor = (vote: Event | undefined) => vote?.action === action && vote.deal === String(dealId);
  return (
    proposal?.event === "PROPOSED" &&
    confirmation?.event === "CONFIRMED" &&
    isFor(proposal) &&
    isFor(confirmation) &&
    proposal.actor === proposedBy &&
    confirmation.actor === confirmedBy
  );
}

function recordedVote(service: string, { id }: Row, { action, key, actor, at }: Event): RecordedVote {
  return { reviewId: `${service}-${id}`, action, keyId: key, owner: actor, at: new Date(at) };
}

function problemOf({ proposedBy, confirmedBy }: Row, votes: readonly ConfirmedVote[]): string | undefined {
  const [proposal, confirmation] = votes;
  if (proposal === undefined || confirmation === undefined) return "has votes that the edge did not answer for";
  const problem = proposal.problem || confirmation.problem;
  if (problem !== "") return `has a vote that the edge does not confirm (${problem})`;
  if (proposal.clientId === confirmation.clientId) return "has two votes of one client";
  return isSameOwner(proposedBy, confirmedBy) ? "has two votes of one owner" : undefined;
}

function findingOf({ masterOf }: VotesDeps, row: Row, problem: string): Finding {
  const { id, reason, login, amount, action, proposedBy, confirmedBy, confirmedAt, votes } = row;
  return {
    key: `${KEY}:${id}`,
    login,
    masterLogin: masterOf(login),
    atRiskMinor: abs(amount ?? 0n),
    message: `Review ${id} (${reason}) was decided as ${action}, and ${problem}.`,
    evidence: {
      review_id: String(id),
      reason,
      action,
      proposed_by: proposedBy,
      confirmed_by: confirmedBy,
      confirmed_at: confirmedAt.toISOString(),
      keys: votes.map(({ key }) => key),
    },
  };
}

/** The break ends when operators have acknowledged the decision as it is: its effect cannot be undone by the check. */
async function askOperators(pool: Pool, { login, evidence, message }: Finding): Promise<void> {
  await inTransaction(pool, (tx) =>
    openCase(
      tx,
      {
        subject: `${VOTES_UNCONFIRMED}:${String(evidence["review_id"])}`,
        reason: VOTES_UNCONFIRMED,
        login,
        evidence: { why: message, ...evidence },
        actions: [ACKNOWLEDGE],
      },
      new Date(),
    ),
  );
}

/** Asks the edge over the broker, because it is in no certificate: only its user may receive these requests there. */
export function askEdge(broker: Broker, caller: string): VotesDeps["confirm"] {
  const edge = natsClient(broker, { service: "edge", contract: VoteServiceService, caller });
  return async (votes, context) => (await edge.confirmVotes({ votes: [...votes] }, context)).votes;
}
