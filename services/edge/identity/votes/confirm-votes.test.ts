import { beforeAll, expect, test } from "vitest";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { RecordedVote } from "#proto/pamm/common/v1/votes.ts";
import { testDatabase } from "#test/support/database.ts";
import { insertAuditEntries } from "../store/access-audit.ts";
import { insertKey, markExpiring, markRevoked, type NewKey, saveKeySystem } from "../store/api-keys.ts";
import { VOTE } from "../audit/audit.ts";
import { confirmVotes } from "./confirm-votes.ts";

const AT = new Date("2026-11-22T10:00:00Z");
const HOUR_BEFORE = new Date(AT.getTime() - 60 * MINUTE_MS);
const KEY = "KeyOfAnna001";

let pool: Pool;

beforeAll(async () => {
  ({ pool } = await testDatabase("edge"));
  await saveKeySystem(pool, { environment: "live", hasBootstrapKey: true });
  await addKey(KEY);
  await addVotes([{ keyId: KEY, action: "resume" }]);
});

async function addKey(id: string, own: Partial<NewKey> = {}): Promise<void> {
  await insertKey(pool, {
    id,
    environment: "live",
    name: "anna",
    pepperId: "p",
    hash: Buffer.alloc(32),
    scopes: ["ops"],
    allowedAddresses: [],
    duplicateComment: "allow",
    replaces: null,
    clientId: id,
    createdAt: HOUR_BEFORE,
    expiresAt: null,
    ...own,
  });
}

type AddedVote = { keyId: string; action?: string; decision?: "allowed" | "denied"; method?: string };

async function addVotes(votes: readonly AddedVote[]): Promise<void> {
  await insertAuditEntries(
    pool,
    votes.map(({ keyId, action = "resume", decision = "allowed", method = VOTE }) => ({
      at: AT,
      requestId: "r",
      keyId,
      client: "anna",
      address: "127.0.0.1",
      method,
      route: "/api/v1/ops/reviews",
      operationId: "platform-17",
      decision,
      status: 202,
      code: action,
    })),
  );
}

async function answerTo(own: Partial<RecordedVote> = {}) {
  const vote = { reviewId: "platform-17", action: "resume", keyId: KEY, owner: "anna", at: AT, ...own };
  const { votes } = await confirmVotes(pool, { votes: [vote] });
  return votes[0];
}

test("a vote of a request of this edge is confirmed, with the client of its key", async () => {
  expect(await answerTo()).toEqual({ problem: "", clientId: KEY });
});

test("a rotated key belongs to the client of the first one", async () => {
  await addKey("KeyOfAnna002", { replaces: KEY, clientId: KEY });
  await addVotes([{ keyId: "KeyOfAnna002" }]);
  expect(await answerTo({ keyId: "KeyOfAnna002" })).toEqual({ problem: "", clientId: KEY });
});

test.for<[string, Partial<RecordedVote>]>([
  ["unknown_key", { keyId: "KeyOfNoOne01" }],
  ["unknown_key", { keyId: "bootstrap" }],
  ["other_owner", { owner: "boris" }],
  ["no_request", { reviewId: "platform-18" }],
  ["no_request", { action: "reverse" }],
  ["no_request", { at: new Date(AT.getTime() + 2 * MINUTE_MS) }],
  ["not_in_force", { at: new Date(HOUR_BEFORE.getTime() - 2 * MINUTE_MS) }],
])("a vote is not confirmed: %s %o", async ([problem, own]) => {
  expect(await answerTo(own)).toMatchObject({ problem });
});

test("a vote is not confirmed of a key without the scope, of another environment, or one that was not valid at that time", async () => {
  await addKey("KeyOfReader1", { scopes: ["funds:deposit"] });
  await addKey("KeyOfTests01", { environment: "test" });
  await addKey("KeyRevoked01");
  await addKey("KeyExpired01");
  await addKey("KeyRevoked02");
  const before = new Date(AT.getTime() - 2 * MINUTE_MS);
  await inTransaction(pool, async (tx) => {
    await markRevoked(tx, "KeyRevoked01", before);
    await markExpiring(tx, "KeyExpired01", before);
    await markRevoked(tx, "KeyRevoked02", new Date(AT.getTime() + MINUTE_MS));
  });
  const keyIds = ["KeyOfReader1", "KeyOfTests01", "KeyRevoked01", "KeyExpired01", "KeyRevoked02"];
  await addVotes(keyIds.map((keyId) => ({ keyId })));
  const answers = await Promise.all(keyIds.map((keyId) => answerTo({ keyId })));
  expect(answers.map((answer) => answer?.problem)).toEqual([
    "no_scope",
    "other_environment",
    "not_in_force",
    "not_in_force",
    "",
  ]);
});

test("a request that was refused, or that was no vote, confirms nothing", async () => {
  await addKey("KeyOfDenied1");
  await addVotes([
    { keyId: "KeyOfDenied1", decision: "denied" },
    { keyId: "KeyOfDenied1", method: "POST" },
  ]);
  expect(await answerTo({ keyId: "KeyOfDenied1" })).toMatchObject({ problem: "no_request" });
});
