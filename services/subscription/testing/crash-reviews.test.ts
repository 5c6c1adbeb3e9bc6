import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { expectBooksToTie } from "./books.ts";
import { crashing } from "./crash.ts";
import { reviewAbout, reviewsOf, say } from "./desk.ts";
import { comeBack, dieAtEveryStep, DYING_MS } from "./dying.ts";
import { inPlace, holdingOf } from "./ledger.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { type Pair, settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aMaster, aWorld, type World } from "./world.ts";

type Corner = Pair & { readonly review: Review };

const twice =
  (action: string) =>
  async (deps: Deps, { review }: { readonly review: Review }) => {
    await say(deps, review, { action, actor: "anna" });
    await say(deps, review, { action, actor: "boris" });
  };

async function corners(world: World, count: number, entry: Parameters<typeof enter>[2], reason: string) {
  const made: Corner[] = [];
  for (let each = 0; each < count; each += 1) {
    const masterLogin = aMaster(world, 0n);
    const pair = await subscribed(world, masterLogin, 100_00n);
    enter(world.platform.ledger, pair.investorLogin, entry);
    await settle(world);
    const review = (await reviewsOf(world)).find(
      (found) => found.reason === reason && [pair.investorLogin, masterLogin].includes(found.login),
    );
    if (review === undefined) throw new Error(`nobody asks about ${reason}`);
    made.push({ ...pair, review });
  }
  return made;
}

/** Whoever comes after the dead process says again what is missing. */
async function sayTheRest(world: World, { review }: Corner, action: string): Promise<void> {
  for (const actor of ["anna", "boris", "carol"]) {
    await say(world.deps, review, { action, actor }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^(second_approver_required|review_decided)$/) });
    });
  }
}

test(
  "an adoption that dies anywhere has happened whole or not at all, and never twice",
  async () => {
    const world = await aWorld();
    const money = { kind: MovementKind.EXTERNAL, amount: 40_00n };
    const died = await dieAtEveryStep(world, {
      prepare: (count) => corners(world, count, money, "external_funds_on_investor"),
      run: twice("adopt"),
    });
    for (const corner of died) {
      const holding = await holdingOf(world, corner.masterLogin, corner.id);
      expect([
        { pooled: 100_00n, quarantined: 40_00n },
        { pooled: 140_00n, quarantined: 0n },
      ]).toContainEqual({ pooled: holding?.pooled, quarantined: holding?.quarantined });
      await sayTheRest(world, corner, "adopt");
    }
    await comeBack(world);
    for (const { masterLogin } of died) expect(await inPlace(world, masterLogin, "pooled")).toEqual([140_00n]);
    const decided = sql`select count(*)::int as words, case_id from review_event where word = 'CONFIRMED' group by case_id`;
    for (const { words } of await many<{ words: number }>(world.deps.pool, decided)) expect(words).toBe(1);
  },
  DYING_MS,
);

test(
  "a Master whose resumption dies anywhere is resumed or still a question",
  async () => {
    const world = await aWorld();
    const gone = { kind: MovementKind.AMENDMENT, amount: 0n, reason: "deal_gone", dealId: 77n };
    const died = await dieAtEveryStep(world, {
      prepare: (count) => corners(world, count, gone, "stopped"),
      run: twice("resume"),
    });
    for (const corner of died) {
      await sayTheRest(world, corner, "resume");
      trader(world, corner.masterLogin).result(10_00n);
    }
    await comeBack(world);
    for (const { masterLogin } of died) expect(await inPlace(world, masterLogin, "pooled")).toEqual([110_00n]);
    expect(await reviewsOf(world)).toEqual([]);
  },
  DYING_MS,
);

test("of two keys that confirm at once one decides, and the money moves once", async () => {
  const world = await aWorld();
  const [corner] = await corners(
    world,
    1,
    { kind: MovementKind.EXTERNAL, amount: 40_00n },
    "external_funds_on_investor",
  );
  if (corner === undefined) throw new Error("a race needs a corner");
  await say(world.deps, corner.review, { action: "adopt", actor: "anna" });
  const ends = await Promise.allSettled(
    ["boris", "carol", "dora"].map((actor) => say(world.deps, corner.review, { action: "adopt", actor })),
  );
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await settle(world);
  expect(await inPlace(world, corner.masterLogin, "pooled")).toEqual([140_00n]);
  await expectBooksToTie(world);
});

test("a compensation that dies anywhere has happened whole or not at all", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 100_00n);
  trader(world, masterLogin).result(-130_00n);
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 30_00n });
  await settle(world);
  const review = await reviewAbout(world, "external_funds_on_master");
  await say(world.deps, review, { action: "compensate_deficit", actor: "anna" });
  for (let steps = 0; ; steps += 1) {
    const { deps, died } = crashing(world.deps, steps);
    const word = { action: "compensate_deficit", actor: "boris" };
    const end = await Promise.race([say(deps, review, word).catch(() => "refused"), died.then(() => "died")]);
    await expectBooksToTie(world);
    const [pooled = 0n] = await inPlace(world, masterLogin, "pooled");
    expect([-30_00n, 0n]).toContain(pooled);
    if (end === "died") continue;
    expect(pooled).toBe(0n);
    expect(steps).toBeGreaterThan(15);
    break;
  }
  await settle(world);
  expect(await reviewsOf(world)).toEqual([]);
});
