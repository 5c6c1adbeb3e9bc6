import { expect, test } from "vitest";
import type { Contract } from "#kernel/contract/contract.ts";
import { SERVED } from "#test/support/contracts.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { requestOf, type WholeExchange } from "../../../services/edge/api/exchange.ts";
import { isCommand } from "../../../services/edge/http/route.ts";
import { testEdge } from "../../../services/edge/testing/test-edge.ts";

const ALL = DOCUMENTED_ROUTES.flatMap((route) => route.exchanges.map((exchange) => ({ route, exchange })));

/** Everything that the documentation shows is sent to the real edge, whose answer has to be what the documentation shows. */
test.for(ALL)("the documented exchange is true: $route.operationId, $exchange.name", async ({ route, exchange }) => {
  const { method, url, body } = requestOf(route, exchange);
  const edge = await testEdge(exchange.services);

  const answer = await edge.call({ method, url, ...(body === undefined ? {} : { payload: body }) });

  expect([answer.status, answer.body]).toEqual([exchange.status ?? 200, exchange.answer]);
  expect(answer.text, "numbers in their shortest form").toBe(JSON.stringify(answer.body));
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.headers["x-ignored-fields"]).toBeUndefined();
  expect(answer.headers["x-operation-id"] !== undefined).toBe(isCommand(route));
  const asked = edge.calls.map((call) => ({ method: call.method, request: call.request }));
  if (exchange.asked !== undefined) expect(asked).toEqual(exchange.asked);
  for (const call of asked) expect(overTheWire(exchange, call), call.method).toEqual(call.request);
});

const CONTRACTS: Readonly<Record<string, Contract>> = {
  accounts: SERVED.account.contract,
  fees: SERVED.fee.contract,
  funding: SERVED.funding.contract,
  platform: SERVED.platform.contract,
  subscriptions: SERVED.subscription.contract,
};

/** As the service reads it: without members that its contract does not have. */
function overTheWire({ services }: WholeExchange, { method, request }: { method: string; request: unknown }): unknown {
  const [name = ""] = Object.entries(services).find(([, methods]) => Object.hasOwn(methods, method)) ?? [];
  const contract = CONTRACTS[name]?.[method];
  return contract === undefined ? request : contract.requestDeserialize(contract.requestSerialize(request as never));
}

test("the exchanges of one operation have different names, and the first one says what the services are asked", () => {
  for (const { operationId, exchanges } of DOCUMENTED_ROUTES) {
    const names = exchanges.map(({ name }) => name);
    expect([operationId, names]).toEqual([operationId, [...new Set(names)]]);
    expect(exchanges[0].asked, operationId).toBeDefined();
  }
});
