import type { Mutant } from "./mutant.ts";

const FEED = "services/kernel/feed";

/** Defects of the feeds between services. */
export const FEED_MUTANTS: readonly Mutant[] = [
  {
    name: "a gap in a feed is ignored",
    edits: [
      {
        file: `${FEED}/read.ts`,
        find: "where feed = ${feed} and number > ${afterNumber}",
        put: "where feed = ${feed} and number > ${afterNumber + 1n}",
      },
      { file: `${FEED}/receive-page.ts`, find: "assert(!hasGap,", put: "assert(hasGap || !hasGap," },
    ],
    detectedBy: ["I9"],
    seed: 1,
  },
  {
    name: "the cursor moves before the entries are stored",
    file: `${FEED}/receive-page.ts`,
    find: "return await inTransaction(pool, (tx) => receiveAfter(tx, receiver, page));",
    put: "let late: () => Promise<void> = async () => undefined;\n    const result = await inTransaction(pool, (tx) => receiveAfter(tx, { ...receiver, receive: async (_, entries) => { late = () => inTransaction(pool, (own) => receiver.receive(own, entries)); } }, page));\n    await late();\n    return result;",
    detectedBy: ["I9"],
    seed: 86,
  },
  {
    name: "events are published in a transaction of their own",
    edits: [
      {
        file: `${FEED}/publish.ts`,
        find: "import { afterCommit, beforeCommit, poolOf, type Transaction }",
        put: "import { afterCommit, beforeCommit, inTransaction, poolOf, type Transaction }",
      },
      {
        file: `${FEED}/publish.ts`,
        find: "const entries = await insertEntries(tx, events);",
        put: "const entries = await inTransaction(poolOf(tx), (own) => insertEntries(own, events));",
      },
    ],
    detectedBy: ["I4", "I9"],
    seed: 126,
  },
];
