/** A webhook for all events of deposits. */
export const A_WEBHOOK = {
  id: 17,
  url: "https://crm.example.com/pamm/events",
  types: "deposit.*",
  status: "enabled",
  failing_since: null,
  last_error: null,
  deferred_until: null,
  through_event_id: 1024,
  old_secret_until: null,
  created_at: "2026-01-02T03:04:05.678000",
} as const;
