/** Variables with the prefix of this project that a service reads. A process may have those of others: services can share one environment. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set([
  "PAMM_ADOPT_CHARGES",
  "PAMM_AGENT_COMMISSION",
  "PAMM_API_KEY_PEPPER",
  "PAMM_API_KEY_PEPPER_OLD",
  "PAMM_BOOTSTRAP_API_KEY",
  "PAMM_CHECK_INTERVAL",
  "PAMM_COMMIT",
  "PAMM_CONCURRENT_CREATE",
  "PAMM_CONCURRENT_MONEY",
  "PAMM_CONCURRENT_READ",
  "PAMM_DRAIN_DELAY",
  "PAMM_ENCRYPTION_KEY",
  "PAMM_ENCRYPTION_KEY_OLD",
  "PAMM_ENVIRONMENT",
  "PAMM_FAILPOINTS",
  "PAMM_FEE_ANCHOR",
  "PAMM_FEE_PERIOD",
  "PAMM_HTTP_HOST",
  "PAMM_HTTP_PORT",
  "PAMM_INVESTOR_TRADING",
  "PAMM_MAX_TICK_AGE",
  "PAMM_METRICS_HOST",
  "PAMM_METRICS_PORT",
  "PAMM_MIGRATE",
  "PAMM_QUIET_PERIOD",
  "PAMM_RATE_CREATE",
  "PAMM_RATE_MONEY",
  "PAMM_RATE_READ",
  "PAMM_REHEARSAL",
  "PAMM_RESULT_ACTIONS",
  "PAMM_RESULT_COMMENTS",
  "PAMM_RETAIN_API_EVENTS",
  "PAMM_RETAIN_ATTEMPTS",
  "PAMM_RETAIN_AUDIT",
  "PAMM_RETAIN_BREAKS",
  "PAMM_RETAIN_DELIVERIES",
  "PAMM_RETAIN_EVENTS",
  "PAMM_RETAIN_IDEMPOTENCY_KEYS",
  "PAMM_RETAIN_OPERATIONS",
  "PAMM_RETAIN_TRANSFERS",
  "PAMM_RETAIN_UPDATES",
  "PAMM_REVIEW_AFTER",
  "PAMM_SERVE_PAGES",
  "PAMM_SINGLE_SUBSCRIPTION",
  "PAMM_TLS_CA_FILE",
  "PAMM_TLS_CERT_FILE",
  "PAMM_TLS_KEY_FILE",
  "PAMM_TRUSTED_PROXIES",
  "PAMM_VALUATION_INTERVAL",
  "PAMM_WEBHOOK_KEY",
  "PAMM_WEBHOOK_KEY_OLD",
]);

const PREFIX = "PAMM_";

/** Variables that no service reads: a misspelt name would leave a default in place. */
export function findUnknown(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== "")
    .filter((name) => !VARIABLE_NAMES.has(name) && !VARIABLE_NAMES.has(name.replace(/_FILE$/, "")))
    .toSorted();
}
