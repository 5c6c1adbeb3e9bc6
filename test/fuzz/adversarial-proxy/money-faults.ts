import type { Random } from "../support/random.ts";
import { formatScaled, parseExact } from "../../../services/simulator/domain/decimal.ts";
import { type Connection, failure, httpAnswer, send } from "./connection.ts";
import { type Delivery, RELIABLE, UNRELIABLE } from "./delivery.ts";

export type Execution = {
  /** A fault of the simulator's control API. */
  readonly effect?: string;
  readonly delayMs?: number;
  /** Parameters that the proxy replaces. */
  readonly rewrite?: Readonly<Record<string, string>>;
  /** The deal is not the requested one, or a second one. */
  readonly isAltered?: boolean;
};

/** One request that moves money, on which a fault acts. */
export type MoneyRequest = {
  readonly connection: Connection;
  readonly random: Random;
  readonly amount: string;
  readonly comment: string;
  /** A deposit or withdrawal, whose deal is compared with the request at once. */
  readonly isCompared: boolean;
  /** The answer to the previous money command on this connection. */
  readonly previousAnswer: Buffer | undefined;
  readonly otherLogin: string;
  /** Ticket of the last deal on another login. */
  readonly otherTicket: string | undefined;
  /** Executes the request in the simulator; the correct answer, or none when the simulator closed the connection. */
  readonly execute: (own?: Execution) => Promise<string>;
};

export type MoneyFault = (money: MoneyRequest) => Promise<void>;

/** A late execution ends within the quiet period, which begins when permit and time-out have ended. */
const LATE_MS = 3_000;
const REFUSED = [3, 8, 12, 13, 1000, 1001, 1002, 1012, 1020, 4005, 10019];
const AMBIGUOUS = [1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 15, 16, 17, 10006, 10008, 10012, 12004, 99999];
const TIMED_OUT: Execution = { effect: "retcode:9" };
const LOSSES = ["connection reset", "connection closed", "cut and reset", "silence"] as const;
const DELIVERIES: Readonly<Record<string, Delivery>> = { ...RELIABLE, ...UNRELIABLE };

const INCONCLUSIVE_BODIES = [
  '{"retcode":"0"}',
  '{"retcode":"OK"}',
  '{"retcode":0,"answer":{"Ticket":"7"}}',
  '{"retcode":"0x0 Done","answer":{"Ticket":"7"}}',
  '{"retcode":"3"}',
  '{"retcode":" 10019 No money"}',
  '{"retcode":"3 Invalid parameters","retcode":"0 Done"}',
  '{"retcode":"0 Done","Retcode":"10019 No money","answer":{"Ticket":"7"}}',
  '{"retcode":"10019 No money","answer":{"retcode":"0 Done"}}',
  '{"retcode":"8 No","answer":{"Ticket":"7"}}',
  '{"retcode":"0 Done","answer":[]}',
  '{"retcode":"0 Done","answer":{"Ticket":"-7"}}',
  '{"retcode":"0 Done","answer":{"Ticket":"7.0"}}',
  '{"retcode":"0 Done","answer":{"Ticket":"7","ticket":"8"}}',
  '{"retcode":"3 Invalid parameters"',
  "3 Invalid parameters",
  "null",
  "",
  "\u0000\u0000",
];

/** No fault answers "refused" for a request that is or may be executed. */
const WRONG_RESULTS: Readonly<Record<string, MoneyFault>> = {
  "inconclusive body": (money) => executeOrNot(money, money.random.pick(INCONCLUSIVE_BODIES)),
  "ticket zero": (money) => executeOrNot(money, done("0")),
  "no ticket": (money) => executeOrNot(money, '{"retcode":"0 Done"}'),
  "ambiguous code": (money) => executeOrNot(money, failure(money.random.pick(AMBIGUOUS))),
  refused: (money) => deliver(money, "at once", { effect: `retcode:${money.random.pick(REFUSED)}` }),
  async "executed, and refused with its ticket"({ connection, execute }) {
    const answer = await execute();
    send(connection, httpAnswer(answer.replace("0 Done", "3 Invalid parameters")));
  },
  "reset without execution": (money) => deliver(money, "connection reset", { effect: "drop_before" }),
  "executed late": (money) =>
    deliver(money, money.random.pick(["connection reset", "silence"]), {
      effect: "late_apply",
      delayMs: delayOf(money),
    }),
  "deal shown late": (money) => deliver(money, "connection reset", { effect: "hide_deal", delayMs: delayOf(money) }),
  "comment cut": (money) => executeAndLose(money, { rewrite: { comment: `${money.comment.slice(0, 14)} [b]` } }),
  "comment rewritten": (money) =>
    executeAndLose(
      money,
      money.random.pick([{ rewrite: { comment: "corrected by dealer" } }, { effect: "cut_comment" }]),
    ),
  "amount a cent less": (money) => alter(money, { balance: aCentLess(money.amount) }),
  "amount a cent less, answer lost": (money) =>
    executeAndLose(money, { rewrite: { balance: aCentLess(money.amount) }, isAltered: true }),
  "on another login": (money) => alter(money, { login: money.otherLogin }),
  "as credit": (money) => alter(money, { type: "3" }),
  async "executed twice"({ connection, random, execute }) {
    const answer = await execute();
    if (isDone(answer)) await execute({ isAltered: true });
    DELIVERIES[random.chance(50) ? random.pick(LOSSES) : "at once"]?.(connection, answer, random);
  },
  async "ticket of another deal"({ connection, execute, otherTicket }) {
    const answer = await execute();
    send(connection, httpAnswer(isDone(answer) && otherTicket !== undefined ? done(otherTicket) : answer));
  },
  async "previous answer again"({ connection, execute, previousAnswer }) {
    const answer = await execute();
    if (previousAnswer !== undefined) send(connection, previousAnswer);
    send(connection, httpAnswer(answer));
  },
};

/** A command that is not executed is answered with a time-out code, delivered in the same way. */
const DELIVERY_FAULTS = Object.keys(DELIVERIES).map((name): [string, MoneyFault] => {
  const percentExecuted = name in RELIABLE || name.startsWith("sent") ? 100 : 60;
  return [name, (money) => deliver(money, name, money.random.chance(percentExecuted) ? {} : TIMED_OUT)];
});

type NamedFault = readonly [string, MoneyFault];

const FIRST_FAULTS: readonly NamedFault[] = Object.entries(WRONG_RESULTS);
const MONEY_FAULTS: readonly NamedFault[] = [...FIRST_FAULTS, ...DELIVERY_FAULTS];
const CORRECT: NamedFault = ["correct", (money) => deliver(money, "at once")];

/**
 * The first command of an account has a wrong result, each kind in turn by the number in the account's name, so that each run
 * has them all. The kinds of later faults are equally likely.
 */
export function chooseFault(
  random: Random,
  { accountName, commands, faultPercent }: { accountName: string; commands: number; faultPercent: number },
): NamedFault {
  const number = /\d+$/.exec(accountName);
  if (faultPercent > 0 && commands === 0 && number !== null) {
    return FIRST_FAULTS[Number(number[0]) % FIRST_FAULTS.length]!;
  }
  return random.chance(faultPercent) ? random.pick(MONEY_FAULTS) : CORRECT;
}

async function deliver(
  { connection, random, execute }: MoneyRequest,
  delivery: string,
  own?: Execution,
): Promise<void> {
  DELIVERIES[delivery]?.(connection, await execute(own), random);
}

async function executeOrNot({ connection, random, execute }: MoneyRequest, answer: string): Promise<void> {
  if (random.chance(50)) await execute();
  send(connection, httpAnswer(answer));
}

/** Executes the command with other parameters and reports success, for deposits and withdrawals only. */
async function alter(money: MoneyRequest, rewrite: NonNullable<Execution["rewrite"]>): Promise<void> {
  await deliver(money, "at once", money.isCompared ? { rewrite, isAltered: true } : {});
}

async function executeAndLose(money: MoneyRequest, own: Execution): Promise<void> {
  await deliver(money, money.random.pick(LOSSES), own);
}

function delayOf({ random }: MoneyRequest): number {
  return random.below(LATE_MS);
}

function aCentLess(amount: string): string {
  const minor = parseExact(amount, 2) ?? 0n;
  return formatScaled(minor - (minor > 0n ? 1n : -1n), 2);
}

function isDone(answer: string): boolean {
  return answer.startsWith('{"retcode":"0 ');
}

function done(ticket: string): string {
  return JSON.stringify({ retcode: "0 Done", answer: { Ticket: ticket } });
}
