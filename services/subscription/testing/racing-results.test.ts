import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { sized } from "#test/support/proof.ts";
import { runningService, expectConverged } from "./run-service.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit, withdraw } from "./funding.ts";
import { poolLedger } from "./ledger.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { type Trader, trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "./world.ts";

vi.setConfig({ testTimeout: 120_000 });
const MAX_PAUSE_MS = 60;
/** Short weeks, several of which end within the test. */
const PERIOD_MS = 1_000;

type Action = {
  readonly investor: number;
  readonly action: "deposit" | "withdraw" | "assign" | "unassign" | "result" | "open" | "float" | "close" | "charge";
  readonly amount: bigint;
  readonly pauseMs: number;
};

const anAction: fc.Arbitrary<Action> = fc.record({
  investor: fc.nat(3),
  action: fc.constantFrom("deposit", "withdraw", "assign", "unassign", "result", "open", "float", "close", "charge"),
  amount: fc.bigInt(1n, 120_00n),
  pauseMs: fc.nat(MAX_PAUSE_MS),
});

/** A synchronous action of the trader: the trading platform changes at once, the services receive it later. */
function trade(master: Trader, positions: bigint[], { action, amount, investor }: Action): void {
  const signed = investor % 2 === 0 ? amount : -amount;
  const [first] = positions;
  if (action === "result") master.result(signed);
  if (action === "charge") master.charge(-amount / 50n - 1n);
  if (action === "open") positions.push(master.open());
  if (action === "float" && first !== undefined) master.float(first, signed);
  if (action === "close" && first !== undefined) {
    master.close(first, { profit: signed });
    positions.shift();
  }
}

async function execute(world: World, pair: { masterLogin: string; investorLogin: string }, { action, amount }: Action) {
  const key = `funding:withdrawal:${(world.state.keys += 1)}`;
  if (action === "deposit") await deposit(world, pair.investorLogin, amount);
  if (action === "withdraw") await withdraw(world, pair.investorLogin, amount, key);
  if (action === "assign") await world.service.assign(anAssignment(pair), aCall({ withinMs: 2_000 }));
  if (action === "unassign") await world.service.unassign(pair, aCall({ withinMs: 1_200 }));
}

/** Nothing is left to post, except losses of accounts with 0.00. */
async function expectPosted(world: World, masterLogin: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { holdings } = await poolLedger(world, masterLogin);
        return holdings
          .filter(({ unposted }) => unposted !== 0n)
          .filter(({ unposted, investorLogin }) => {
            return unposted > 0n || balanceOf(world.platform.ledger, investorLogin) > 0n;
          });
      },
      { timeout: 20_000, interval: 100 },
    )
    .toEqual([]);
}

test("with concurrent commands and trades the books reconcile at every instant, and to the cent at the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anAction, { minLength: 12, maxLength: 40 }), async (actions) => {
      const world = await aWorld({ week: { anchor: new Date(Date.now() + 500), periodMs: PERIOD_MS } });
      let owed = 0n;
      world.fees.rules.debt = () => (owed += ((owed * 137n) % 900n) + 1n);
      world.fees.rules.ratePpm = 300_000;
      const masterLogin = aMaster(world, 0n);
      // External funds of the Master, so that its balance always covers the exits.
      enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 100_000_00n });
      const master = trader(world, masterLogin);
      const investors = Array.from({ length: 4 }, () => anInvestor(world, 200_00n));
      const positions: bigint[] = [];
      {
        await using _service = runningService(world);
        const commands: Promise<unknown>[] = [];
        for (const each of actions) {
          trade(master, positions, each);
          const pair = { masterLogin, investorLogin: investors[each.investor]! };
          commands.push(execute(world, pair, each).catch((error: unknown) => expect(error).toBeInstanceOf(Refusal)));
          await sleep(each.pauseMs);
        }
        await Promise.all(commands);
        master.closeAll();
        await expectBooksToReconcile(world);
        await expectConverged(world, masterLogin);
        await expectPosted(world, masterLogin);
      }
      expect(getAccount(world.platform.ledger, masterLogin).positions).toEqual([]);
      await expectBooksToReconcile(world);
    }),
    { numRuns: sized({ test: 6, proof: 20 }), endOnFailure: true },
  );
});
