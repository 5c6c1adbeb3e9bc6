import type { Deal } from "./engine/allocate.ts";
import { dollars } from "./engine/cents.ts";
import { hasRateAt, inForceSince, type Instant, mayPlan, plannedAfter } from "./engine/configuration.ts";
import { closeWeek } from "./engine/fees.ts";
import { archive, assign, charge, configure, deposit, restore, unassign, withdraw } from "./engine/investing.ts";
import { acknowledge, compensate, earnAsAgent, moveOwn } from "./engine/own-capital.ts";
import { repair } from "./engine/repair.ts";
import { age, compensateStopOut, mark, realise, trade } from "./engine/trading.ts";
import { activeAt, type Investor, type Master, type World } from "./engine/world.ts";
import { type History, type Since, type Step, describeStep } from "./history.ts";

export const FIRST_DAY: Instant = Date.UTC(2026, 0, 3);
const STEP_MS = 60_000;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Applies a history to the reference; an error at a step contains the transcript up to that step. */
export function runHistory(world: World, history: History, check: (world: World) => void = () => {}): string[] {
  const transcript: string[] = [];
  for (const step of history.steps) {
    transcript.push(`${transcript.length + 1}. ${describeStep(step, history)}`);
    try {
      const outcome = applyStep(world, step);
      if (outcome !== "") transcript.push(`   ${outcome}`);
      check(world);
    } catch (error) {
      throw new Error([...transcript, `   => ${(error as Error).message}`].join("\n"), { cause: error });
    }
  }
  return transcript;
}

/** Returns the outcome of a step as text; empty when the step has only one. */
export function applyStep(world: World, wanted: Step): string {
  world.now += STEP_MS;
  const step = within(world, wanted);
  if (step.kind === "week") {
    world.now = FIRST_DAY + Math.ceil((world.now - FIRST_DAY) / WEEK_MS) * WEEK_MS;
    for (const master of world.masters) closeWeek(world, master);
    return "";
  }
  return "investorIndex" in step ? applyInvestorStep(world, step) : applyMasterStep(world, step);
}

/**
 * Limits results to a multiple of the pooled capital. A unit is issued at 1e-8 USD; after results of a million times the
 * capital it would be worth a cent, and its rounding would be visible.
 */
const MAX_LEVERAGE = 10n;
const MIN_CAPITAL = 10n;
const UNLIMITED: readonly Step["kind"][] = ["dealer", "agent", "protect", "gap"];

function within(world: World, step: Step): Step {
  if (!("masterIndex" in step && "cents" in step) || UNLIMITED.includes(step.kind)) return step;
  const master = at(world.masters, step.masterIndex);
  const owners = [...activeAt(world, master).map(({ id }) => id), "own" as const];
  const pooled = owners.map((owner) => master.pool.cash(owner).pooled);
  const limit = MAX_LEVERAGE * pooled.reduce((sum, cents) => sum + (cents < 0n ? -cents : cents), MIN_CAPITAL);
  return { ...step, cents: step.cents < -limit ? -limit : step.cents > limit ? limit : step.cents };
}

function applyInvestorStep(world: World, step: Extract<Step, { investorIndex: number }>): string {
  const investor = at(world.investors, step.investorIndex);
  switch (step.kind) {
    case "deposit":
      return describeOutcome(deposit(world, investor, step.cents));
    case "withdraw":
      return describeOutcome(withdraw(world, investor, step.cents));
    case "assign":
      return describeOutcome(assign(world, investor, at(world.masters, step.masterIndex), step));
    case "unassign":
      return describeOutcome(unassign(world, investor));
    case "levy":
      return charge(world, investor, step.cents) ? "" : "there is not so much";
    case "archive":
      return archive(world, investor) ? "" : "it is not empty";
    case "restore":
      restore(world, investor);
      return "";
    case "queued":
      return "only the running system has a queue";
    case "rate":
    case "version":
      return change(world, investor, step);
    case "cancel":
      return cancel(world, investor);
    case "switch":
      if (investor.configuration.length === 0) return "no configuration";
      configure(world, investor, { at: world.now, enabled: step.enabled });
      return "";
  }
}

type Change = { readonly ratePpm?: bigint | undefined; readonly enabled?: boolean | undefined; readonly since: Since };

function change(world: World, investor: Investor, { ratePpm, enabled, since }: Change): string {
  if (investor.configuration.length === 0) return "no configuration";
  const start = startOf(world, investor, since);
  if (ratePpm === undefined && start !== undefined && !hasRateAt(investor.configuration, start)) return "no rate";
  if (start !== undefined && !mayPlan(investor.configuration, world.now, start)) return "another version is scheduled";
  configure(world, investor, {
    at: world.now,
    ...(ratePpm === undefined ? {} : { ratePpm }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(start === undefined ? {} : { since: start }),
  });
  return "";
}

function startOf({ now }: World, { configuration }: Investor, since: Since): Instant | undefined {
  if (since === "stored") return inForceSince(configuration, now);
  return since === "now" ? undefined : now + since * STEP_MS;
}

function cancel(world: World, investor: Investor): string {
  const planned = plannedAfter(investor.configuration, world.now);
  if (planned === undefined) return "nothing is scheduled";
  configure(world, investor, { kind: "cancellation", at: world.now, since: planned });
  return "";
}

let lastPosition = 0n;

function applyMasterStep(world: World, step: Extract<Step, { masterIndex: number }> & { kind: MasterStep }): string {
  const master = at(world.masters, step.masterIndex);
  lastPosition += 1n;
  switch (step.kind) {
    case "result":
      realise(world, master, lastPosition, step.cents);
      return "";
    case "charge":
      trade(world, master, { ...NO_TRADE, kind: "charge", result: step.cents });
      return "";
    case "dealer":
      moveOwn(world, master, step.cents);
      return "";
    case "acknowledge":
      acknowledge(master);
      return "";
    case "repair": {
      const repaired = step.resultIndex === undefined ? undefined : master.results.at(-1 - step.resultIndex);
      return repair(world, master, repaired) ? "" : "not possible";
    }
    case "agent":
      earnAsAgent(world, master, step.cents);
      return "";
    case "protect":
      return protect(world, master, step.cents);
    case "gap":
      trade(world, master, { ...NO_TRADE, kind: "charge", result: -(master.balance + step.cents) });
      return "";
    case "compensate":
      return compensate(world, master) ? "" : "not possible";
    case "open":
      trade(world, master, entry(lastPosition, step.volume, step.cents));
      return "";
    default:
      return applyPositionStep(world, master, step);
  }
}

/** The platform sees the balance only, not which Investors are below zero. */
function protect(world: World, master: Master, more: bigint): string {
  if (master.balance >= 0n) return "the balance is not below zero";
  const paid = more - master.balance;
  compensateStopOut(world, master, paid > 0n ? paid : 1n);
  return "";
}

type MasterStep = Exclude<
  Step["kind"],
  | "levy"
  | "archive"
  | "restore"
  | "deposit"
  | "withdraw"
  | "assign"
  | "unassign"
  | "rate"
  | "version"
  | "cancel"
  | "switch"
  | "queued"
  | "week"
>;

function applyPositionStep(world: World, master: Master, step: Extract<Step, { positionIndex: number }>): string {
  const [positionId, floating] = [...master.floating].at(step.positionIndex % Math.max(1, master.floating.size)) ?? [
    0n,
    0n,
  ];
  if (positionId === 0n) return "nothing is open";
  const open = master.pool.volumeOf(positionId);
  switch (step.kind) {
    case "mark":
      mark(world, master, positionId, step.cents);
      // Not each price is looked at, as not each is by a service that values from time to time.
      if (step.cents % 2n === 0n) master.pool.observe(master.floating);
      return "";
    case "stale":
      age(master, positionId);
      return "";
    case "add":
      trade(world, master, entry(positionId, step.volume, step.cents));
      return "";
    case "reverse": {
      const volume = open + step.volume;
      trade(
        world,
        master,
        { kind: "reversal", positionId, volume, volumeClosed: open, result: floating + step.cents },
        0n,
      );
      return "";
    }
    case "close": {
      const volume = step.volume < open ? step.volume : open;
      const realised = (floating * volume) / open;
      const deal: Deal = { kind: "exit", positionId, volume, volumeClosed: volume, result: realised + step.cents };
      trade(world, master, deal, floating - realised);
      return "";
    }
  }
}

const NO_TRADE = { positionId: 0n, volume: 0n, volumeClosed: 0n } as const;

function entry(positionId: bigint, volume: bigint, result: bigint): Deal {
  return { kind: "entry", positionId, volume, volumeClosed: 0n, result };
}

function at<T>(all: readonly T[], index: number): T {
  return all[index % all.length]!;
}

function describeOutcome(outcome: object): string {
  if ("refused" in outcome) return `refused: ${String(outcome.refused)}`;
  const amounts = Object.entries(outcome).filter((entry): entry is [string, bigint] => typeof entry[1] === "bigint");
  return amounts.map(([name, cents]) => `${name} ${name === "id" ? cents : dollars(cents)}`).join(", ");
}
