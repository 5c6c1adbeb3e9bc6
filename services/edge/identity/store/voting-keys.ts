import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { VOTE } from "../audit/vote-entry.ts";

export type Span = { readonly from: Date; readonly to: Date };

/** A vote of which the audit is searched. */
export type SearchedVote = Span & { readonly keyId: string; readonly reviewId: string; readonly action: string };

/** The key of a vote, valid or not, and whether the audit has the vote. */
export type VotingKey = {
  readonly name: string;
  readonly environment: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly hasRequest: boolean;
};

/** The keys of votes in their order; undefined for an unknown key. */
export async function listVotingKeys(
  db: Queryable,
  votes: readonly SearchedVote[],
): Promise<(VotingKey | undefined)[]> {
  const rows = await many<VotingKey & { readonly index: bigint }>(
    db,
    sql`select vote.index, name, environment, client_id as "clientId", scopes, created_at as "createdAt",
               expires_at as "expiresAt", revoked_at as "revokedAt",
               exists (
                 select from access_audit
                 where access_audit.key_id = vote.key_id and at between vote.from_at and vote.to_at
                   and method = ${VOTE} and decision = 'allowed' and operation_id = vote.review_id and code = vote.action
               ) as "hasRequest"
        from unnest(
          ${votes.map(({ keyId }) => keyId)}::text[],
          ${votes.map(({ reviewId }) => reviewId)}::text[],
          ${votes.map(({ action }) => action)}::text[],
          ${votes.map(({ from }) => from)}::timestamptz[],
          ${votes.map(({ to }) => to)}::timestamptz[]
        ) with ordinality as vote (key_id, review_id, action, from_at, to_at, index)
        join api_key on api_key.id = vote.key_id`,
  );
  const byIndex = new Map(rows.map(({ index, ...key }) => [Number(index), key]));
  return votes.map((_, index) => byIndex.get(index + 1));
}
