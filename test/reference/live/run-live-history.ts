import fc from "fast-check";
import { hasRateAt } from "../engine/configuration.ts";
import { activeAt, activeOf, type Investor, isFlat, type Master } from "../engine/world.ts";
import { undecidedOf } from "../engine/own-capital.ts";
import { EVERYTHING, type History, histories, type HistoryShape, type Step } from "../history.ts";
import * as broker from "./broker.ts";
import { addLiveInvestor, addLiveMaster, type Live } from "./live.ts";
import { expectExplainedPayments, expectPendingFees } from "./pending.ts";
import { queueUntilFlat } from "./queued.ts";
import * as steps from "./steps.ts";
import { untilEqual } from "./until-equal.ts";
import { nextWeek } from "./weeks.ts";

/** The largest of some random histories, always the same for a seed. */
export function someHistory(shape: HistoryShape, seed: number): History {
  const candidates = fc.sample(histories(shape), { seed, numRuns: 20 });
  const size = ({ investors, masters, steps: all }: History): number => investors * masters * all.length;
  return candidates.toSorted((a, b) => size(b) - size(a))[0]!;
}

type Participants = {
  readonly investors: readonly Investor[];
  readonly masters: readonly Master[];
  readonly moments: number[];
  /** Of operators, who have keys once they are needed. */
  readonly votes: () => Promise<broker.Votes>;
};

/** Applies a history to the running system; a step that changes the floating result of a position sets the price. */
export async function runLiveHistory(live: Live, history: History): Promise<void> {
  const masters: Master[] = [];
  for (let n = 0; n < history.masters; n += 1) masters.push(await addLiveMaster(live));
  const investors: Investor[] = [];
  for (let n = 0; n < history.investors; n += 1) investors.push(await addLiveInvestor(live));
  let opened: Promise<broker.Votes> | undefined;
  const votes = () => (opened ??= broker.openVotes(live));
  const participants: Participants = { investors, masters, moments: [], votes };
  for (const step of history.steps) {
    participants.moments.push(Date.now());
    await applyStep(live, participants, step);
  }
  for (const investor of investors) await broker.restore(live, investor);
  for (const master of masters) {
    for (const position of master.floating.keys()) await steps.close(live, master, position);
  }
  await expectPendingFees(live);
  await expectExplainedPayments(live);
}

async function applyStep(live: Live, participants: Participants, step: Step): Promise<void> {
  if (step.kind === "week") {
    await expectPendingFees(live);
    await nextWeek(live);
  } else if ("investorIndex" in step) await applyInvestorStep(live, participants, step);
  else if (step.kind === "repair") await repairSome(live, participants, step);
  else await applyMasterStep(live, busyMaster(live, participants, step.masterIndex), step);
}

/** A Master with Investors if there is one: results without Investors test little. */
function busyMaster({ world }: Live, { masters }: Participants, masterIndex: number): Master {
  const busy = masters.filter((master) => activeAt(world, master).length > 0);
  const some = busy.length > 0 ? busy : masters;
  return some[masterIndex % some.length]!;
}

async function applyMasterStep(
  live: Live,
  master: Master,
  step: Extract<Step, { masterIndex: number }>,
): Promise<void> {
  switch (step.kind) {
    case "result":
      if (step.cents === -EVERYTHING) await stopOut(live, master);
      else await steps.result(live, master, within(master, mostlyProfit(step.cents)));
      break;
    case "open":
      if (master.floating.size < MAX_OPEN && master.balance > MIN_BALANCE) {
        await steps.open(live, master, lots(master, step.volume), step.cents / 10n);
      }
      break;
    case "dealer": {
      const cents = master.balance === 0n && step.cents > 0n ? step.cents : within(master, step.cents);
      if (cents !== 0n) await broker.moveOwn(live, master, cents);
      break;
    }
    case "agent":
      await broker.earnAsAgent(live, master, step.cents);
      break;
    case "protect":
      await compensateSome(live, master, step.cents);
      break;
    case "mark":
      if (master.floating.size > 0) await steps.price(live, priceOf(step.cents));
      break;
    case "close":
      await closeSome(live, master, step);
      break;
    default:
  }
}

async function applyInvestorStep(
  live: Live,
  participants: Participants,
  step: Extract<Step, { investorIndex: number }>,
): Promise<void> {
  const investor = participants.investors[step.investorIndex % participants.investors.length]!;
  switch (step.kind) {
    case "deposit":
      await steps.deposit(live, investor, step.cents);
      break;
    case "withdraw":
      await steps.withdraw(live, investor, step.cents);
      break;
    case "assign":
      await steps.assign(live, investor, participants.masters[step.masterIndex % participants.masters.length]!, step);
      break;
    case "unassign":
      await steps.unassign(live, investor, activeOf(live.world, investor)?.master ?? participants.masters[0]!);
      break;
    case "levy":
      await levySome(live, investor, step.cents);
      break;
    case "archive":
      await broker.archive(live, investor);
      break;
    case "restore":
      await broker.restore(live, investor);
      break;
    case "queued":
      await queueSome(live, investor, step);
      break;
    case "switch":
      if (investor.configuration.length > 0) await steps.configure(live, investor, { enabled: step.enabled });
      break;
    case "cancel":
      if (investor.configuration.length > 0) await steps.cancelScheduled(live, investor);
      break;
    case "rate":
    case "version":
      if (investor.configuration.length > 0) await change(live, participants, investor, step);
  }
}

async function change(
  live: Live,
  { moments }: Participants,
  investor: Investor,
  { since, ...step }: Extract<Step, { kind: "rate" | "version" }>,
): Promise<void> {
  const { enabled } = { enabled: undefined, ...step };
  const terms = {
    ...(step.ratePpm === undefined ? {} : { ratePpm: step.ratePpm }),
    ...(enabled === undefined ? {} : { enabled }),
  };
  if (since === "now") return await steps.configure(live, investor, terms);
  const start = since === "stored" ? await steps.storedSince(live, investor) : momentAt(moments, since);
  if (step.ratePpm === undefined && !hasRateAt(investor.configuration, start)) return;
  await steps.configure(live, investor, { ...terms, since: start });
}

function momentAt(moments: readonly number[], since: number): number {
  if (since >= 0) return Date.now() + since * 1_000;
  return moments.at(Math.max(since, -moments.length)) ?? Date.now();
}

/** Only who is in a pool, and has so much there. */
async function levySome(live: Live, investor: Investor, cents: bigint): Promise<void> {
  const holding = activeOf(live.world, investor);
  const pooled = holding?.master.pool.cash(holding.id).pooled ?? 0n;
  if (pooled >= cents) await broker.charge(live, investor, cents);
}

/** A Master of which dealers have moved something, if there is one. */
async function repairSome(
  live: Live,
  participants: Participants,
  { masterIndex, resultIndex }: Extract<Step, { kind: "repair" }>,
): Promise<void> {
  const moved = participants.masters.filter((master) => undecidedOf(master) !== 0n);
  const master = moved[masterIndex % Math.max(1, moved.length)];
  const repaired = resultIndex === undefined ? undefined : master?.results.at(-1 - resultIndex);
  if (master === undefined || (resultIndex !== undefined && repaired === undefined)) return;
  await broker.repairBy(live, master, await participants.votes(), repaired);
}

/** Pays a hole, and something more or less; where there is none, as a broker would by mistake. */
async function compensateSome(live: Live, master: Master, more: bigint): Promise<void> {
  const paid = master.balance < 0n ? more - master.balance : within(master, more < 0n ? -more : more);
  if (master.balance !== 0n) await broker.compensate(live, master, paid > 0n ? paid : 1n);
}

/** A stop-out that leaves a hole. A deposit that the service learns of first goes to the Master. */
async function stopOut(live: Live, master: Master): Promise<void> {
  if (master.balance <= 0n) return;
  await steps.result(live, master, (-master.balance * 3n) / 2n);
  await untilEqual(live);
}

/** On a flat Master the command would not wait. */
async function queueSome(live: Live, investor: Investor, step: Extract<Step, { kind: "queued" }>): Promise<void> {
  const master = activeOf(live.world, investor)?.master;
  if (master === undefined || (isFlat(master) && master.balance <= MIN_BALANCE)) return;
  if (isFlat(master)) await steps.open(live, master, lots(master, 1n));
  await queueUntilFlat(live, investor, master, step);
}

const MAX_OPEN = 2;
/** The margin of the smallest position. */
const MIN_BALANCE = 50_00n;

async function closeSome(
  live: Live,
  master: Master,
  { positionIndex, volume }: Extract<Step, { kind: "close" }>,
): Promise<void> {
  const [position] = [...master.floating.keys()].slice(positionIndex % Math.max(1, master.floating.size));
  if (position === undefined) return;
  const open = master.pool.volumeOf(position);
  const part = (open / 6n / MIN_LOT) * MIN_LOT * volume;
  await steps.close(live, master, position, part === 0n || volume === 6n ? undefined : lotsText(part));
}

const MIN_LOT = 1_000_000n;

/** A volume for which a price move of 0.01 is some percent of the Master's balance, and the margin is covered. */
function lots(master: Master, volume: bigint): string {
  const hundredths = (master.balance * volume) / 1_000_00n;
  return lotsText((hundredths < 1n ? 1n : hundredths) * MIN_LOT);
}

function lotsText(volume: bigint): string {
  return `${volume / 100_000_000n}.${(volume % 100_000_000n).toString().padStart(8, "0")}`;
}

function priceOf(cents: bigint): string {
  const points = ((cents % 1_500n) + 1_500n) % 1_500n;
  return `1.${(9_000n + points).toString().padStart(5, "0")}`;
}

/** Fees need profits. */
function mostlyProfit(cents: bigint): bigint {
  return cents < 0n && cents % 3n !== 0n ? -cents : cents;
}

/** At limit a third of the balance: losses beyond the pool have their own example. */
function within(master: Master, cents: bigint): bigint {
  const limit = master.balance / 3n;
  const size = cents < 0n ? -cents : cents;
  const limited = size > limit ? limit : size;
  return cents < 0n ? -limited : limited;
}
