import type { Measurement, Workload } from "../bench.ts";
import { serviceContestant } from "../contest/service.ts";
import { number } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import type { Section } from "../section.ts";
import { createInvestors } from "../system/accounts.ts";
import { startSystem } from "../system/start-system.ts";

/** A variable and the values that are measured; the first is the default. */
type Constant = { readonly variable: string; readonly values: readonly string[] };

const CONSTANTS: readonly Constant[] = [
  { variable: "MT5_SESSIONS", values: ["8", "4", "16"] },
  { variable: "DATABASE_CONNECTIONS", values: ["8", "16"] },
];
const QUICK_CONSTANTS: readonly Constant[] = [{ variable: "MT5_SESSIONS", values: ["8", "2"] }];
const ROUNDS = 2;

export const constants: Workload = {
  name: "constants",
  title: "Tuning constants",
  about: `Deposits without Master with other values of the variables that decide how many of them are at work together. The sizes of sets, such as
the permits of one commit, are constants of the code: docs/decisions/work-in-sets.md and the comment of each name the reason.`,

  async run(bench) {
    const { isQuick, investors, rounds, callers: all } = bench.options;
    const callers = all.at(-1) ?? 1;
    const found: Found[] = [];
    for (const { variable, values } of isQuick ? QUICK_CONSTANTS : CONSTANTS) {
      for (const value of values) {
        await using system = await startSystem({ [variable]: value });
        const service = serviceContestant(system, await createInvestors(system.client, investors));
        for (let round = 0; round < Math.min(ROUNDS, rounds); round += 1) {
          const of = await bench.measure(service, service.deposits, { kind: "closed", callers });
          bench.print(`${variable}=${value}: ${number(of.rate)}/s, p50 ${number(of.p50)} ms`);
          found.push({ variable, value, of });
        }
        // Its books cannot be read once it has stopped.
        await bench.verify();
      }
    }
    return sectionOf(found, callers);
  },
};

type Found = { readonly variable: string; readonly value: string; readonly of: Measurement };

function sectionOf(found: readonly Found[], callers: number): Section {
  const groups = [...Map.groupBy(found, ({ variable, value }) => `${variable}|${value}`).values()];
  const rows = groups.map((group, index) => {
    const [first] = group;
    const isDefault = groups[index - 1]?.[0]?.variable !== first?.variable;
    const { rate, p50, p99, cost } = cellsOf(group.map(({ of }) => of));
    return [first?.variable ?? "", `${first?.value}${isDefault ? " (default)" : ""}`, rate, p50, p99, cost];
  });
  const columns = ["variable", "value", "per second (min - max)", "p50 ms", "p99 ms", "processor ms each"];
  return { comparisons: [], tables: [{ title: `Deposits at ${callers} callers`, columns, rows }] };
}
