import { textOf } from "../exact-json.ts";
import { execute } from "../command.ts";
import { assign, type Pair, unassign } from "../follow.ts";
import { deposit, type Funds, withdraw } from "../funds.ts";
import { createInvestor, createMaster, type Investor, type Master } from "../provision.ts";
import type { Printer } from "../printer.ts";
import type { System } from "../system.ts";
import { bookResult } from "../trader.ts";
import { type Character, INVESTORS } from "./characters.ts";
import { type Act, actsOf, closingWeek, percentOf, resultOf, type Size } from "./plan.ts";

export type Stage = {
  readonly print: Printer;
  /** Its printer is silent: hundreds of requests are sent. */
  readonly funds: Funds;
  readonly system: System;
  readonly size: Size;
};

/** A Master of the showcase with its Investors, in the order of their names. */
export type ShowcasePool = {
  readonly character: Character;
  readonly master: Master;
  readonly investors: readonly Investor[];
  /** Those that are still to be done. */
  readonly acts: readonly Act[];
};

const RATES = [0.2, 0.25, 0.3];
const CENTS = 100n;
/** A closing is answered within 10 s, and closing again changes nothing. */
const CLOSED_WITHIN_MS = 15_000;

export async function createShowcaseMaster({ funds, system }: Stage, character: Character): Promise<Master> {
  const { person, strategyName, strategy } = character;
  return await createMaster(funds, system, { runId: "", person, strategyName, strategy });
}

/** With the Investors who are there from the beginning: the first week has a result for them. */
export async function createPool(stage: Stage, character: Character, master: Master): Promise<ShowcasePool> {
  const { funds, system, size } = stage;
  const { familyName: lastName } = character;
  const people = INVESTORS.slice(0, size.investors).map(([firstName]) => ({ firstName, lastName }));
  const acts = actsOf(character, size);
  const first = acts.filter(({ kind, week }) => kind === "join" && week === 0);
  const investors = await Promise.all(
    people.map(async (person, index) => {
      const investor = await createInvestor(funds, system, { runId: "", person });
      for (const act of first.filter((one) => one.investor === index)) await perform(funds, { investor, master }, act);
      return investor;
    }),
  );
  return { character, master, investors, acts: acts.filter((act) => !first.includes(act)) };
}

/** The week of a pool: each Investor acts once what it has done before is done; the trader books the result, then closes the Master. */
export async function playWeek(stage: Stage, pool: ShowcasePool, week: number, turns: Turns): Promise<void> {
  const { funds, size } = stage;
  const closing = closingWeek(pool.character, size);
  for (const act of pool.acts.filter((one) => one.week === week)) {
    const investor = pool.investors[act.investor];
    if (investor !== undefined) turns.add(investor.login, () => perform(funds, { investor, master: pool.master }, act));
  }
  if (closing !== undefined && week > closing) return;
  const result = resultOf(pool.character, week, size, await funds.platform.balance(pool.master.login));
  if (result !== 0n) await bookResult(funds, pool.master.login, result);
  if (week === closing) turns.add(pool.master.login, () => close(stage, pool.master));
}

async function perform(funds: Funds, pair: Pair, act: Act): Promise<void> {
  const { investor } = pair;
  const [, dollars] = INVESTORS[act.investor] ?? ["", 0];
  const capital = BigInt(dollars) * CENTS;
  if (act.kind === "join") {
    await deposit(funds, investor, capital);
    await assign(funds, pair, RATES[act.investor % RATES.length]);
  } else if (act.kind === "leave") {
    await unassign(funds, pair);
  } else if (act.kind === "top_up") {
    await deposit(funds, investor, percentOf(capital, act.percent));
  } else {
    await withdraw(funds, investor, percentOf(capital, act.percent));
  }
}

async function close({ print, funds }: Stage, { id, login }: Master): Promise<void> {
  await execute(funds, {
    call: { method: "POST", path: `/api/v1/master/${id}/close` },
    settledWithinMs: CLOSED_WITHIN_MS,
    read: (answer) => textOf(answer, "id"),
    findEffect: async () => undefined,
  });
  print.note(`the Master ${login} is being closed`);
}

/** What was begun and has not ended: one thing after the other for each account, different accounts at once. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  add(login: string, work: () => Promise<void>): void {
    const turn = (this.#last.get(login) ?? Promise.resolve()).then(work);
    // Its error is reported by `ended`, which may wait for it later than it happens.
    turn.catch(() => {});
    this.#last.set(login, turn);
  }

  /** When everything that was begun until now has ended. */
  ended(): Promise<void> {
    const all = Promise.all(this.#last.values()).then(() => {});
    // As above: it may be awaited later than it fails.
    all.catch(() => {});
    return all;
  }
}
