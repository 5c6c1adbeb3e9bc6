import { readCredits } from "./fees.ts";
import { dollars, type Funds } from "./funds.ts";
import { type ExplainedFee, expectedOf, type Pool, signed } from "./pool.ts";
import type { Account } from "./proof.ts";

const LABEL_WIDTH = 16;

/** The expected balance of every account of a pool, from deposits, withdrawals, results and fees. */
export function accountsOf({ ledger }: Funds, { master, members }: Pool, fees: readonly ExplainedFee[]): Account[] {
  const investors = members.map((member) => {
    const { name, login } = member.investor;
    return { role: name, login, expected: expectedOf(ledger, member, fees), isExact: false, isPooled: member.isPooled };
  });
  const pooled = investors.filter(({ isPooled }) => isPooled).reduce((sum, { expected }) => sum + expected, 0n);
  const paid = fees.reduce((sum, { payment }) => sum + payment.minor, 0n);
  return [
    { role: "Master", login: master.login, expected: pooled, isExact: false },
    { role: "payment", login: master.paymentLogin, expected: paid, isExact: false },
    ...investors,
  ];
}

/** Compares sums from different sources. True when all are equal. */
export async function compareTotals(funds: Funds, pool: Pool, fees: readonly ExplainedFee[]): Promise<boolean> {
  const { print, api, platform } = funds;
  const { master, members } = pool;
  const credits = await readCredits(api, master.login);
  const deals = await platform.deals(master.login);
  const earned = sum(deals.filter(({ isTrade }) => isTrade).map(({ minor }) => minor));
  const gained = members.map(({ results }) => sum(results.map(({ minor }) => minor)));
  const paid = sum(fees.map(({ payment }) => payment.minor));
  const credited = sum(credits.map(({ minor }) => minor));
  const arrived = await platform.balance(master.paymentLogin);
  const creditIds = new Set(credits.map(({ id }) => id));
  const isJoined = fees.every(({ payment }) => creditIds.has(payment.creditId)) && creditIds.size === fees.length;

  const shares = members.map(({ investor }, index) => `${investor.name} ${signed(gained[index] ?? 0n)}`).join(", ");
  print.note(line("results", `deals of the Master ${signed(earned)} = ${shares}`));
  const [payments, listed, account] = [paid, credited, arrived].map(dollars);
  print.note(line("fees", `payments ${payments} = credits ${listed} = payment account ${account}`));
  const pooled = members.filter(({ isPooled }) => isPooled).map(({ investor }) => investor.name);
  print.note(
    line("the Master", `the pooled capital of ${pooled.join(" and ")}; nothing in transit, nothing quarantined`),
  );
  return sum(gained) === earned && paid === credited && credited === arrived && isJoined;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

function line(label: string, text: string): string {
  return label.padEnd(LABEL_WIDTH) + text;
}
