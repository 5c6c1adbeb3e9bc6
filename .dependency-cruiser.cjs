/**
 * The import rules. test/architecture/rules.test.ts compares their patterns with the files.
 *
 * Paths of modules are relative to the root of the repository; `$1` in `to` is the group that matched in `from`.
 */
const A_TEST = "([.]test[.]tsx?$|/test[^/]*/|/test-[^/]+[.]ts$)";
/** From the lowest; the files beside the folders are above them. */
const FLOORS_OF_EDGE = ["wire", "problems", "fields", "identity", "events", "http", "api"];
const A_TRANSPORT = "^(node_modules/)?(nats|@grpc/[^/]+|@nats-io/[^/]+)(/|$)";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Modules do not import each other in a cycle: merge them, or move the shared code to a third module.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "kernel-knows-no-service",
      comment:
        "The kernel is used by all services, so it imports none of them, and no contract but the common messages. What names services is in their catalogue.",
      severity: "error",
      from: { path: "^services/kernel/", pathNot: A_TEST },
      to: { path: ["^services/(?!(kernel|catalogue)/)", "^proto/gen/pamm/(?!common/)", "^deploy/", "^test/"] },
    },
    {
      name: "catalogue-needs-nothing",
      comment: "The catalogue is below all services and the kernel: it needs no more than times and refusals.",
      severity: "error",
      from: { path: "^services/catalogue/", pathNot: A_TEST },
      to: { pathNot: "^services/(catalogue/|kernel/values/(duration|refusal)[.]ts$)" },
    },
    {
      name: "services-meet-only-in-proto",
      comment:
        "A service imports itself, the catalogue, the kernel and the contracts. It calls other services through their contracts.",
      severity: "error",
      from: { path: "^services/(?!kernel/|catalogue/|console/)([^/]+)/" },
      to: { path: "^(services|deploy)/", pathNot: "^services/($1|catalogue|kernel)/" },
    },
    {
      name: "domain-is-pure",
      comment: "Domain rules are pure functions: no clock, no store, no contract, no package, no Node module.",
      severity: "error",
      from: { path: "^services/([^/]+)/domain/", pathNot: A_TEST },
      to: {
        pathNot: [
          "^services/$1/(domain/|refusals[.]ts$)",
          "^services/catalogue/",
          "^services/kernel/values/(base32|money|exact-decimal|rate|refusal|brand|check-character|limits|duration|labels|platform-text)[.]ts$",
        ],
      },
    },
    {
      name: "store-knows-no-transport",
      comment: "A store translates between SQL and domain types; it does not depend on messages, sagas or transports.",
      severity: "error",
      from: { path: "^services/([^/]+)/.*store/", pathNot: A_TEST },
      to: {
        path: [
          "^proto/",
          "^services/kernel/(nats|grpc|contract)/",
          "^services/$1/(commands|processes|messages|queries|events|jobs|routes|service[.]ts|main[.]ts)",
          A_TRANSPORT,
        ],
        pathNot: "/store/",
      },
    },
    {
      name: "queries-know-no-commands",
      comment: "A query only reads. It shares rules, messages and store functions with commands, but imports none.",
      severity: "error",
      from: { path: "^services/([^/]+)/queries/", pathNot: A_TEST },
      to: { path: "^services/$1/(commands|processes|events|jobs)/" },
    },
    {
      name: "commands-know-no-queries",
      comment: "A query is the answer of one rpc. What a command shares with it belongs to a module that both import.",
      severity: "error",
      from: { path: "^services/([^/]+)/commands/", pathNot: A_TEST },
      to: { path: "^services/$1/queries/" },
    },
    {
      name: "processes-know-no-entry",
      comment: "Commands, jobs and consumers run the steps of a saga; a step imports none of them.",
      severity: "error",
      from: { path: "^services/([^/]+)/processes/", pathNot: A_TEST },
      to: { path: "^services/$1/(commands|queries|events|jobs)/" },
    },
    {
      name: "edge-has-no-domain",
      comment: "The edge translates between HTTP and the contracts; the services decide what is allowed.",
      severity: "error",
      from: { path: "^services/edge/" },
      to: { path: "^services/[^/]+/domain/" },
    },
    ...FLOORS_OF_EDGE.map((floor, index) => ({
      name: "edge-has-floors",
      comment:
        "A folder of the edge imports itself and the folders below it: wire, problems, fields, identity, events, http, api. What two floors share belongs to the lower one.",
      severity: "error",
      from: { path: `^services/edge/${floor}/`, pathNot: A_TEST },
      to: { path: `^services/edge/(?!(${FLOORS_OF_EDGE.slice(0, index + 1).join("|")})/)` },
    })),
    {
      name: "edge-serves-no-sample",
      comment: "Exchanges are for the documentation and the tests; the image does not have them.",
      severity: "error",
      from: {
        path: "^services/edge/",
        pathNot: ["[.]exchange[.]ts$", "^services/edge/api/(samples/|documented-routes[.]ts$)", A_TEST],
      },
      to: { path: ["[.]exchange[.]ts$", "^services/edge/api/(samples/|documented-routes[.]ts$)"] },
    },
    {
      name: "store-knows-no-protocol",
      comment: "A store reads and writes rows and does not depend on the protocol, checks or amendments that use them.",
      severity: "error",
      from: { path: "^services/([^/]+)/.*store/", pathNot: A_TEST },
      to: { path: "^services/$1/(protocol|amendments|checks)/" },
    },
    {
      name: "amendments-have-one-entry",
      comment:
        "Other code imports only two modules of the folder: amendments.ts (jobs, checks and decisions) and compare-history.ts (reader of the history).",
      severity: "error",
      from: { path: "^services/platform/(?!amendments/)", pathNot: A_TEST },
      to: { path: "^services/platform/amendments/(?!(amendments|compare-history)[.]ts$)" },
    },
    {
      name: "checks-know-only-sql",
      comment: "A check that uses the checked code repeats its mistakes. It reads rows with its own SQL.",
      severity: "error",
      from: { path: "^services/([^/]+)/checks/", pathNot: A_TEST },
      to: { path: "^services/$1/", pathNot: "^services/$1/(checks/|deps[.]ts$)" },
    },
    {
      name: "nats-and-grpc-stay-in-kernel",
      comment:
        "Only the entry of a process (main.ts, the keys command) sets up transports, and refusals.ts may name status codes.",
      severity: "error",
      from: {
        path: "^services/(?!kernel/)",
        pathNot: ["^services/[^/]+/(main|identity/keys/open-key-system|refusals)[.]ts$", A_TEST],
      },
      to: { path: [A_TRANSPORT, "^services/kernel/(nats|grpc)/"] },
    },
    {
      name: "simulator-stands-alone",
      comment: "The simulator stands in for MetaTrader 5. With code of the services it would repeat their mistakes.",
      severity: "error",
      from: { path: "^services/simulator/" },
      to: { path: "^proto/" },
    },
    {
      name: "client-stands-alone",
      comment:
        "The client is a package for callers: it knows the interface from the generated files, and needs no package and no Node module.",
      severity: "error",
      from: { path: "^services/client/", pathNot: A_TEST },
      to: { pathNot: "^services/client/" },
    },
    {
      name: "console-knows-only-the-client",
      comment:
        "The console runs in a browser. It reaches the services as callers do, by the client, and its only packages are those that draw it. What it has to decide as the services do, it decides by their functions, and what it says of checks and reviews is in their catalogues.",
      severity: "error",
      from: { path: "^services/console/", pathNot: A_TEST },
      to: {
        pathNot: [
          "^services/console/",
          "^services/client/index[.]ts$",
          "^services/kernel/(values/csv|review/owner)[.]ts$",
          "^services/catalogue/(checks|reviews)[.]ts$",
          "^services/edge/wire/scopes[.]ts$",
          "^node_modules/(preact|@preact/signals|uplot)/",
        ],
      },
    },
    {
      name: "production-knows-no-test",
      comment: "Test code is not part of the production build.",
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
      extensions: [".ts", ".tsx", ".js", ".cjs", ".mjs", ".json"],
    },
  },
};
