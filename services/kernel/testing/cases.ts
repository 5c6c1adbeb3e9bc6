import type { DecideReviewRequest } from "#proto/pamm/common/v1/review.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { kernelDatabase } from "./database.ts";
import { openCase, type NewCase } from "../review/cases.ts";
import { type Decider, recordVote } from "../review/record-vote.ts";

export const AT = new Date("2026-11-22T10:00:00Z");

/** A database with the tables of the kernel and of reviews only. */
export async function reviewDatabase(): Promise<Pool> {
  const { pool } = await kernelDatabase("reviews", ["review/review.sql"]);
  return pool;
}

export function aNewCase(over: Partial<NewCase> = {}): NewCase {
  return {
    subject: "stop:1001",
    reason: "stopped",
    login: "1001",
    amount: 12_34n,
    evidence: { why: "a deal is gone" },
    actions: ["resume", "reverse"],
    ...over,
  };
}

export async function anOpenCase(pool: Pool, over: Partial<NewCase> = {}): Promise<bigint> {
  const id = await inTransaction(pool, (tx) => openCase(tx, aNewCase(over), AT));
  if (id === undefined) throw new Error("the test has opened this case before");
  return id;
}

export type Voting = {
  /** Without a command id every vote is a new command. */
  readonly vote: (
    actor: string,
    over?: Partial<DecideReviewRequest>,
    commandId?: string,
  ) => ReturnType<typeof recordVote>;
  /** Ids of the cases whose decision was carried out, one entry per execution. */
  readonly carriedOut: readonly bigint[];
};

/** Votes on one case. */
export function votingOn(pool: Pool, reviewId: bigint, over: Partial<Decider<void>> = {}): Voting {
  const carriedOut: bigint[] = [];
  const decider: Decider<void> = {
    pool,
    now: () => AT,
    async readFacts() {},
    async examine() {},
    async carryOut(_tx, { id }) {
      carriedOut.push(id);
      return "done";
    },
    ...over,
  };
  const request = { reviewId, action: "resume", dealId: 0n, note: "checked with the dealers", keyId: "KeyOfOneTest" };
  return {
    carriedOut,
    vote: (actor, fields = {}, commandId = "") => recordVote(decider, { ...request, actor, ...fields }, { commandId }),
  };
}
