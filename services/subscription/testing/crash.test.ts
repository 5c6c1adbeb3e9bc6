import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { subscriptionService } from "../service.ts";
import { expectBooksToTie } from "./books.ts";
import { mortal } from "./crash.ts";
import { holdForWithdrawal, payOut, release } from "./funding.ts";
import { balanceOf, getAccount } from "./platform-ledger.ts";
import { deliver, runJobs, settle, subscribed } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, pass, type World } from "./world.ts";

/** More than any story here has; the loop ends by itself when a story is through before it dies. */
const MOST_STEPS = 120;
/** Longer than any deadline, claim and patience of a dead process. */
const LONG_MS = 60_000;

/** Kills the story after 0, 1, 2 ... steps, each time in a fresh corner of the world, until it survives. */
async function atEveryStep(world: World, story: (steps: number) => Promise<"died" | "lived">): Promise<number> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    if ((await story(steps)) === "lived") return steps;
    await expectBooksToTie(world);
  }
  throw new Error("the story never ends");
}

/** Whoever comes after the dead process: time passes, and the jobs do their work. */
async function comeBack(world: World): Promise<void> {
  for (let rounds = 0; rounds < 3; rounds += 1) {
    pass(world, LONG_MS);
    await settle(world);
  }
}

async function outcomeOf(story: Promise<unknown>, died: Promise<void>): Promise<"died" | "lived"> {
  return await Promise.race([story.then(() => "lived" as const), died.then(() => "died" as const)]);
}

async function statusesOf({ deps }: World, investorLogin: string): Promise<string[]> {
  const rows = await many<{ status: string }>(
    deps.pool,
    sql`select status from subscription where investor_login = ${investorLogin} order by id`,
  );
  return rows.map(({ status }) => status);
}

test("an assign that dies at any step is either finished or leaves no trace, and never keeps the lane", async () => {
  const world = await aWorld();
  const seen = new Set<string>();
  const steps = await atEveryStep(world, async (number) => {
    const masterLogin = aMaster(world);
    const investorLogin = anInvestor(world, 500_00n);
    const { deps, died } = mortal(world.deps, number);
    const story = subscriptionService(deps).assign(anAssignment({ masterLogin, investorLogin }), aCall());
    const outcome = await outcomeOf(story, died);
    await comeBack(world);

    expect(getAccount(world.platform.ledger, investorLogin).holder).toBeUndefined();
    const [status = "nothing"] = await statusesOf(world, investorLogin);
    seen.add(status);
    const isIn = status === "ACTIVE";
    expect(["nothing", "ABORTED", "ACTIVE"]).toContain(status);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(isIn ? 500_00n : 0n);
    const fee = world.configured.filter((configured) => configured.investorLogin === investorLogin);
    if (isIn) expect(fee).toHaveLength(1);

    // The way is free again: the same Investor can be assigned, or is.
    const again = world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
    if (isIn) await expect(again).rejects.toMatchObject({ code: "already_subscribed" });
    else await again;
    await settle(world);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
    return outcome;
  });
  expect(steps).toBeGreaterThan(15);
  expect(seen).toEqual(new Set(["nothing", "ABORTED", "ACTIVE"]));
});

test("an unassign that dies at any step is either finished or leaves the Investor in the pool", async () => {
  const world = await aWorld();
  const seen = new Set<string>();
  const steps = await atEveryStep(world, async (number) => {
    const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
    const { deps, died } = mortal(world.deps, number);
    const outcome = await outcomeOf(subscriptionService(deps).unassign({ masterLogin, investorLogin }, aCall()), died);
    await comeBack(world);

    expect(getAccount(world.platform.ledger, investorLogin).holder).toBeUndefined();
    const [status = "nothing"] = await statusesOf(world, investorLogin);
    seen.add(status);
    expect(["ACTIVE", "CANCELLED"]).toContain(status);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(status === "ACTIVE" ? 500_00n : 0n);
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(500_00n);

    const again = world.service.unassign({ masterLogin, investorLogin }, aCall());
    if (status === "ACTIVE") await again;
    else await expect(again).rejects.toMatchObject({ code: "subscription_not_active" });
    await settle(world);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
    return outcome;
  });
  expect(steps).toBeGreaterThan(25);
  expect(seen).toEqual(new Set(["ACTIVE", "CANCELLED"]));
});

test("a Leave that dies at any step is decided once, and asking again gets that decision or a final no", async () => {
  const world = await aWorld();
  const seen = new Set<string>();
  const steps = await atEveryStep(world, async (number) => {
    const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
    const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
    const { deps, died } = mortal(world.deps, number);
    const outcome = await outcomeOf(subscriptionService(deps).leave(withdrawal.request, aCall()), died);
    await comeBack(world);

    const answer = await world.service.leave(withdrawal.request, aCall()).catch((error: unknown) => error);
    await expect(world.service.leave(withdrawal.request, aCall()).catch((error: unknown) => error)).resolves.toEqual(
      answer,
    );
    const isDecided = !(answer instanceof Error);
    seen.add(isDecided ? "decided" : "refused");
    if (isDecided) await payOut(world, withdrawal, 200_00n);
    else expect(answer).toMatchObject({ code: "allocation_in_progress" });
    await release(world, withdrawal);
    await settle(world);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(isDecided ? 300_00n : 500_00n);

    // The gate is open: the next one gets through.
    await world.service.unassign({ masterLogin, investorLogin }, aCall());
    await settle(world);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
    return outcome;
  });
  expect(steps).toBeGreaterThan(15);
  expect(seen).toEqual(new Set(["decided", "refused"]));
});

test("jobs and filing that die at any step are taken up again, and nothing is mirrored twice", async () => {
  const world = await aWorld();
  const steps = await atEveryStep(world, async (number) => {
    const masterLogin = aMaster(world);
    const investorLogin = anInvestor(world, 500_00n);
    await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
    const { deps, died } = mortal(world.deps, number);
    const dying = { ...world, deps, state: { ...world.state } };
    const story = async (): Promise<void> => {
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await deliver(dying);
        await runJobs(deps);
      }
    };
    const outcome = await outcomeOf(story(), died);
    await comeBack(world);

    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
    await world.service.unassign({ masterLogin, investorLogin }, aCall());
    await settle(world);
    expect(await statusesOf(world, investorLogin)).toEqual(["CANCELLED"]);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
    return outcome;
  });
  expect(steps).toBeGreaterThan(15);
});
