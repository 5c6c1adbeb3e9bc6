import { MINUTE_MS } from "#kernel/values/duration.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { ConfirmVotesRequest, ConfirmVotesResponse, RecordedVote } from "#proto/pamm/common/v1/votes.ts";
import { refuse } from "../../problems/refusals.ts";
import { findKeySystem, listVotingKeys, type VotingKey } from "../store/api-keys.ts";

/** Clocks differ, a request takes seconds, and a replica may accept a revoked key until it has read the keys again. */
const TOLERANCE_MS = MINUTE_MS;

/**
 * Compares votes with the keys and with the audit, which has each vote before it is sent to a service. A vote that was written into the
 * tables of a service, or sent to it past the edge, has no entry there.
 */
export async function confirmVotes(pool: Pool, { votes }: ConfirmVotesRequest): Promise<ConfirmVotesResponse> {
  if (votes.length < 1 || votes.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} votes.`);
  }
  const system = await findKeySystem(pool);
  const keys = await listVotingKeys(
    pool,
    votes.map(({ keyId, reviewId, action, at }) => ({ keyId, reviewId, action, ...spanOf({ at }) })),
  );
  const confirmed = votes.map((vote, index) => {
    const key = keys[index];
    return { problem: problemOf(vote, key, system?.environment) ?? "", clientId: key?.clientId ?? "" };
  });
  return { votes: confirmed };
}

function problemOf(
  vote: RecordedVote,
  key: VotingKey | undefined,
  environment: string | undefined,
): string | undefined {
  if (key === undefined) return "unknown_key";
  if (key.name !== vote.owner) return "other_owner";
  if (key.environment !== environment) return "other_environment";
  if (!key.scopes.includes("ops")) return "no_scope";
  const { fromAt: from, toAt: to } = spanOf(vote);
  const { createdAt, expiresAt, revokedAt } = key;
  const isInForce =
    createdAt <= to && (expiresAt === null || expiresAt > from) && (revokedAt === null || revokedAt > from);
  if (!isInForce) return "not_in_force";
  return key.hasRequest ? undefined : "no_request";
}

function spanOf({ at }: Pick<RecordedVote, "at">) {
  const ms = at?.getTime() ?? 0;
  return { fromAt: new Date(ms - TOLERANCE_MS), toAt: new Date(ms + TOLERANCE_MS) };
}
