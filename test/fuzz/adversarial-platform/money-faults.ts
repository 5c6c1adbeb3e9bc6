import type { Random } from "../support/random.ts";
import type { BalanceOrder } from "./books.ts";
import { done, failure } from "./commands.ts";
import { type Delivery, UNRELIABLE, UNDERSTANDABLE, later } from "./delivery.ts";
import { httpAnswer, type Connection, reset, send } from "./connection.ts";

export type Execution = {
  readonly comment?: (sent: string) => string;
  readonly visibleInMs?: number;
  /** The altered request, from the request and all logins. */
  readonly otherwise?: (order: BalanceOrder, logins: readonly string[]) => BalanceOrder;
};

/** The actions of a fault on one request that moves money. */
export type Order = {
  readonly line: Connection;
  readonly random: Random;
  /** A deposit or withdrawal, whose deal is compared with the request at once. */
  readonly isCompared: boolean;
  /** Executes the request, or an altered one, and returns the correct answer. */
  readonly execute: (own?: Execution) => string;
  /** Ticket of a deal of another login. */
  readonly otherTicket: () => bigint | undefined;
};

/** `isForReview`: the outcome cannot be determined, so manual review is expected. */
export type MoneyFault = { readonly name: string; readonly isForReview?: true; readonly play: (order: Order) => void };

/** Within the quiet period, which begins where permit and time-out end. */
const LATE_MS = 6_000;
const REFUSED = [3, 8, 12, 13, 1000, 1001, 1002, 1012, 1020, 4005, 10019];
const AMBIGUOUS = [1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 15, 16, 17, 10006, 10008, 10012, 12004, 99999];
const TRUE_BUT_LOST = ["connection reset", "connection closed", "cut and reset", "silence"] as const;

/** Bodies without a definite result. */
const GARBAGE = [
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

/** Each executes the request or not, and never answers "refused" for a request that is or may be executed. */
const STRANGE: readonly MoneyFault[] = [
  { name: "garbage", play: (order) => strange(order, order.random.pick(GARBAGE)) },
  { name: "ticket zero", play: (order) => strange(order, done({ Ticket: "0" })) },
  { name: "no ticket", play: (order) => strange(order, done()) },
  { name: "ambiguous code", play: (order) => strange(order, failure(order.random.pick(AMBIGUOUS), "Hm")) },
  { name: "refused", play: ({ line, random }) => send(line, httpAnswer(failure(random.pick(REFUSED)))) },
  { name: "refused with its ticket", play: ({ line, execute }) => send(line, httpAnswer(refusedWith(execute()))) },
  { name: "reset before", play: ({ line }) => reset(line) },
  {
    name: "done late",
    play: ({ line, random, execute }) => {
      later(random.below(LATE_MS), execute);
      if (random.chance(50)) reset(line);
    },
  },
  {
    name: "shown late",
    play: ({ line, random, execute }) => {
      execute({ visibleInMs: random.below(LATE_MS) });
      reset(line);
    },
  },
  {
    name: "comment cut",
    play: ({ line, random, execute }) => lost(line, random, execute({ comment: (sent) => `${sent.slice(0, 14)} [b]` })),
  },
  {
    name: "comment rewritten",
    isForReview: true,
    play: ({ line, random, execute }) => lost(line, random, execute({ comment: () => "corrected by dealer" })),
  },
  {
    name: "a cent less",
    isForReview: true,
    play: (order) => altered(order, (wanted) => ({ ...wanted, minor: wanted.minor - (wanted.minor > 0n ? 1n : -1n) })),
  },
  {
    name: "on another login",
    isForReview: true,
    play: (order) =>
      altered(order, (wanted, logins) => ({ ...wanted, login: logins.find((login) => login !== wanted.login) ?? "" })),
  },
  {
    name: "as credit",
    isForReview: true,
    play: (order) => altered(order, (wanted) => ({ ...wanted, action: 3 })),
  },
  {
    name: "done twice",
    isForReview: true,
    play({ line, random, execute }) {
      const answer = execute();
      if (answer.startsWith('{"retcode":"0 ')) execute({ otherwise: (wanted) => wanted });
      if (random.chance(50)) lost(line, random, answer);
      else send(line, httpAnswer(answer));
    },
  },
  {
    name: "ticket of another",
    isForReview: true,
    play({ line, execute, otherTicket }) {
      const other = otherTicket();
      const answer = execute();
      const isDone = answer.startsWith('{"retcode":"0 ');
      send(line, httpAnswer(isDone && other !== undefined ? done({ Ticket: String(other) }) : answer));
    },
  },
  {
    name: "the answer before again",
    isForReview: true,
    play: ({ line, execute }) => {
      const before = line.lastMoneyAnswer;
      const answer = httpAnswer(execute());
      if (before !== undefined) send(line, before);
      send(line, answer);
    },
  },
];

const TRAVELLING: readonly MoneyFault[] = [
  ...Object.entries(UNDERSTANDABLE).map(([name, delivery]) => travelling(name, delivery, 100)),
  ...Object.entries(UNRELIABLE).map(([name, delivery]) =>
    travelling(name, delivery, name.startsWith("sent") ? 100 : 60),
  ),
];

/** Each kind is equally likely. */
export const MONEY_FAULTS: readonly MoneyFault[] = [...STRANGE, ...TRAVELLING];

export const CORRECT: MoneyFault = { name: "correct", play: ({ line, execute }) => send(line, httpAnswer(execute())) };

/** Executes with this probability in percent; otherwise delivers a time-out code in the same way. */
function travelling(name: string, deliver: Delivery, percentDone: number): MoneyFault {
  return {
    name,
    play: ({ line, random, execute }) =>
      deliver(line, random.chance(percentDone) ? execute() : failure(9, "Timeout"), random),
  };
}

function strange({ line, random, execute }: Order, body: string): void {
  if (random.chance(50)) execute();
  send(line, httpAnswer(body));
}

/** Executes an altered request and reports success, for deposits and withdrawals only. */
function altered({ line, isCompared, execute }: Order, otherwise: NonNullable<Execution["otherwise"]>): void {
  send(line, httpAnswer(isCompared ? execute({ otherwise }) : execute()));
}

function lost(line: Connection, random: Random, answer: string): void {
  UNRELIABLE[random.pick(TRUE_BUT_LOST)]?.(line, answer, random);
}

function refusedWith(answer: string): string {
  return answer.replace("0 Done", "3 Invalid parameters");
}
