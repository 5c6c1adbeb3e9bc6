import { color, dashboard, dashed, lines, named, permits, stat, UNSTACKED } from "./panels.ts";

export const platform = dashboard(
  "platform",
  "PAMM: trading platform",
  "MetaTrader 5 as the service platform sees it.",
  {
    Now: [
      stat("Trading platform", {
        description: "Whether a replica of the edge learns that the service platform is signed in.",
        query: 'max(pamm_dependency_reachable{dependency="platform"})',
        unit: "short",
        thresholds: ["red", [1, "green"]],
        values: [
          ["away", "red"],
          ["reached", "green"],
        ],
      }),
      permits(),
      stat("Clocks", {
        description:
          "Whether the trading platform's clock agrees with its zone and with the database. Otherwise no deal is read.",
        query: "max(pamm_platform_clock_differs)",
        unit: "short",
        thresholds: ["green", [1, "red"]],
        values: [
          ["agree", "green"],
          ["differ", "red"],
        ],
      }),
      stat("Waiting for a session", {
        description:
          "Requests that wait for a free session, in all replicas. Many for long: more sessions (MT5_SESSIONS), or the trading platform is slow.",
        query: "sum(pamm_platform_session_waiting)",
        unit: "count",
        thresholds: ["green", [1, "orange"], [50, "red"]],
      }),
      stat("Certificate ends in", {
        description: "Of the trading platform. Red: in less than 14 days, as in the alert.",
        query: "min(pamm_platform_certificate_expires_timestamp_seconds > 0) - time()",
        unit: "s",
        decimals: 1,
        thresholds: ["red", [1_209_600, "green"]],
      }),
    ],
    Requests: [
      lines("Without a usable answer", {
        description:
          "Time-outs, lost connections, unreadable answers, HTTP errors. Alert: 5 % of all requests for ten minutes.",
        queries: {
          all: '60 * sum(rate(pamm_platform_calls_total{code=~"timeout|connection_lost|protocol_violation|unreadable|http_.*"}[$__rate_interval])) or 0 * sum(rate(pamm_platform_calls_total[$__rate_interval]))',
          "{{command}} {{code}}":
            '60 * sum by (command, code) (rate(pamm_platform_calls_total{code=~"timeout|connection_lost|protocol_violation|unreadable|http_.*"}[$__rate_interval])) > 0',
        },
        unit: "cpm",
        width: 12,
        softMax: 1,
        table: "max",
        looks: { all: [color("text"), dashed()] },
      }),
      lines("Latency of commands", {
        description:
          "99 of 100 requests are faster; 10 s stands for 10 s or more. Alert: trade/balance above 2 s for 15 minutes.",
        queries: {
          "{{command}}":
            "histogram_quantile(0.99, sum by (command, le) (rate(pamm_platform_call_duration_seconds_bucket[$__rate_interval]))) > 0",
        },
        unit: "s",
        width: 12,
        table: "max",
      }),
      lines("Return codes of balance commands", {
        description:
          "0 is done, 10019 no money; not_permitted: the time to use the permit was over, and nothing was sent.",
        queries: {
          "{{code}}":
            '60 * sum by (code) (rate(pamm_platform_calls_total{command="trade/balance"}[$__rate_interval])) > 0',
        },
        unit: "cpm",
        width: 12,
        isStacked: true,
        looks: { "0": [named("0 done"), color("green")], "10019": [named("10019 no money")] },
      }),
      lines("By command", {
        description: "Requests to the Web API.",
        queries: { "{{command}}": "sum by (command) (rate(pamm_platform_calls_total[$__rate_interval]))" },
        unit: "reqps",
        width: 12,
        isStacked: true,
        table: "last",
      }),
    ],
    "Outcomes and sessions": [
      lines("Oldest unknown outcome", {
        description:
          "Looked for in the history during the quiet period (5 minutes by default), then decided or given to operators.",
        queries: { "{{state}}": "max by (state) (pamm_unknown_outcomes_oldest_seconds)" },
        unit: "s",
        width: 12,
        softMax: 60,
        looks: { SENDING: "blue", UNKNOWN: "red" },
      }),
      lines("Sessions", {
        description: "Signed in, in all replicas, and how many there may be (MT5_SESSIONS of each).",
        queries: {
          "{{state}}": "sum by (state) (pamm_platform_sessions)",
          limit: "sum(pamm_platform_sessions_max)",
          "requests that wait": "sum(pamm_platform_session_waiting)",
        },
        unit: "count",
        width: 12,
        isStacked: true,
        lineWidth: 1,
        fill: 20,
        isStepped: true,
        looks: {
          idle: "green",
          in_use: [named("in use"), color("blue")],
          limit: [color("text"), ...UNSTACKED],
          "requests that wait": [color("red"), ...UNSTACKED],
        },
      }),
      lines("Sessions opened in a minute", {
        description: "Failures: the network, the password, or the certificate.",
        queries: {
          "{{outcome}}": "60 * sum by (outcome) (rate(pamm_platform_sessions_opened_total[$__rate_interval]))",
        },
        unit: "short",
        width: 12,
        softMax: 4,
        looks: { ok: "green", failed: "red" },
      }),
    ],
  },
);
