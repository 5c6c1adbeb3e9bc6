import type { MutantOfOtherTest } from "./mutant.ts";

/** Defects in code that the simulation does not run, or of a kind that it cannot detect. Another test detects each. */
export const MUTANTS_OF_OTHER_TESTS: readonly MutantOfOtherTest[] = [
  {
    name: "a page that another replica has stored is stored again",
    edits: [
      {
        file: "services/kernel/feed/receive-page.ts",
        find: "const isOvertaken = cursor.number !== after.number || cursor.id !== after.id;",
        put: "const isOvertaken = false;",
      },
    ],
    test: "services/kernel/feed/receive-page.test.ts",
  },
  {
    name: "numbers are taken before the lock on the head of their feed",
    edits: [
      {
        file: "services/kernel/feed/outbox.ts",
        find: "set last_number = feed_head.last_number + excluded.last_number",
        put: "set last_number = (select known.last_number from feed_head as known where known.feed = excluded.feed) + excluded.last_number",
      },
    ],
    test: "services/kernel/feed/outbox.test.ts",
  },
  {
    name: "a message is acknowledged before its entry is stored",
    edits: [
      {
        file: "services/kernel/feed/consume.ts",
        find: "const next = await readInTurn(lastNumber);",
        put: "wake.notify();\n        const next: boolean | number = false;",
      },
    ],
    test: "services/kernel/feed/wake-up.test.ts",
  },
  {
    // In the queue of the account the payout would wait too, and be refused after its time, although it is decided.
    name: "a payout does not wait for the fees before it",
    edits: [{ file: "services/platform/commands/transfer-chain.ts", find: "if (!isOver(answer)) break;", put: "" }],
    test: "services/platform/commands/transfer-chain.test.ts",
  },
  {
    name: "retention deletes the first entry that must stay",
    edits: [{ file: "services/kernel/feed/retention.ts", find: "max(number)) - 1", put: "max(number))" }],
    test: "services/kernel/feed/retention.test.ts",
  },
  {
    name: "what an imported fee has paid lowers no later one",
    edits: [
      {
        file: "services/fee/jobs/record-imported-fees.ts",
        find: "  await addPrepaid(tx, { investorLogin, masterLogin, amount });",
        put: "  await addPrepaid(tx, { investorLogin, masterLogin, amount: 0n });",
      },
    ],
    test: "services/fee/testing/imported-fees.test.ts",
  },
  {
    name: "a fee is sent again under the key of a recorded one",
    edits: [
      {
        file: "services/fee/store/due-payments.ts",
        find: "where earlier.key_hash = fee_payment.key_hash",
        put: "where earlier.key_hash = ''",
      },
    ],
    test: "services/fee/testing/imported-fees.test.ts",
  },
  {
    name: "an order of a fee is not compared with imported ones",
    edits: [
      {
        file: "services/platform/protocol/claim-imported.ts",
        find: "if (fees.length === 0 ||",
        put: "if (fees.length >= 0 ||",
      },
    ],
    test: "services/platform/protocol/history/import-deal.test.ts",
  },
  {
    name: "numbers are not raised after a restore",
    edits: [
      {
        file: "services/platform/store/senders.ts",
        find: "where floor > (select last_value from leg_number)",
        put: "where floor < 0",
      },
    ],
    test: "services/platform/store/senders.test.ts",
  },
  {
    name: "a departure is decided at a reading that trades have outdated",
    edits: [
      {
        file: "services/subscription/processes/departure/decide-in-pool.ts",
        find: 'end === "done" && master.filedNumber === through;',
        put: 'end === "done";',
      },
    ],
    test: "services/subscription/processes/departure/decide.test.ts",
  },
  {
    name: "a departure is decided twice",
    edits: [
      {
        file: "services/subscription/store/departures.ts",
        find: "where operation_id = id and try = number and state = 'WANTED'",
        put: "where operation_id = id and try = number",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "a try that has ended decides a later one",
    edits: [
      {
        file: "services/subscription/store/departures.ts",
        find: "where operation_id = id and try = number and state = 'WANTED'",
        put: "where operation_id = id and state = 'WANTED'",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "a try that has ended refuses a later one",
    edits: [
      {
        file: "services/subscription/store/departures.ts",
        find: "where operation_id = ${operationId} and try = ${number} and state = ${state}`",
        put: "where operation_id = ${operationId} and ${number}::int > 0 and state = ${state}`",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "what is decided is refused",
    edits: [
      {
        file: "services/subscription/store/departures.ts",
        find: "and try = ${number} and state = ${state}`",
        put: "and try = ${number} and ${state} <> ''`",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "what is decided begins to wait",
    edits: [
      {
        file: "services/subscription/store/departure-queue.ts",
        find: "and try = ${number} and state = 'WANTED'",
        put: "and try = ${number}",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "a try that has ended lets a later one wait",
    edits: [
      {
        file: "services/subscription/store/departure-queue.ts",
        find: "and try = ${number} and state = 'WANTED'",
        put: "and ${number}::int > 0 and state = 'WANTED'",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "a try begins before the account lock of the last one is released",
    edits: [
      {
        file: "services/subscription/store/departure-queue.ts",
        find: "state = 'WAITING' and lock_owner is null and next_try_at",
        put: "state = 'WAITING' and next_try_at",
      },
    ],
    test: "services/subscription/store/departures.test.ts",
  },
  {
    name: "two commands of one subscription have the same account lock",
    edits: [
      {
        file: "services/subscription/domain/departure.ts",
        find: "return `subscription:departure:${operationId}:${number}`;",
        put: "return `subscription:departure:${arguments[0].subscriptionId ?? operationId}:${number}`;",
      },
    ],
    test: "services/subscription/commands/unassign.test.ts",
  },
  {
    name: "a floor is taken without its log number",
    edits: [
      {
        file: "services/platform/protocol/insert-orders.ts",
        find: "floorNumber === undefined || floorNumber >= logNumber ?",
        put: "floorNumber === undefined || floorNumber < logNumber || floorNumber >= logNumber ?",
      },
    ],
    test: "services/platform/protocol/permit-orders.test.ts",
  },
  {
    name: "a fee that is recorded after the terms were asked for is not waited for",
    edits: [
      {
        file: "services/subscription/store/fee-decisions.ts",
        find: "or decision.recorded_at >= ${at}",
        put: "or decision.recorded_at >= ${at} + interval '1 day'",
      },
    ],
    test: "services/subscription/testing/fees.test.ts",
  },
  {
    name: "a request that was not sent ends a withdrawal that another request has sent",
    edits: [{ file: "services/funding/store/cashflow-transitions.ts", find: "and tries = 0`", put: "`" }],
    test: "services/funding/commands/withdraw.test.ts",
  },
  {
    name: "the commission of an agent is a result of the pool",
    edits: [
      {
        file: "services/subscription/messages/movement.ts",
        find: 'return isAgents && agentCommission === "own_capital" ?',
        put: 'return isAgents && agentCommission !== "own_capital" ?',
      },
    ],
    test: "services/subscription/testing/agent-commission.test.ts",
  },
  {
    name: "a process voids the permit of another process",
    edits: [
      {
        file: "services/platform/protocol/void-unsent.ts",
        find: "const isOurs = permitted?.senderEpoch === deps.sender.epoch && permitted.session === sessionId;",
        put: "const isOurs = permitted !== undefined && sessionId !== undefined;",
      },
    ],
    test: "services/platform/protocol/void-unsent.test.ts",
  },
  {
    name: "a permit without lock and compare-and-set",
    edits: [
      { file: "services/platform/store/accounts.ts", find: "for no key update skip locked", put: "" },
      {
        file: "services/platform/store/leg-transitions.ts",
        find: "and attempt = last_attempt and state = 'INTENT'",
        put: "",
      },
    ],
    test: "services/platform/protocol/permit-orders.test.ts",
  },
  {
    name: "a log that platform has written again is read",
    edits: [
      {
        file: "services/subscription/processes/filing/catch-up.ts",
        find: "if (deps.isPlatformRewound()) throw rewound(login);",
        put: "if (login === undefined) throw rewound(login);",
      },
    ],
    test: "services/subscription/processes/exit/settle-imported.test.ts",
  },
  {
    name: "a number that a result was executed under is given again",
    edits: [
      {
        file: "services/subscription/domain/posting.ts",
        find: "const ends = number >= postings.number;",
        put: "const ends = number === postings.number;",
      },
    ],
    test: "services/subscription/testing/unrequested-postings.test.ts",
  },
  {
    name: "a result that was not requested is owned",
    edits: [
      {
        file: "services/subscription/domain/posting.ts",
        find: "unrequested: isRequested ? undefined : number",
        put: "unrequested: undefined",
      },
    ],
    test: "services/subscription/testing/unrequested-postings.test.ts",
  },
];
