import { dashboard, dashed, lines, stat, timeline } from "./panels.ts";

export const service = dashboard("service", "PAMM: services", "Requests, latency and the state of the processes.", {
  Now: [
    stat("Services absent", {
      description: "Of the six services, those without a process that Prometheus reaches.",
      query: "6 - (count(group by (service) (pamm_build_info)) or vector(0))",
      unit: "count",
      thresholds: ["green", [1, "red"]],
    }),
    stat("Not reached from the edge", {
      description: "Broker, services and trading platform that no replica of the edge reaches; below is which.",
      query: "sum(1 - max by (dependency) (pamm_dependency_reachable))",
      unit: "count",
      thresholds: ["green", [1, "red"]],
    }),
    stat("Without Postgres", {
      description: "Services of which no process gets an answer from Postgres.",
      query: "sum(1 - max by (job) (pamm_postgres_reachable))",
      unit: "count",
      thresholds: ["green", [1, "red"]],
    }),
    stat("Without the broker", {
      description: "Services with a process that is not connected to NATS.",
      query: "sum(1 - min by (job) (pamm_broker_connected))",
      unit: "count",
      thresholds: ["green", [1, "red"]],
    }),
    stat("Jobs that fail", {
      description:
        "Background jobs whose last run has failed. Red: one has failed more than five times in a row, as in the alert.",
      query: "count(max by (job, name) (pamm_job_failures_in_a_row) > 0) or 0 * count(pamm_build_info)",
      unit: "count",
      thresholds: ["green", [1, "orange"]],
    }),
    stat("Certificates end in", {
      description: "The first end of a certificate of a service. Red: in less than 14 days, as in the alert.",
      query: "min(pamm_tls_certificate_expires_timestamp_seconds > 0) - time()",
      unit: "s",
      decimals: 1,
      thresholds: ["red", [1_209_600, "green"]],
    }),
  ],
  "Objectives over 30 days (docs/operate/service-alerts.md); shown: the last 24 h": [
    ...objectives("read", 0.25),
    ...objectives("money", 2.5),
    ...objectives("create", 5),
  ],
  Requests: [
    lines("Requests", {
      description: "By class of routes. wait: the caller asked to wait; none: probes, documentation, unknown routes.",
      queries: { "{{class}}": "sum by (class) (rate(pamm_http_request_duration_seconds_count[$__rate_interval]))" },
      unit: "reqps",
      isStacked: true,
    }),
    lines("Latency", {
      description: "99 of 100 requests of a class are faster (p99), and one of two (p50, dashed).",
      queries: {
        "{{class}} p99":
          'histogram_quantile(0.99, sum by (class, le) (rate(pamm_http_request_duration_seconds_bucket{class=~"read|money|create"}[$__rate_interval])))',
        "{{class}} p50":
          'histogram_quantile(0.5, sum by (class, le) (rate(pamm_http_request_duration_seconds_bucket{class=~"read|money|create"}[$__rate_interval])))',
      },
      unit: "s",
      looks: { "/p50$/": [dashed(4)], "/^create /": "yellow", "/^money /": "orange", "/^read /": "blue" },
    }),
    lines("Problems", {
      description: "Answers that are no success, by code.",
      queries: { "{{code}}": "60 * sum by (code) (rate(pamm_http_problems_total[$__rate_interval])) > 0" },
      unit: "cpm",
      isStacked: true,
    }),
    lines("Calls between services", {
      description: "By service that answers, all transports.",
      queries: { "{{job}}": "sum by (job) (rate(pamm_request_duration_seconds_count[$__rate_interval]))" },
      unit: "reqps",
      isStacked: true,
    }),
    lines("Latency between services", {
      description: "99 of 100 calls of a service are faster. 10 s stands for 10 s or more.",
      queries: {
        "{{job}}":
          "histogram_quantile(0.99, sum by (job, le) (rate(pamm_request_duration_seconds_bucket[$__rate_interval])))",
      },
      unit: "s",
    }),
    lines("Authentication failures", {
      description: "Requests refused because of their key, by reason.",
      queries: {
        "{{reason}}": "60 * sum by (reason) (rate(pamm_http_authentication_failures_total[$__rate_interval]))",
      },
      unit: "cpm",
      softMax: 1,
    }),
  ],
  Processes: [
    lines("Replicas", {
      description: "Processes that Prometheus reaches, by service and version, upon each other.",
      queries: { "{{service}} {{version}}": "count by (service, version) (pamm_build_info)" },
      unit: "count",
      isStacked: true,
      isStepped: true,
    }),
    lines("Processor", {
      description: "Cores in use by all processes of a service, upon each other.",
      queries: {
        "{{job}}":
          'sum by (job) (rate(process_cpu_seconds_total{job=~"account|edge|fee|funding|platform|subscription"}[$__rate_interval]))',
      },
      unit: "short",
      isStacked: true,
    }),
    lines("Memory", {
      description: "Resident memory of the largest process of each service.",
      queries: {
        "{{job}}":
          'max by (job) (process_resident_memory_bytes{job=~"account|edge|fee|funding|platform|subscription"})',
      },
      unit: "bytes",
    }),
    lines("Delay of the event loop", {
      description:
        "99 of 100 delays are shorter. 0.1 s is the interval of the samples; above 0.2 s (dashed) a process needs more processor time.",
      queries: { "{{job}}": "max by (job) (nodejs_eventloop_lag_p99_seconds)" },
      unit: "s",
      width: 6,
      softMax: 0.25,
      limit: 0.2,
    }),
    lines("Connections of Postgres", {
      description: "Part of a service's connections that is in use; on the right, statements that wait for one.",
      queries: {
        "{{job}}":
          'sum by (job) (pamm_postgres_connections{state="in_use"}) / sum by (job) (pamm_postgres_connections_max)',
        "{{job}} waiting": "sum by (job) (pamm_postgres_waiting) > 0",
      },
      unit: "percentunit",
      softMax: 1,
      looks: {
        "/ waiting$/": [
          { id: "unit", value: "short" },
          { id: "decimals", value: 0 },
          { id: "custom.axisPlacement", value: "right" },
          { id: "custom.axisSoftMax", value: 4 },
          dashed(4),
        ],
      },
    }),
    lines("Jobs that fail", {
      description:
        "Failed runs in a row: of the worst job of each service, and of each job that fails. Alert: more than five, for ten minutes.",
      queries: {
        "{{job}}": "max by (job) (pamm_job_failures_in_a_row)",
        "{{job}}: {{name}}": "max by (job, name) (pamm_job_failures_in_a_row) > 0",
      },
      unit: "count",
      width: 10,
      isStepped: true,
      softMax: 6,
      table: "max",
    }),
    timeline("Reached", {
      description: "What the edge, and each process, reaches: the worst replica. A gap: nothing was scraped.",
      queries: {
        "edge to {{dependency}}": "min by (dependency) (pamm_dependency_reachable)",
        "{{job}} to NATS": "min by (job) (pamm_broker_connected)",
        "{{job}} to Postgres": "min by (job) (pamm_postgres_reachable)",
      },
      unit: "short",
      thresholds: ["red", [1, "green"]],
      values: [
        ["not reached", "red"],
        ["reached", "green"],
      ],
    }),
    timeline("Leases", {
      description:
        "Replicas that hold each lease: one does the work, none does it while it is red. That of retention is taken only when there are rows to remove, and is not shown.",
      queries: { "{{job}} {{lease}}": 'sum by (job, lease) (pamm_lease_held{lease!="retention"})' },
      unit: "short",
      thresholds: ["red", [1, "green"], [2, "orange"]],
      values: [
        ["no replica", "red"],
        ["held", "green"],
      ],
    }),
  ],
  "Events, webhooks and batches": [
    lines("Streams", {
      description: "Part of the size at which a stream rejects signals. Alert: 80 %.",
      queries: { "{{stream}}": "max by (stream) (pamm_stream_bytes) / max by (stream) (pamm_stream_max_bytes)" },
      unit: "percentunit",
      width: 6,
      max: 1,
      limit: 0.8,
    }),
    lines("Events that JetStream does not carry yet", {
      description: "Age of the oldest. Alert: five minutes.",
      queries: { "{{job}}": "max by (job) (pamm_outbox_oldest_unforwarded_seconds)" },
      unit: "s",
      width: 6,
      softMax: 60,
    }),
    lines("Rows in a batch", {
      description: "Rows or calls that were processed together, on average.",
      queries: {
        "{{queue}}":
          "sum by (queue) (rate(pamm_batch_items_sum[$__rate_interval])) / sum by (queue) (rate(pamm_batch_items_count[$__rate_interval]))",
      },
      unit: "short",
      decimals: 1,
      width: 12,
      table: "max",
    }),
    lines("Webhook attempts", {
      description: "Deliveries of events to the endpoints of callers, by result.",
      queries: { "{{result}}": "60 * sum by (result) (rate(pamm_webhook_attempts_total[$__rate_interval]))" },
      unit: "cpm",
      softMax: 1,
      looks: { delivered: "green", failed: "orange", given_up: "red" },
    }),
    lines("Webhooks that are late", {
      description:
        "Oldest event that an endpoint which accepts others has not got (alert: five minutes), and longest time for which an endpoint has accepted none (alert: four hours).",
      queries: {
        "oldest waiting event": "max(pamm_webhook_oldest_waiting_seconds)",
        "endpoint accepts none": "max(pamm_webhook_failing_seconds)",
      },
      unit: "s",
      softMax: 60,
    }),
    lines("Access audit", {
      description: "Entries that could not be written: investigate each.",
      queries: { "not written in an hour": "sum(increase(pamm_audit_dropped_total[1h]))" },
      unit: "count",
      softMax: 4,
      looks: { "not written in an hour": "red" },
    }),
  ],
});

/** Of the requests of a class: the part without 5xx, and the part that was answered within some seconds. */
function objectives(of: string, seconds: number) {
  const requests = (series: string, labels = "") =>
    `sum(rate(pamm_http_request_duration_seconds_${series}{class="${of}"${labels}}[24h]))`;
  const all = `(${requests("count")} > 0)`;
  return [
    objective(`${of}: without 5xx`, 0.999, `1 - (${requests("count", ',status=~"5.."')} or vector(0)) / ${all}`),
    objective(`${of}: within ${seconds} s`, 0.99, `${requests("bucket", `,le="${seconds}"`)} / ${all}`),
  ];
}

function objective(title: string, part: number, query: string) {
  return stat(title, {
    description: `Part of the requests. Objective: ${100 * part} %; red: missed in the last 24 hours.`,
    query,
    unit: "percentunit",
    decimals: 2,
    noValue: "no requests",
    thresholds: ["red", [part, "green"]],
  });
}
