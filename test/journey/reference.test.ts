import { afterAll, beforeAll, expect, test } from "vitest";
import { centsOf, dollars } from "../reference/engine/cents.ts";
import type { Investor, Master } from "../reference/engine/world.ts";
import { type InnerBooks, openInnerBooks } from "../reference/live/inner-books.ts";
import {
  addLiveInvestor,
  addLiveMaster,
  type Live,
  nextWeek,
  openLive,
  placeOf,
  Straddled,
} from "../reference/live/live.ts";
import { playLive, someHistory } from "../reference/live/random.ts";
import { expectSubscriptions, settled } from "../reference/live/settled.ts";
import * as steps from "../reference/live/steps.ts";
import { expectFeesToTie } from "./support/fees.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

/** The worked examples of the accounting and some random histories, on everything that `make run` starts. */
const START_PATIENCE_MS = 180_000;
const PATIENCE = { timeout: 400_000 };
const WEEK_MS = 10_000;
/** Of stories that have to fit between two ends of weeks. */
const MOST_TRIES = 4;

const system = new AsyncDisposableStack();
let running: TestSystem;
let books: InnerBooks;

beforeAll(async () => {
  running = system.use(await startTestSystem({ PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S` }));
  books = system.use(await openInnerBooks(running));
}, START_PATIENCE_MS);
afterAll(() => system.disposeAsync(), START_PATIENCE_MS);

const PPM = { "0.20": 200_000n, "0.275": 275_000n, "0.30": 300_000n };

test.concurrent("A4: three equal Investors", PATIENCE, () =>
  story(async (live) => {
    const { master, investors } = await pooled(live, ["1000", "1000", "1000"], "0.30");
    for (const cents of [100_00n, 100_00n, 100_00n, 100_00n, -100_00n, 1n]) await steps.result(live, master, cents);
    await settled(live);
    expect(investors.map(({ name }) => name)).toEqual(["I1", "I2", "I3"]);
  }),
);

test.concurrent("F1, F2, F13: weeks of one Investor each", PATIENCE, () =>
  story(async (live) => {
    const weeks = [
      ["1000", "500"],
      ["1000", "-600", "400", "500"],
      ["0.03", "0.01"],
    ];
    const pools: (Pool & { readonly results: readonly string[] })[] = [];
    for (const results of weeks) pools.push({ ...(await pooled(live, ["10000"], "0.30")), results });
    for (const week of [0, 1, 2, 3]) {
      await inOneWeek(live, async () => {
        for (const { master, results } of pools) {
          const amount = results[week];
          if (amount !== undefined) await steps.result(live, master, centsOf(amount));
        }
      });
    }
    await nextWeek(live);
    await settled(live);
    const paid = pools.map(({ master }) => master.payments.map(({ cents }) => dollars(cents)));
    expect(paid).toEqual([["300.00", "150.00"], ["300.00", "90.00"], ["0.01"]]);
    expect(pools.map(({ investors }) => dollars(investors[0]!.balance))).toEqual(["11050.00", "10910.00", "10000.03"]);
  }),
);

test.concurrent("F4, F4b, F14: leaving with a profit", PATIENCE, () =>
  story(async (live) => {
    const some = await pooled(live, ["10000"], "0.30");
    const all = await pooled(live, ["10000"], "0.30");
    const leaving = await pooled(live, ["5000"], "0.275");
    await inOneWeek(live, async () => {
      await steps.result(live, some.master, 2_000_00n);
      await steps.withdraw(live, some.investors[0]!, 5_000_00n);
    });
    await inOneWeek(live, async () => {
      await steps.result(live, all.master, 2_000_00n);
      await steps.withdraw(live, all.investors[0]!, 12_000_00n);
    });
    await inOneWeek(live, async () => {
      await steps.result(live, leaving.master, 421_37n);
      await steps.unassign(live, leaving.investors[0]!, leaving.master);
    });
    await steps.result(live, some.master, 100_00n);
    await nextWeek(live);
    await settled(live);
    expect([some, all, leaving].map(({ investors: [investor] }) => dollars(investor!.balance))).toEqual([
      "6470.00",
      "0.00",
      "5305.50",
    ]);
    expect(leaving.master.payments).toMatchObject([{ suffix: "UA", cents: 115_87n }]);
  }),
);

test.concurrent("F6: a rate that changes inside the week", PATIENCE, () =>
  story(async (live) => {
    const plain = await pooled(live, ["10000"], "0.20");
    const variant = await pooled(live, ["10000"], "0.20");
    await inOneWeek(live, async () => {
      for (const { master } of [plain, variant]) await steps.result(live, master, 1_000_00n);
      for (const { investors } of [plain, variant])
        await steps.configure(live, investors[0]!, { ratePpm: PPM["0.30"] });
      for (const { master } of [plain, variant]) await steps.result(live, master, 500_00n);
      await steps.result(live, variant.master, -700_00n);
    });
    await nextWeek(live);
    await steps.result(live, variant.master, 300_00n);
    await nextWeek(live);
    await settled(live);
    expect(plain.master.payments.map(({ cents }) => dollars(cents))).toEqual(["350.00"]);
    expect(variant.master.payments.map(({ cents }) => dollars(cents))).toEqual(["160.00", "90.00"]);
  }),
);

test.concurrent("a random history without open positions", PATIENCE, () =>
  story(async (live) => {
    const kinds = ["deposit", "withdraw", "assign", "unassign", "result", "rate", "switch", "week"] as const;
    await playLive(live, someHistory({ investors: 3, masters: 1, steps: 24, kinds }, 4), 3);
  }),
);

/** There is one price for all: these come one after the other. */
test.concurrent("A1, A2, A8, F10 and a random history: while positions float", PATIENCE, async () => {
  for (const example of [depositWhileFloating, coveredNegative, openLoss, randomPositions]) await story(example);
});

async function depositWhileFloating(live: Live): Promise<void> {
  await steps.price(live, "1.10000");
  const profit = await pooled(live, ["1000"], "0.30");
  const position = await steps.open(live, profit.master, "0.1");
  await steps.price(live, "1.14500");
  const late = await joining(live, profit.master, "550");
  await steps.price(live, "1.24500");
  await steps.close(live, profit.master, position);
  await settled(live);

  await steps.price(live, "1.10000");
  const loss = await pooled(live, ["1000"], "0.30");
  const falling = await steps.open(live, loss.master, "0.1");
  await steps.price(live, "1.06000");
  const later = await joining(live, loss.master, "600");
  await steps.price(live, "1.10000");
  await steps.close(live, loss.master, falling);
  await settled(live);
  expect([late, later].map(({ configuration }) => configuration.length)).toEqual([1, 1]);
}

async function coveredNegative(live: Live): Promise<void> {
  await steps.price(live, "1.10000");
  const { master, investors } = await pooled(live, ["1000"], "0.30");
  const position = await steps.open(live, master, "0.1");
  await steps.price(live, "1.05500");
  const late = await joining(live, master, "550");
  await steps.result(live, master, -1_200_00n);
  await settled(live);
  expect([investors[0]!, late].map(({ balance, unposted }) => dollars(balance + unposted))).toEqual([
    "400.00",
    "-50.00",
  ]);
  await steps.price(live, "1.17500");
  await steps.close(live, master, position);
  await settled(live);
  expect([investors[0]!, late].map(({ balance }) => dollars(balance))).toEqual(["550.00", "550.00"]);
}

async function openLoss(live: Live): Promise<void> {
  const price = async (value: string) => await steps.price(live, value);
  await price("1.10000");
  const { master } = await pooled(live, ["10000"], "0.30");
  const position = await inOneWeek(live, async () => {
    await steps.result(live, master, 1_000_00n);
    const opened = await steps.open(live, master, "0.1");
    await price("1.06000");
    return opened;
  });
  await nextWeek(live);
  await settled(live);
  await price("1.10500");
  await steps.close(live, master, position);
  await nextWeek(live);
  await settled(live);
  expect(master.payments.map(({ cents }) => dollars(cents))).toEqual(["180.00", "135.00"]);
}

async function randomPositions(live: Live): Promise<void> {
  const kinds = ["deposit", "withdraw", "assign", "result", "open", "mark", "close", "rate", "week"] as const;
  await steps.price(live, "1.10000");
  await playLive(live, someHistory({ investors: 3, masters: 1, steps: 30, kinds }, 9), 3);
}

/** Tells a story to its end, again from the beginning where the end of a week came between; then everything ties. */
async function story(tell: (live: Live) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const live = await openLive(running, books);
    try {
      await tell(live);
      await settled(live);
      await expectSubscriptions(live);
      for (const master of live.world.masters) await expectFeesToTie(live.client, placeOf(live, master));
      return;
    } catch (error) {
      if (!(error instanceof Straddled) || tries === MOST_TRIES) throw error;
    }
  }
}

/** What happens between two ends of weeks, which has to be certain for the numbers of an example. */
async function inOneWeek<T>(live: Live, act: () => Promise<T>): Promise<T> {
  await nextWeek(live);
  const { cutOff } = live;
  const result = await act();
  if (live.cutOff !== cutOff) throw new Straddled("an example took longer than a week");
  return result;
}

type Pool = { readonly master: Master; readonly investors: readonly Investor[] };

async function pooled(live: Live, capitals: readonly string[], rate: keyof typeof PPM): Promise<Pool> {
  const master = await addLiveMaster(live);
  const investors = [];
  for (const capital of capitals) investors.push(await joining(live, master, capital, rate));
  return { master, investors };
}

async function joining(
  live: Live,
  master: Master,
  capital: string,
  rate: keyof typeof PPM = "0.30",
): Promise<Investor> {
  const investor = await addLiveInvestor(live);
  await steps.deposit(live, investor, centsOf(capital));
  await steps.assign(live, investor, master, { ratePpm: PPM[rate], enabled: true });
  return investor;
}
