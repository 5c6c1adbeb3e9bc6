import { isObject, itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { minorOf } from "../../journey/support/client.ts";
import { paymentsOf } from "../../journey/support/fees.ts";
import { dollars } from "../engine/cents.ts";
import { type Fraction, fraction, nearest, over, times, ZERO } from "../engine/fraction.ts";
import { pendingOf } from "../model-equity.ts";
import { fractionOf } from "./compare-performance.ts";
import { activeOf, type Investor, type Master } from "../engine/world.ts";
import { type Live, loginOf, masterAccountsOf, retryWhileBusy } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { inWeek } from "./weeks.ts";

const E8_PER_CENT = fraction(1_000_000n);

/** Compares what is shown as pending with the reference; both are of the same moment, because nothing is under way. */
export async function expectPendingFees(live: Live): Promise<void> {
  await untilEqual(live);
  await inWeek(live, "the pending fees are read", async () => {
    for (const investor of live.world.investors) await expectPending(live, investor);
  });
}

async function expectPending(live: Live, investor: Investor): Promise<void> {
  const url = `/api/v1/investor/${loginOf(live, investor)}/performance-fee/pending`;
  const { status, body, text } = await retryWhileBusy(() => live.client.get(url));
  if (status !== 200) throw new Error([...live.transcript, text].join("\n"));
  const at = Date.parse(`${textOf(body, "at")}Z`);
  const exact = pendingOf(live.world, investor, floatingShare(live, investor), at);
  if (minorOf(textOf(body, "pending")) === exact) return;
  throw new Error([...live.transcript, `   => ${dollars(exact)} is pending by the reference: ${text}`].join("\n"));
}

/** What is shown has floating results to 1e-8 USD. */
function floatingShare({ world }: Live, investor: Investor): Fraction {
  const holding = activeOf(world, investor);
  if (holding === undefined) return ZERO;
  const { master, id } = holding;
  return over(fraction(nearest(times(master.pool.floating(id, master.floating), E8_PER_CENT))), E8_PER_CENT);
}

/** Each payment has a complete explanation that adds up to its amount. */
export async function expectExplainedPayments(live: Live): Promise<void> {
  for (const master of live.world.masters) await expectExplained(live, master);
}

async function expectExplained(live: Live, master: Master): Promise<void> {
  const names = new Map([...live.investorLogins].map(([investor, login]) => [login, investor.name]));
  const shown: string[] = [];
  for (const { id, minor, investor } of await paymentsOf(live.client, masterAccountsOf(live, master).login)) {
    const { body, text } = await live.client.get(`/api/v1/perf-fee/payments/${id}/explanation`);
    const cents = (name: string): bigint => minorOf(textOf(body, name));
    const parts = itemsOf(body["debt_parts"]).map((part) => minorOf(textOf(part, "amount")));
    const origin = isObject(body["calculation"]) ? [minorOf(textOf(body["calculation"], "fee"))] : parts;
    const sums = [
      cents("amount"),
      cents("amount") + cents("uncollected"),
      origin.reduce((sum, each) => sum + each, 0n),
    ];
    const ties = sums[0] === minor && sums[1] === cents("due") && sums[2] === cents("due");
    if (!ties || body["complete"] !== true) throw new Error([...live.transcript, text].join("\n"));
    if (isObject(body["calculation"])) {
      const { calculation } = body;
      const amounts = ORIGIN.map((name) => showExact(fractionOf(textOf(calculation, name))));
      shown.push(`${names.get(investor)} ${dollars(minor)}: ${amounts.join(" ")}`);
    }
  }
  const exact = master.payments.flatMap(({ investor, cents, origin }) => {
    if (origin === undefined) return [];
    const inCents = [fraction(origin.gained), origin.markBefore, origin.markAfter, origin.exact];
    const floating = fraction(origin.floatingE8, 100_000_000n);
    const amounts = [...inCents.map((amount) => over(amount, fraction(100n))), floating].map(showExact);
    return [`${investor.name} ${dollars(cents)}: ${amounts.join(" ")}`];
  });
  const [left, right] = [shown, exact].map((each) => each.toSorted().join("; "));
  if (left === right) return;
  throw new Error(
    [...live.transcript, `   => fees are explained as ${left}, and as ${right} by the reference`].join("\n"),
  );
}

/** Of a calculation, in USD. */
const ORIGIN = ["result", "high_water_mark_before", "high_water_mark_after", "exact_fee", "floating"];
const SHOWN_DECIMALS = 14n;

function showExact(exact: Fraction): string {
  return nearest(times(exact, fraction(10n ** SHOWN_DECIMALS))).toString();
}
