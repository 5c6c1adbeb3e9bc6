import { formatMinor } from "#kernel/money.ts";
import type { Deps } from "../../deps.ts";
import { sumOf } from "../../domain/pool/rounding.ts";
import { listUnexplained, sumElsewhere, type Unexplained } from "../../store/lost-results.ts";
import { keepCases, type WantedCase } from "./keep-cases.ts";

/** Prefix of the subjects of cases about results of a lost time that no posting explains, before the login of the Master. */
export const LOST_RESULTS = "lost_results:";

/**
 * What postings to Investors in the pools do not explain is what was posted to Investors who are in none by the books: it settles the flows of their
 * repeated assigns. When the amounts differ, operators decide. Whether nothing is left to decide.
 */
export async function reviewLostResults(deps: Deps): Promise<boolean> {
  let wanted: readonly WantedCase[] = [];
  await keepCases(deps, LOST_RESULTS, async () => {
    const unexplained = await listUnexplained(deps.pool);
    const elsewhere = await sumElsewhere(deps.pool);
    const isExplained = elsewhere !== 0n && sumOf(unexplained.map(({ amount }) => amount)) === elsewhere;
    wanted = isExplained ? [] : unexplained.map((each) => wantedCase(each, elsewhere));
    return wanted;
  });
  return wanted.length === 0;
}

function wantedCase({ login, amount }: Unexplained, elsewhere: bigint): WantedCase {
  const evidence = { unexplained: formatMinor(amount), posted_outside_pools: formatMinor(elsewhere) };
  return {
    newCase: {
      subject: LOST_RESULTS + login,
      reason: "lost_results",
      login,
      amount,
      evidence,
      actions: ["acknowledge"],
    },
    isSame: (reviewCase) => reviewCase.amount === amount,
  };
}
