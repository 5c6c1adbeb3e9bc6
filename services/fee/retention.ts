import type { RetentionRule } from "#kernel/retention/table-rule.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules } from "#kernel/retention/settings.ts";

export const FEE_RETENTION = { ...EVENT_RETENTION, ...BREAK_RETENTION };

export function feeRules(
  feeds: readonly string[],
  config: { readonly PAMM_RETAIN_EVENTS: number; readonly PAMM_RETAIN_BREAKS: number },
): RetentionRule[] {
  return [...eventRules(feeds, config), ...breakRules(config)];
}
