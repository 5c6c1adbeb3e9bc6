import { simulate } from "../simulate.ts";
import { REGRESSIONS } from "./regressions.ts";

/** Of a regression that says nothing else. */
const DEFAULTS = {
  mode: "liveness",
  quietPeriodMs: 20_000,
  processes: [{ skewMs: 0 }],
  pools: undefined,
  consumers: ["pushed"],
  faultsEndMs: 16_000,
} as const;

/** The first violation of each of these regressions that breaks an invariant with one of so many seeds. */
export async function replayRegressions(titles: readonly string[], seeds: number): Promise<readonly string[]> {
  const violations: string[] = [];
  for (const regression of REGRESSIONS.filter(({ title }) => titles.includes(title))) {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { violation } = await simulate({ ...DEFAULTS, ...regression, seed });
      if (violation === undefined) continue;
      violations.push(`${violation.invariant}: ${violation.message}, in the regression: ${regression.title}`);
      break;
    }
  }
  return violations;
}
