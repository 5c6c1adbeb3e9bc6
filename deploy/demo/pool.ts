import { balanceOf, dollars, type Funds, type Ledger } from "./funds.ts";
import { type Payment, readPayments } from "./fees.ts";
import { type Earned, type RateSince, reasonsFor, type Reason } from "./high-water.ts";
import type { Deal } from "./platform.ts";
import type { Investor, Master } from "./provision.ts";
import { type PollOptions, poll } from "./wait.ts";
import { cutOffsBetween, type Weeks } from "./weeks.ts";

export type Member = {
  readonly investor: Investor;
  /** The Investor's part of each deal, as its balance shows it. */
  readonly results: Earned[];
  readonly rates: RateSince[];
  /** Its capital is in the pool. */
  isPooled: boolean;
};

/** A Master, all its past and present Investors, and the sum of its results. */
export type Pool = {
  readonly master: Master;
  readonly weeks: Weeks;
  readonly startedAt: number;
  readonly members: Member[];
  earned: bigint;
};

/** A fee that was paid, and its basis. */
export type ExplainedFee = { readonly member: Member; readonly payment: Payment; readonly reason: Reason };

type Part = { readonly member: Member; readonly minor: bigint };

/** Results are posted within seconds, and later when a killed process has to restart first. */
const CONVERGENCE = { withinMs: 120_000, everyMs: 250 };
/** The offset of a time zone is a multiple of a quarter of an hour. */
const ZONE_STEP_MS = 900_000;

/**
 * Waits until the accounts have gained what the Master has earned, and notes each part. A gain is the balance less the
 * deposits, plus the withdrawals and the fees.
 */
export async function untilAllocated(funds: Funds, pool: Pool, deal: Deal): Promise<readonly Part[]> {
  pool.earned += deal.minor;
  let current = "";
  const options = { ...CONVERGENCE, what: `${dollars(pool.earned)} on the accounts of the Investors` };
  const parts = await poll(
    options,
    async () => {
      const gains = await gainsOf(funds, pool);
      const sum = gains.reduce((total, { minor }) => total + minor, 0n);
      current = dollars(sum);
      return sum === pool.earned ? gains.map(partOf) : undefined;
    },
    () => current,
  );
  const at = deal.timeMs - Math.round((deal.timeMs - Date.now()) / ZONE_STEP_MS) * ZONE_STEP_MS;
  for (const { member, minor } of parts) if (minor !== 0n) member.results.push({ at, minor });
  funds.print.note(
    `${signed(deal.minor)} is allocated: ${parts.map((part) => `${nameOf(part)} ${signed(part.minor)}`).join(", ")}`,
  );
  return parts;
}

/** Waits until exactly the fees that follow from results and rates are paid, to the cent; explains each. */
export async function untilFeesAreCorrect(
  funds: Funds,
  pool: Pool,
  options: Omit<PollOptions, "what"> = CONVERGENCE,
): Promise<readonly ExplainedFee[]> {
  let wrong = "";
  const readOnce = async (): Promise<readonly ExplainedFee[] | undefined> => {
    const payments = await readPayments(funds.api, pool.master.login);
    const charges = pool.members.flatMap((member) => chargesOf(pool, member, payments));
    const difference = charges.find(({ paid, reason }) => paid !== reason.fee);
    if (difference === undefined) return charges.flatMap(({ explained }) => explained);
    const { member, paid, reason, at } = difference;
    wrong = `${member.investor.name} paid ${dollars(paid)} and not ${dollars(reason.fee)} at ${timeOf(at)}`;
    return undefined;
  };
  return await poll({ ...options, what: "the expected fees" }, readOnce, () => wrong);
}

/** The sum of the accounts in the pool: the balance that the Master must have. */
export async function pooledBalance({ platform }: Funds, { members }: Pool): Promise<bigint> {
  const pooled = members.filter(({ isPooled }) => isPooled);
  const balances = await Promise.all(pooled.map(({ investor }) => platform.balance(investor.login)));
  return balances.reduce((sum, balance) => sum + balance, 0n);
}

/** Deposits less withdrawals, and results less fees. */
export function expectedOf(ledger: Ledger, { investor, results }: Member, fees: readonly ExplainedFee[]): bigint {
  const earned = results.reduce((sum, { minor }) => sum + minor, 0n);
  const paid = fees
    .filter(({ member }) => member.investor === investor)
    .reduce((sum, fee) => sum + fee.payment.minor, 0n);
  return balanceOf(ledger, investor.login) + earned - paid;
}

export function signed(minor: bigint): string {
  return minor > 0n ? `+${dollars(minor)}` : dollars(minor);
}

export function timeOf(at: number): string {
  return new Date(at).toISOString().slice("2026-01-02T".length, -"Z".length);
}

async function gainsOf({ api, ledger, platform }: Funds, { master, members }: Pool): Promise<readonly Part[]> {
  const payments = await readPayments(api, master.login);
  return await Promise.all(
    members.map(async (member) => {
      const { login } = member.investor;
      const paid = payments
        .filter(({ investorLogin }) => investorLogin === login)
        .reduce((sum, { minor }) => sum + minor, 0n);
      return { member, minor: (await platform.balance(login)) - balanceOf(ledger, login) + paid };
    }),
  );
}

/** The part of a gain that is new. */
function partOf({ member, minor }: Part): Part {
  return { member, minor: minor - member.results.reduce((sum, result) => sum + result.minor, 0n) };
}

function nameOf({ member }: Part): string {
  return member.investor.name;
}

/** One entry for every cut-off, also without a fee, and for every payment. */
function chargesOf({ weeks, startedAt }: Pool, member: Member, all: readonly Payment[]) {
  const payments = all.filter(({ investorLogin }) => investorLogin === member.investor.login);
  const instants = [...cutOffsBetween(weeks, startedAt, Date.now()), ...payments.map(({ at }) => at)];
  const inOrder = [...new Set(instants)].toSorted((one, other) => one - other);
  const reasons = reasonsFor(member, inOrder);
  return inOrder.map((at, index) => {
    const reason = reasons[index] ?? { profits: [], fee: 0n };
    const own = payments.filter((payment) => payment.at === at);
    const paid = own.reduce((sum, { minor }) => sum + minor, 0n);
    return { member, at, reason, paid, explained: own.map((payment) => ({ member, payment, reason })) };
  });
}
