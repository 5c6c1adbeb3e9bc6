import { fragment } from "../postgres/query.ts";
import type { RetentionRule } from "../retention/rule.ts";
import { BY_ID, tableRule } from "../retention/table-rule.ts";

/** Breaks that were closed. Those that are open stay, and so do Masters that they have stopped. */
export function closedBreaks(keptMs: number): RetentionRule {
  return tableRule({
    name: "breaks",
    table: "reconciliation_break",
    rows: fragment`reconciliation_break`,
    keptMs,
    key: BY_ID,
    begunAt: fragment`item.opened_at`,
    endedAt: fragment`item.closed_at`,
  });
}
