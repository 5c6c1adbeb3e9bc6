import type { Config } from "#kernel/process/config.ts";
import { durationWithin } from "#kernel/process/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { type RetentionRule, BY_ID, byTime, tableRule } from "#kernel/retention/table-rule.ts";
import { FOR_EVER } from "#kernel/retention/settings.ts";
import { removeEvents } from "./events/store/events.ts";
import { addAuditPartitions, dropOldAudit } from "./identity/store/access-audit.ts";

/**
 * Callers may repeat a request for 30 days. The maxima are below the minima of what the services keep, so that a command that is repeated
 * under its key still finds what it has done.
 */
export const EDGE_RETENTION = {
  PAMM_RETAIN_IDEMPOTENCY_KEYS: durationWithin("P30D", "P90D", "P30D"),
  PAMM_RETAIN_AUDIT: durationWithin("P90D", FOR_EVER, "P730D"),
  PAMM_RETAIN_API_EVENTS: durationWithin("P7D", FOR_EVER, "P90D"),
  PAMM_RETAIN_DELIVERIES: durationWithin("P1D", FOR_EVER, "P30D"),
};

/** The outcome of such a command may still be unknown, so its key is kept for longer. */
export const UNANSWERED_DAYS = 180;

export function edgeRules(config: Config<typeof EDGE_RETENTION>): RetentionRule[] {
  const ofWebhooks = {
    keptMs: config.PAMM_RETAIN_DELIVERIES,
    key: BY_ID,
    begunAt: fragment`item.created_at`,
  };
  return [
    tableRule({
      name: "idempotency_keys",
      table: "idempotency_key",
      rows: fragment`idempotency_key`,
      keptMs: config.PAMM_RETAIN_IDEMPOTENCY_KEYS,
      ...byTime(fragment`created_at`),
      // A key that was refused may stand for a later command, so its age counts from its last answer.
      endedAt: fragment`greatest(item.created_at, item.busy_until)`,
      isFinished: fragment`(item.status <> 'IN_PROGRESS'
                            or item.busy_until < clock_timestamp() - ${UNANSWERED_DAYS} * interval '1 day')`,
    }),
    {
      name: "access_audit",
      tables: ["access_audit", "access_audit_rest"],
      keptMs: config.PAMM_RETAIN_AUDIT,
      prepare: addAuditPartitions,
      // Whole partitions: rows of the audit are neither changed nor deleted one by one.
      async removeNext(db, { before }) {
        const isDropped = await dropOldAudit(db, before);
        return { count: isDropped ? 1 : 0, cursor: [], endsPass: !isDropped };
      },
    },
    {
      name: "api_events",
      tables: ["event"],
      keptMs: config.PAMM_RETAIN_API_EVENTS,
      // The oldest first. How far they are removed is noted with them, so that a caller who was away for too long gets a problem.
      async removeNext(db, { before, maxRows }) {
        const count = await removeEvents(db, before, maxRows);
        return { count, cursor: [], endsPass: count < maxRows };
      },
    },
    tableRule({
      ...ofWebhooks,
      name: "webhook_deliveries",
      table: "webhook_delivery",
      rows: fragment`webhook_delivery`,
      endedAt: fragment`item.finished_at`,
    }),
    // Those that were deleted, with all deliveries of them.
    tableRule({
      ...ofWebhooks,
      name: "webhooks",
      table: "webhook",
      rows: fragment`webhook`,
      endedAt: fragment`item.deleted_at`,
    }),
  ];
}
