import { expect, test } from "vitest";
import { callContext } from "../contract/context.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { aNewCase, anOpenCase, AT, reviewDatabase, votingOn } from "../testing/cases.ts";
import { lockCase, renewCase } from "./cases.ts";
import { listReviewGroups } from "./list-reviews.ts";
import { refuse } from "../contract/refusals.ts";
import { voteOnGroup } from "./vote-on-group.ts";

const CAUSE = { action: 4, comment: "Dormant fee", day: "2026-01-31" };
const charge = (login: string) => aNewCase({ subject: `quarantine:${login}`, login, amount: -15_00n, cause: CAUSE });
const context = (commandId = "", withinMs = 60_000) => callContext({ caller: "tests", commandId, withinMs });

async function charges(...logins: readonly string[]) {
  const pool = await reviewDatabase();
  const ids: bigint[] = [];
  for (const login of logins) ids.push(await anOpenCase(pool, charge(login)));
  const { items } = await listReviewGroups(pool, { afterId: 0n, limit: 10 });
  const carriedOut: bigint[] = [];
  const decide = voterOn(pool, carriedOut);
  const vote = async (actor: string, reviewIds: readonly bigint[] = ids, own = context()) => {
    const request = { group: items[0]?.group ?? "", action: "resume", note: "checked", actor, keyId: `Key${actor}` };
    const { votes } = await voteOnGroup(decide, { ...request, reviewIds: [...reviewIds] }, own);
    return votes.map(({ review, code }) => review?.state ?? code);
  };
  return { pool, ids, groups: items, vote, carriedOut };
}

function voterOn(pool: Pool, carriedOut: bigint[]): Parameters<typeof voteOnGroup>[0] {
  const carryOut = async (_tx: unknown, { id }: { id: bigint }) => {
    carriedOut.push(id);
    return "done" as const;
  };
  return async ({ actor, reviewId, ...fields }, { commandId }) =>
    await votingOn(pool, reviewId, { carryOut }).vote(actor, fields, commandId);
}

const PROPOSED = 2;
const DECIDED = 3;

test("one proposal and one confirmation decide each case of the group once, also when both are repeated under their ids", async () => {
  const { pool, ids, groups, vote, carriedOut } = await charges("1", "2", "3");
  expect(groups).toMatchObject([{ cause: CAUSE, open: 3, proposed: 0 }]);
  const first = context("command-1");
  expect([await vote("anna", ids, first), await vote("anna", ids, first)]).toEqual([
    [PROPOSED, PROPOSED, PROPOSED],
    [PROPOSED, PROPOSED, PROPOSED],
  ]);
  expect(await vote("anna")).toEqual(ids.map(() => "second_approver_required"));
  const second = context("command-2");
  expect(await vote("boris", ids.slice(0, 2), second)).toEqual([DECIDED, DECIDED]);
  expect(await vote("boris", ids, second)).toEqual([DECIDED, DECIDED, DECIDED]);
  expect(carriedOut).toEqual(ids);
  expect(await many(pool, sql`select count(*)::int as votes from review_event`)).toEqual([{ votes: 6 }]);
});

test("a case that came later, and one that is about something else now, are not decided with the group", async () => {
  const { pool, ids, vote, carriedOut } = await charges("1", "2");
  await vote("anna");
  const later = await anOpenCase(pool, charge("3"));
  await inTransaction(pool, async (tx) => {
    const changed = { ...charge("2"), amount: -100_15_00n, cause: { ...CAUSE, comment: "other" } };
    await renewCase(tx, (await lockCase(tx, ids[1] ?? 0n))!, changed, AT);
  });
  expect(await vote("boris")).toEqual([DECIDED, "action_not_possible"]);
  expect(carriedOut).toEqual([ids[0]]);
  const { items } = await listReviewGroups(pool, { afterId: 0n, limit: 10 });
  expect(items).toMatchObject([
    { id: ids[1], open: 1, cause: { comment: "other" } },
    { id: later, open: 1, cause: CAUSE },
  ]);
});

test("when the time is over the other cases stay as they are; when nothing was recorded the vote is refused as a whole", async () => {
  const { ids, vote } = await charges("1", "2");
  expect(await vote("anna", ids, context("", 100))).toEqual([PROPOSED, "service_unavailable"]);
  const away = async () => Promise.reject(refuse("service_unavailable", "It cannot be reached."));
  const request = { group: "g", action: "resume", note: "n", actor: "anna", keyId: "k" };
  await expect(voteOnGroup(away, { ...request, reviewIds: ids }, context())).rejects.toMatchObject({
    code: "service_unavailable",
  });
  for (const reviewIds of [[], Array.from({ length: 101 }, (_, index) => BigInt(index + 1))]) {
    await expect(voteOnGroup(away, { ...request, reviewIds }, context())).rejects.toMatchObject({
      code: "validation_failed",
    });
  }
});

test("cases about amounts without one cause are groups of their own; other cases of a reason and day are one group", async () => {
  const pool = await reviewDatabase();
  for (const login of ["1", "2"]) {
    await anOpenCase(pool, { subject: `quarantine:${login}`, login });
    await anOpenCase(pool, { subject: `gone:${login}`, login, amount: undefined, reason: "account_not_shown" });
  }
  const { items, hasMore } = await listReviewGroups(pool, { afterId: 0n, limit: 2 });
  expect([hasMore, items.map(({ reason, login, open, amount }) => [reason, login, open, amount?.minorUnits])]).toEqual([
    true,
    [
      ["stopped", "1", 1, 12_34n],
      ["account_not_shown", "", 2, undefined],
    ],
  ]);
  const next = await listReviewGroups(pool, { afterId: items[1]?.id ?? 0n, limit: 2 });
  expect(next).toMatchObject({ hasMore: false, items: [{ reason: "stopped", open: 1 }] });
});
