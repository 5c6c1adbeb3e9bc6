import { eventually, minorOf } from "../../journey/support/client.ts";
import { paymentsOf } from "../../journey/support/fees.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { dollars } from "../engine/cents.ts";
import { activeAt, activeOf, type Investor, type Master } from "../engine/world.ts";
import { IS_PROOF, sized } from "../../support/proof.ts";
import { expectConserved } from "../conserved.ts";
import { equityDifferences, historyDifferences, historyOf } from "./compare-history.ts";
import { performanceDifferences } from "./compare-performance.ts";
import { unequal, unlikeSorted } from "./differences.ts";
import { accountOnPlatform, type Live, loginOf, closePassedWeeks, masterAccountsOf } from "./live.ts";

/** Generous: the machine may run several systems at once. */
const TIMEOUT_MS = 90_000;

/** Waits until the system equals the reference to the cent; fails with the transcript and all differences. */
export async function untilEqual(live: Live): Promise<void> {
  expectConserved(live.world);
  await untilNone(live, () => differencesOf(live));
}

/** Waits until no difference is left; fails with the transcript and those that are. */
async function untilNone(live: Live, find: () => Promise<readonly string[]>): Promise<void> {
  await eventually(async () => {
    await closePassedWeeks(live);
    const differences = await find();
    if (differences.length > 0) {
      throw new Error([...live.transcript, ...differences.map((each) => `   => ${each}`)].join("\n"));
    }
  }, TIMEOUT_MS);
}

/** The service decides about a deficit by its last valuation; the reference knows at once what floats. */
export async function untilValued(live: Live, investor: Investor): Promise<void> {
  const master = activeOf(live.world, investor)?.master;
  if (master !== undefined) await untilPoolIsValued(live, master);
}

/** Waits for the valuation of a pool at the present price: it is part of the track record. */
export async function untilPoolIsValued(live: Live, master: Master): Promise<void> {
  if (master.floating.size === 0) return;
  const show = (floating: ReadonlyMap<bigint, bigint>) =>
    [...floating].map(([position, cents]) => `${position}: ${dollars(cents)}`);
  await eventually(async () => {
    const valued = await live.internal.valuedFloating(masterAccountsOf(live, master).login);
    const difference = unlikeSorted(`valued positions of ${master.name}`, show(valued), show(master.floating));
    if (difference !== undefined) throw new Error([...live.transcript, `   => ${difference}`].join("\n"));
  }, TIMEOUT_MS);
}

async function differencesOf(live: Live): Promise<string[]> {
  const { investors, masters } = live.world;
  const differences = await Promise.all([
    ...investors.map(async (investor) => {
      const { balance } = await accountOnPlatform(live, loginOf(live, investor));
      return [unequal(`balance of ${investor.name}`, balance, investor.balance)];
    }),
    ...masters.map((master) => differencesAt(live, master)),
    sampled(live),
  ]);
  return differences.flat().filter((each) => each !== undefined);
}

/** Steps after which all that is shown of an Investor and a Master is compared: it takes longer than all other comparisons of a step. */
const STEPS_PER_SAMPLE = sized({ test: 4, proof: 1 });

/** Of one Investor and of one Master after the other; of all of them at the end. */
async function sampled(live: Live): Promise<(string | undefined)[]> {
  const { investors, masters } = live.world;
  const step = live.transcript.length;
  if (step % STEPS_PER_SAMPLE !== 0) return [];
  const turn = Math.floor(step / STEPS_PER_SAMPLE);
  const [investor, master] = [investors[turn % investors.length], masters[turn % masters.length]];
  const differences = await Promise.all([
    investor === undefined ? [] : equityDifferences(live, investor),
    IS_PROOF && investor !== undefined ? historyOf(live, investor) : [],
    master === undefined ? [] : performanceDifferences(live, master),
  ]);
  return differences.flat();
}

async function differencesAt(live: Live, master: Master): Promise<(string | undefined)[]> {
  const { login, paymentLogin } = masterAccountsOf(live, master);
  const [{ balance }, payment, ledger, isStrikeDue, payments] = await Promise.all([
    accountOnPlatform(live, login),
    accountOnPlatform(live, paymentLogin),
    live.internal.read(login),
    live.internal.isStrikeDue(login),
    paymentsAt(live, master),
  ]);
  const exact = master.payments.map(({ investor, suffix, cents }) => `${investor.name} ${suffix} ${dollars(cents)}`);
  const holdings = activeAt(live.world, master).map(({ id, investor }) => {
    const { pooled, waiting } = master.pool.cash(id);
    return `${dollars(pooled)} ${dollars(waiting)} ${dollars(investor.unposted)}`;
  });
  const real = ledger.holdings
    .filter(({ pooled, waiting, unposted }) => pooled !== 0n || waiting !== 0n || unposted !== 0n)
    .map(({ pooled, waiting, unposted }) => `${dollars(pooled)} ${dollars(waiting)} ${dollars(unposted)}`);
  const held = activeAt(live.world, master).reduce((sum, holding) => sum + holding.held, 0n);
  const inTransit = ledger.holdings.reduce((sum, holding) => sum + holding.inTransit, 0n);
  return [
    unequal(`balance of ${master.name}`, balance, master.balance),
    unequal(`payment account of ${master.name}`, payment.balance, master.paymentBalance),
    unequal(`ledger of ${master.name}`, ledger.expectedBalance, master.balance),
    unequal(`money in transit to or from ${master.name}`, inTransit, held),
    unlikeSorted(
      `holdings of ${master.name}`,
      real,
      holdings.filter((holding) => holding !== "0.00 0.00 0.00"),
    ),
    unlikeSorted(`payments to ${master.name}`, payments, exact),
    unlikeSorted(
      `strike of ${master.name}`,
      [isStrikeDue ? "due" : "done"],
      [master.pool.isStrikeDue() ? "due" : "done"],
    ),
  ];
}

/** Investor, suffix and amount of each listed payment. */
async function paymentsAt(live: Live, master: Master): Promise<string[]> {
  const names = new Map([...live.investorLogins].map(([investor, login]) => [login, investor.name]));
  const payments = await paymentsOf(live.client, masterAccountsOf(live, master).login);
  return payments.map(({ investor, key, minor }) => {
    const suffix = /^PF:\d+:\d+:\d+:(W(?=$)|WD|UA|DEBT)/.exec(key)?.[1] ?? key;
    return `${names.get(investor)} ${suffix} ${dollars(minor)}`;
  });
}

/** Compares subscriptions and answered balances, at the end of an example. */
export function expectSubscriptions(live: Live): Promise<void> {
  return eventually(() => compareSubscriptions(live), TIMEOUT_MS);
}

/** Compares what the account and the parts of each Investor show of all steps, at the end of an example. */
export function expectHistory(live: Live): Promise<void> {
  return untilNone(live, async () => {
    const performances = live.world.masters.map((master) => performanceDifferences(live, master));
    return (await Promise.all([historyDifferences(live), ...performances])).flat();
  });
}

async function compareSubscriptions(live: Live): Promise<void> {
  for (const [investor, login] of live.investorLogins) {
    const { items } = await live.client.get(`/api/v1/info/subscriptions?investor_login=${login}`);
    const open = items
      .filter((item) => textOf(item, "status") !== "CANCELLED")
      .map((item) => textOf(item, "master_login"));
    const holding = activeOf(live.world, investor);
    const exact = holding === undefined ? [] : [masterAccountsOf(live, holding.master).login];
    if (open.join() !== exact.join()) throw new Error(`${investor.name} is at ${open.join()}, not at ${exact.join()}`);
    const { body } = await live.client.get(`/api/v1/info/balance/${login}`);
    const difference = unequal(
      `answered balance of ${investor.name}`,
      minorOf(textOf(body, "balance")),
      investor.balance,
    );
    if (difference !== undefined) throw new Error(difference);
  }
}
