import { expect, test } from "vitest";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { type Answer, type EdgeAnswers, testEdge, type TestEdge } from "../../../services/edge/testing/test-edge.ts";
import { ROUTES } from "../../../services/edge/api/routes.ts";
import { type Command, COMMANDS } from "./commands.ts";

const OTHER_ID = "0198c0de-0000-7000-8000-000000000009";

type Reply = (request: unknown, context: unknown) => Promise<unknown>;

/** A call that a command makes before its own, to learn which service to send it to. */
const LOOK_UP = "getOperation";

/** The services of a case; each error is the answer to one call of the command, in this order, and later calls succeed. */
function failing({ services }: Command, errors: readonly Error[]): EdgeAnswers {
  const left = [...errors];
  const fail =
    (reply: Reply): Reply =>
    async (request, context) => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return await reply(request, context);
    };
  const answers = Object.entries(services as Readonly<Record<string, Readonly<Record<string, Reply>>>>);
  return Object.fromEntries(
    answers.map(([name, methods]) => [
      name,
      Object.fromEntries(
        Object.entries(methods).map(([method, reply]) => [method, method === LOOK_UP ? reply : fail(reply)]),
      ),
    ]),
  );
}

async function sendWithErrors(one: Command, errors: readonly Error[]): Promise<Answer & Pick<TestEdge, "calls">> {
  const edge = await testEdge(failing(one, errors));
  const { method, url, body } = one;
  const answer = await edge.call({ method, url, ...(body === undefined ? {} : { payload: body }) });
  return { ...answer, calls: edge.calls.filter((call) => call.method !== LOOK_UP) };
}

const LOST = outcomeUnknown("funding");
const UNREACHABLE = serviceUnavailable("funding");
const UNEXPECTED = new Error("an unexpected error");
const NOT_KNOWN_YET = new Refusal({
  code: "outcome_unknown",
  status: "unknown_outcome",
  message: "the platform has not answered",
  outcome: "unknown",
  operationId: OTHER_ID,
});

const NOT_SENT = { status: 503, code: "service_unavailable", outcome: "not_executed", retryable: true };
const UNKNOWN = { status: 504, code: "outcome_unknown", outcome: "unknown", retryable: false };

/** What happened, the errors of the attempts, the problem that the caller receives, and the operation in it. */
const FAILURES: readonly (readonly [what: string, readonly Error[], typeof NOT_SENT, id?: string])[] = [
  ["the service cannot be reached", [UNREACHABLE], NOT_SENT],
  ["its answer and the answer to its repetition are lost", [LOST, LOST], UNKNOWN],
  ["its answer is lost, and then the service cannot be reached", [LOST, UNREACHABLE], UNKNOWN],
  ["the service fails unexpectedly", [UNEXPECTED], UNKNOWN],
  ["the service does not know the outcome yet", [NOT_KNOWN_YET], UNKNOWN, OTHER_ID],
];

test.concurrent.for(COMMANDS)("$operationId says what is known of it, however its service fails", async (one) => {
  const failed = FAILURES.map(async ([what, errors, problem, id]) => {
    const { body, headers, calls } = await sendWithErrors(one, errors);

    expect(body, what).toMatchObject({ ...problem, operation_id: id ?? headers["x-operation-id"] });
    expect(calls.map(({ context }) => context.commandId)).toEqual(errors.map(() => headers["x-operation-id"]));
  });
  await Promise.all(failed);
});

/** The ledger of operations has these; docs/integrate/money.md says so to callers. */
const IN_LEDGER = ["depositFunds", "withdrawFunds", "assignInvestor", "unassignInvestor", "cancelOperation"];

test.for(COMMANDS)("a 504 of $operationId names a way to find out that exists for it", async (one) => {
  const { body } = await sendWithErrors(one, [NOT_KNOWN_YET]);
  const { detail, operation_id: id } = body as { detail: string; operation_id: string };
  const reads = [...detail.replace(id, "{operation_id}").matchAll(/GET (\/api\/v1\/[^\s,.?]+)(?:\?(\w+)=)?/g)];
  const [[, path = "", parameter] = []] = reads;
  const route = ROUTES.find(({ method, url }) => method === "GET" && url.replaceAll(/:(\w+)/g, "{$1}") === path);

  expect(detail).toContain("with the same Idempotency-Key");
  expect(reads).toHaveLength(1);
  expect(route, path).toBeDefined();
  if (parameter !== undefined) expect(Object.keys(route?.query?.properties ?? {})).toContain(parameter);
  expect(path === "/api/v1/operations/{operation_id}").toBe(IN_LEDGER.includes(one.operationId));
});

test.concurrent.for(COMMANDS)(
  "$operationId is repeated under the same id when its answer is lost, and succeeds",
  async (one) => {
    const { status, headers, calls } = await sendWithErrors(one, [LOST]);

    expect(status).toBe(200);
    expect(calls.map(({ context }) => context.commandId)).toEqual(Array(2).fill(headers["x-operation-id"]));
  },
);
