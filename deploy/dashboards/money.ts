import { dashboard, lines, permits, stat, TOTAL } from "./panels.ts";

export const money = dashboard(
  "money",
  "PAMM: money",
  "What is owed, uncertain or waits for an operator. Amounts are US dollars.",
  {
    "Now: money at risk": [
      stat("At risk in breaks", {
        description:
          "Sum over all checks of the money in open breaks. Not zero: GET /api/v1/ops/breaks. It is as old as the checks: see those that are late.",
        query: "sum(max by (check) (pamm_reconciliation_at_risk_cents)) / 100",
        unit: "dollars",
        thresholds: ["green", [0.01, "red"]],
      }),
      stat("Outcome unknown", {
        description:
          "Money of commands whose answer was lost and whose outcome is being looked for on the trading platform. After 30 seconds it is in breaks too. Red: above what pages.",
        query: 'sum(max by (state) (pamm_unknown_outcomes_cents{state="UNKNOWN"})) / 100',
        unit: "dollars",
        thresholds: ["green", [0.01, "orange"], [100_000, "red"]],
      }),
      stat("In open reviews", {
        description: "Sum of the absolute amounts of the reviews that are not decided.",
        query:
          '(sum(max by (job, reason) (pamm_reviews_amount_cents)) or 0 * count(pamm_build_info{service=~"fee|platform|subscription"})) / 100',
        unit: "dollars",
        thresholds: ["green", [0.01, "orange"]],
      }),
      permits(),
      stat("Checks late or missing", {
        description:
          "Of the 21 checks, those that have not been complete for three of their intervals and a minute, as in the alert, and those that Prometheus does not scrape. Not zero: the money at risk is not known.",
        query:
          "21 - (count(time() - max by (check) (pamm_reconciliation_completed_timestamp_seconds) <= 60 + 3 * max by (check) (pamm_reconciliation_interval_seconds)) or vector(0))",
        unit: "count",
        thresholds: ["green", [1, "red"]],
      }),
      stat("Stopped feeds", {
        description: "Consumers of another service's events that have stopped until an operator acts.",
        query: "sum(max by (job, feed) (pamm_feed_stopped))",
        unit: "count",
        thresholds: ["green", [1, "red"]],
      }),
    ],
    "Now: work for operators": [
      stat("Open breaks", {
        description: "Differences between two records that have to be equal.",
        query: "sum(max by (check) (pamm_reconciliation_open_breaks))",
        unit: "count",
        thresholds: ["green", [1, "red"]],
      }),
      stat("Oldest break", {
        description: "How long the oldest difference has been open.",
        query: "max(pamm_reconciliation_oldest_break_seconds)",
        unit: "s",
        thresholds: ["green", [1, "orange"], [300, "red"]],
      }),
      stat("Reviews open", {
        description: "Decisions that wait for two operators.",
        query:
          'sum(max by (job, reason) (pamm_reviews_open)) or 0 * count(pamm_build_info{service=~"fee|platform|subscription"})',
        unit: "count",
        thresholds: ["green", [1, "orange"], [10, "red"]],
      }),
      stat("Oldest review", {
        description: "How long the oldest decision has waited. Orange: longer than the alert allows.",
        query: 'max(pamm_reviews_oldest_seconds) or 0 * count(pamm_build_info{service=~"fee|platform|subscription"})',
        unit: "s",
        thresholds: ["green", [14_400, "orange"], [86_400, "red"]],
      }),
      stat("Queued commands overdue", {
        description:
          "Longest time for which a queued withdrawal or unassign is open although its Master is flat. Orange: longer than the alert allows.",
        query: "max(pamm_queued_commands_overdue_seconds)",
        unit: "s",
        thresholds: ["green", [900, "orange"]],
      }),
    ],
    "Breaks and reviews": [
      lines("At risk by check", {
        description: "Money in the open breaks of each check that has some (docs/reconciliation.md).",
        queries: {
          "all checks": "sum(max by (check) (pamm_reconciliation_at_risk_cents)) / 100",
          "{{check}}": "(max by (check) (pamm_reconciliation_at_risk_cents) > 0) / 100",
        },
        unit: "dollars",
        width: 12,
        isStacked: true,
        isStepped: true,
        softMax: 1,
        looks: { "all checks": TOTAL },
      }),
      lines("In reviews by reason", {
        description: "Absolute amounts of the open reviews; docs/operate/reviews.md has the decisions.",
        queries: {
          "all reasons":
            '(sum(max by (job, reason) (pamm_reviews_amount_cents)) or 0 * count(pamm_build_info{service=~"fee|platform|subscription"})) / 100',
          "{{reason}}": "(sum by (reason) (max by (job, reason) (pamm_reviews_amount_cents)) > 0) / 100",
        },
        unit: "dollars",
        width: 12,
        isStacked: true,
        isStepped: true,
        softMax: 1,
        looks: { "all reasons": TOTAL },
      }),
      lines("Age of the checks, in intervals", {
        description: "Time since each check was last complete, in intervals of the check. Alert: three.",
        queries: {
          "{{check}}":
            "(time() - max by (check) (pamm_reconciliation_completed_timestamp_seconds)) / max by (check) (pamm_reconciliation_interval_seconds)",
        },
        unit: "short",
        decimals: 1,
        width: 12,
        height: 9,
        softMax: 4,
        limit: 3,
        table: "last",
      }),
      lines("Reviews by reason", {
        description: "Reviews that are not decided.",
        queries: {
          "all reasons":
            'sum(max by (job, reason) (pamm_reviews_open)) or 0 * count(pamm_build_info{service=~"fee|platform|subscription"})',
          "{{reason}}": "sum by (reason) (max by (job, reason) (pamm_reviews_open)) > 0",
        },
        unit: "count",
        width: 12,
        height: 9,
        isStacked: true,
        isStepped: true,
        softMax: 4,
        looks: { "all reasons": TOTAL },
      }),
    ],
    "Commands in progress": [
      lines("Money of unknown outcomes", {
        description: "SENDING: the answer is waited for, which is normal. UNKNOWN: the answer was lost.",
        queries: { "{{state}}": "max by (state) (pamm_unknown_outcomes_cents) / 100" },
        unit: "dollars",
        fill: 10,
        isStepped: true,
        softMax: 1,
        looks: { SENDING: "blue", UNKNOWN: "red" },
      }),
      lines("Unknown outcomes", {
        description: "Legs whose permit is used and whose outcome is not known.",
        queries: { "{{state}}": "max by (state) (pamm_unknown_outcomes)" },
        unit: "count",
        fill: 10,
        isStepped: true,
        softMax: 4,
        looks: { SENDING: "blue", UNKNOWN: "red" },
      }),
      lines("Queued commands", {
        description: "Withdrawals and unassigns that wait until their Master is flat.",
        queries: { "{{command}}": "max by (command) (pamm_queued_commands)" },
        unit: "count",
        fill: 10,
        isStepped: true,
        softMax: 4,
      }),
    ],
    Movements: [
      lines("Money requests", {
        description:
          "Deposits, withdrawals, assigns and unassigns that callers have sent, by status of the answer. 504: the outcome was not known in time.",
        queries: {
          "{{status}}":
            '60 * sum by (status) (rate(pamm_http_request_duration_seconds_count{class="money"}[$__rate_interval])) > 0',
        },
        unit: "cpm",
        isStacked: true,
        looks: { "/^2/": "green", "/^5/": "red" },
      }),
      lines("Events for callers", {
        description: "Deposits, withdrawals, mirrors, fees, exits and others that callers can read, by kind.",
        queries: { "{{kind}}": "60 * sum by (kind) (rate(pamm_events_total[$__rate_interval])) > 0" },
        unit: "cpm",
        isStacked: true,
      }),
      lines("Possible duplicates in an hour", {
        description:
          "Requests that equal one of the same client executed within 24 hours, and what was done with them.",
        queries: {
          "{{action}} {{decision}}": "sum by (action, decision) (increase(pamm_possible_duplicates_total[1h]))",
        },
        unit: "count",
        softMax: 4,
      }),
      lines("Events behind", {
        description: "Entries of another service that are not received yet. Alert: for two minutes.",
        queries: { "{{job}} reads {{feed}}": "max by (job, feed) (pamm_feed_lag_entries)" },
        unit: "count",
        width: 16,
        softMax: 4,
        table: "max",
      }),
    ],
  },
);
