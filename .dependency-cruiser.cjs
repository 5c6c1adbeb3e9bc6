/**
 * The import rules. test/architecture/rules.test.ts plants a violation of each.
 *
 * Paths of modules are relative to the root of the repository; `$1` in `to` is the group that matched in `from`.
 */
const A_TEST = "([.]test[.]ts$|/test[^/]*/|/test-[^/]+[.]ts$)";
const A_TRANSPORT = "^(node_modules/)?(nats|@grpc/[^/]+|@nats-io/[^/]+)(/|$)";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Two modules that need each other are one module, or one of them holds something of a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "kernel-knows-no-service",
      comment: "The kernel serves any service, so it knows none, nor any contract but the common messages.",
      severity: "error",
      from: { path: "^services/kernel/", pathNot: A_TEST },
      to: { path: ["^services/(?!kernel/)", "^proto/gen/pamm/(?!common/)", "^deploy/", "^test/"] },
    },
    {
      name: "services-meet-only-in-proto",
      comment: "A service may import itself, the kernel and the contracts. Everything else it asks over the wire.",
      severity: "error",
      from: { path: "^services/(?!kernel/)([^/]+)/" },
      to: { path: "^(services|deploy)/", pathNot: "^services/($1|kernel)/" },
    },
    {
      name: "domain-is-pure",
      comment: "Rules are functions of their arguments: no clock, no store, no contract, no package, nothing of Node.",
      severity: "error",
      from: { path: "^services/([^/]+)/domain/", pathNot: A_TEST },
      to: { pathNot: ["^services/$1/(domain/|refusals[.]ts$)", "^services/kernel/(money|rate|refusal|brand)[.]ts$"] },
    },
    {
      name: "store-knows-no-transport",
      comment: "SQL in, domain types out: a store that knows a message or a saga cannot serve another one.",
      severity: "error",
      from: { path: "^services/([^/]+)/store/", pathNot: A_TEST },
      to: {
        path: [
          "^proto/",
          "^services/kernel/(nats|grpc|contract)/",
          "^services/$1/(commands|processes|messages|queries|events|jobs|routes|service[.]ts|main[.]ts)",
          A_TRANSPORT,
        ],
      },
    },
    {
      name: "queries-know-no-commands",
      comment: "A query only reads: what it shares with a command is a rule, a message or a store function.",
      severity: "error",
      from: { path: "^services/([^/]+)/queries/", pathNot: A_TEST },
      to: { path: "^services/$1/(commands|processes|events|jobs)/" },
    },
    {
      name: "processes-know-no-entry",
      comment: "Commands, jobs and consumers run the steps of a process; a step knows none of them.",
      severity: "error",
      from: { path: "^services/([^/]+)/processes/", pathNot: A_TEST },
      to: { path: "^services/$1/(commands|queries|events|jobs)/" },
    },
    {
      name: "edge-has-no-domain",
      comment: "The edge translates between HTTP and the contracts; what is allowed is decided behind them.",
      severity: "error",
      from: { path: "^services/edge/" },
      to: { path: "^services/[^/]+/domain/" },
    },
    {
      name: "store-knows-no-protocol",
      comment: "A store reads and writes rows for any protocol, check or review; what a row means to them is theirs.",
      severity: "error",
      from: { path: "^services/([^/]+)/store/", pathNot: A_TEST },
      to: { path: "^services/$1/(protocol|amendments|checks)/" },
    },
    {
      name: "amendments-have-one-entry",
      comment:
        "What becomes of amended deals is one room: jobs and decisions enter it by one file, the reader of the history by another.",
      severity: "error",
      from: { path: "^services/platform/(?!amendments/)", pathNot: A_TEST },
      to: { path: "^services/platform/amendments/(?!(amendments|compare-history)[.]ts$)" },
    },
    {
      name: "checks-know-only-sql",
      comment:
        "A check that uses the code that it checks repeats its mistakes: it reads rows, and asks what it is given.",
      severity: "error",
      from: { path: "^services/([^/]+)/checks/", pathNot: A_TEST },
      to: { path: "^services/$1/", pathNot: "^services/$1/(checks/|deps[.]ts$)" },
    },
    {
      name: "nats-and-grpc-stay-in-kernel",
      comment:
        "Transports are invisible. Only the entry of a process sets them up (main.ts, and the keys command), and refusals.ts may name status codes.",
      severity: "error",
      from: { path: "^services/(?!kernel/)", pathNot: ["^services/[^/]+/(main|keys|refusals)[.]ts$", A_TEST] },
      to: { path: [A_TRANSPORT, "^services/kernel/(nats|grpc)/"] },
    },
    {
      name: "simulator-stands-alone",
      comment: "A stand-in for another company's server knows nothing of ours, or it would agree with our mistakes.",
      severity: "error",
      from: { path: "^services/simulator/" },
      to: { path: "^proto/" },
    },
    {
      name: "production-knows-no-test",
      comment: "What only tests have is not there in production.",
      severity: "error",
      from: { path: "^(services|deploy)/", pathNot: A_TEST },
      to: { path: ["^test/", A_TEST] },
    },
    {
      name: "every-import-resolves",
      comment: "An import that the checker cannot follow is not checked by any rule.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^proto/gen/"] },
    exclude: { path: "^proto/gen/google/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["node", "import", "types", "default"],
      extensions: [".ts", ".js", ".cjs", ".mjs", ".json"],
    },
  },
};
