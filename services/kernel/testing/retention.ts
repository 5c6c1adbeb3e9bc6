import type { Pool } from "../postgres/pool.ts";
import { applyRule, insertRules, type RetentionLimits } from "../retention/retain.ts";
import type { RetentionRule } from "../retention/table-rule.ts";

/** Several statements for some rows. */
const SMALL: RetentionLimits = { maxRows: 3, maxStatements: 2 };

/** One whole pass of each rule, as the job makes it, in small statements. */
export async function removeOld(pool: Pool, rules: readonly RetentionRule[]): Promise<void> {
  await insertRules(
    pool,
    rules.map(({ name }) => name),
  );
  for (const rule of rules) while (!(await applyRule(pool, rule, { limits: SMALL })));
}
