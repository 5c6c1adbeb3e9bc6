import type { Random } from "../support/random.ts";
import type { BalanceOrder } from "./books.ts";
import { done, failure } from "./commands.ts";
import { type Delivery, HARMFUL, HARMLESS, later } from "./delivery.ts";
import { httpAnswer, type Line, reset, send } from "./line.ts";

export type Execution = {
  readonly comment?: (sent: string) => string;
  readonly visibleInMs?: number;
  /** What is done instead, given the order and all logins. */
  readonly otherwise?: (order: BalanceOrder, logins: readonly string[]) => BalanceOrder;
};

/** What spite may do with one order to move money. */
export type Order = {
  readonly line: Line;
  readonly random: Random;
  /** Somebody outside is told what became of it. */
  readonly isTold: boolean;
  /** Does what was ordered, if the books allow it, or something else, and gives the true answer. */
  readonly execute: (own?: Execution) => string;
  /** Ticket of a deal that another order made. */
  readonly otherTicket: () => bigint | undefined;
};

/** `isExplained`: a person has to look afterwards, because what really happened cannot be known for sure. */
export type Hostility = { readonly name: string; readonly isExplained?: true; readonly play: (order: Order) => void };

/** Within the quiet period, which begins where permit and time-out end. */
const LATE_MS = 6_000;
const REFUSED = [3, 8, 12, 13, 1000, 1001, 1002, 1012, 1020, 4005, 10019];
const AMBIGUOUS = [1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 15, 16, 17, 10006, 10008, 10012, 12004, 99999];
const TRUE_BUT_LOST = ["connection reset", "connection closed", "cut and reset", "silence"] as const;

/** Code and text of bodies that say nothing clear, with what may stand around them. */
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

/** Each either does what was ordered or does not, and never says "refused" plainly of what it has done or may still do. */
const STRANGE: readonly Hostility[] = [
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
    isExplained: true,
    play: ({ line, random, execute }) => lost(line, random, execute({ comment: () => "corrected by dealer" })),
  },
  {
    name: "a cent less",
    isExplained: true,
    play: (order) => wilful(order, (wanted) => ({ ...wanted, minor: wanted.minor - (wanted.minor > 0n ? 1n : -1n) })),
  },
  {
    name: "on another login",
    isExplained: true,
    play: (order) =>
      wilful(order, (wanted, logins) => ({ ...wanted, login: logins.find((login) => login !== wanted.login) ?? "" })),
  },
  {
    name: "as credit",
    isExplained: true,
    play: (order) => wilful(order, (wanted) => ({ ...wanted, action: 3 })),
  },
  {
    name: "done twice",
    isExplained: true,
    play({ line, random, execute }) {
      const answer = execute();
      if (answer.startsWith('{"retcode":"0 ')) execute({ otherwise: (wanted) => wanted });
      if (random.chance(50)) lost(line, random, answer);
      else send(line, httpAnswer(answer));
    },
  },
  {
    name: "ticket of another",
    isExplained: true,
    play({ line, execute, otherTicket }) {
      const other = otherTicket();
      const answer = execute();
      const isDone = answer.startsWith('{"retcode":"0 ');
      send(line, httpAnswer(isDone && other !== undefined ? done({ Ticket: String(other) }) : answer));
    },
  },
  {
    name: "the answer before again",
    isExplained: true,
    play: ({ line, execute }) => {
      const before = line.lastMoneyAnswer;
      const answer = httpAnswer(execute());
      if (before !== undefined) send(line, before);
      send(line, answer);
    },
  },
];

const TRAVELLING: readonly Hostility[] = [
  ...Object.entries(HARMLESS).map(([name, delivery]) => travelling(name, delivery, 100)),
  ...Object.entries(HARMFUL).map(([name, delivery]) => travelling(name, delivery, name.startsWith("said") ? 100 : 60)),
];

/** Every kind of spite is as likely as any other. */
export const MONEY_SPITES: readonly Hostility[] = [...STRANGE, ...TRAVELLING];

export const HONEST: Hostility = { name: "honest", play: ({ line, execute }) => send(line, httpAnswer(execute())) };

/** So many times in a hundred it is done; otherwise only the way of answering is the same, and the answer empty. */
function travelling(name: string, deliver: Delivery, percentDone: number): Hostility {
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

/** Does something else and says that it is done. What nobody is told of is compared by its reader, and done as ordered. */
function wilful({ line, isTold, execute }: Order, otherwise: NonNullable<Execution["otherwise"]>): void {
  send(line, httpAnswer(isTold ? execute({ otherwise }) : execute()));
}

function lost(line: Line, random: Random, answer: string): void {
  HARMFUL[random.pick(TRUE_BUT_LOST)]?.(line, answer, random);
}

function refusedWith(answer: string): string {
  return answer.replace("0 Done", "3 Invalid parameters");
}
