import { expect, test, vi } from "vitest";
import { type ReceivedSpan, traceCollector } from "../support/trace-collector.ts";
import { waitFor } from "../support/wait-for.ts";
import { deposit, expectDone, newInvestor } from "./support/client-requests.ts";
import { clientOf } from "./support/client.ts";
import { startTestSystem } from "./support/system.ts";

vi.setConfig({ testTimeout: 240_000 });

const SERVER = 2;
const CLIENT = 3;

test("a deposit is one trace, from the HTTP request through the services to the command of the platform, without values of the customer", async () => {
  await using collector = await traceCollector();
  await using system = await startTestSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const client = clientOf(system);
  const login = await newInvestor(client);

  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const path = `/api/v1/investor/deposit?login=${login}&amount=123.45&comment=told-in-confidence`;
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, "x-request-id": "deposit-of-the-test" };
  const answer = await client.send(path, { method: "POST", headers });
  expect(answer.status, answer.text).toBe(200);

  const spans = (): readonly ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  const named = (service: string, kind: number, name: RegExp): ReceivedSpan | undefined =>
    spans().find((span) => span.service === service && span.kind === kind && name.test(span.name));
  const chain = (): (ReceivedSpan | undefined)[] => [
    named("edge", SERVER, /^POST \/api\/v1\/investor\/deposit$/),
    named("edge", CLIENT, /FundingService\/Deposit$/),
    named("funding", SERVER, /FundingService\/Deposit$/),
    named("funding", CLIENT, /PlatformService\/Transfer$/),
    named("platform", SERVER, /PlatformService\/Transfer$/),
    named("platform", CLIENT, /^platform trade\/balance$/),
  ];
  await waitFor(() => expect(chain().map((span) => span?.name)).not.toContain(undefined), { timeout: 15_000 });

  const links = chain();
  expect(links[0]?.parentSpanId).toBe("00f067aa0ba902b7");
  for (const [index, span] of links.entries()) {
    if (index > 0) expect(span?.parentSpanId, span?.name).toBe(links[index - 1]?.spanId);
    expect(span?.hasFailed).toBe(false);
  }
  const [http, , funding, , , command] = links;
  const operationId = answer.headers.get("x-operation-id");
  expect(http?.attributes).toMatchObject({
    "http.route": "/api/v1/investor/deposit",
    "http.response.status_code": 200,
    "pamm.request_id": "deposit-of-the-test",
    "pamm.operation_id": operationId,
  });
  expect(funding?.attributes).toMatchObject({ "pamm.operation_id": operationId, "pamm.outcome": "ok" });
  expect(command?.attributes).toMatchObject({ "pamm.platform.command": "trade/balance", "pamm.platform.code": "0" });
  expect(spans().filter(({ name }) => name === "platform trade/balance")).toHaveLength(1);

  // A second one without a traceparent is a trace of its own.
  await expectDone(deposit(client, login, "1.00", "second"));
  await waitFor(
    () => {
      const roots = collector.spans.filter(
        ({ name, parentSpanId }) => name.endsWith("/deposit") && parentSpanId === "",
      );
      expect(roots).toHaveLength(1);
    },
    { timeout: 15_000 },
  );

  const { apiKey } = system.info();
  const secrets = [apiKey, "told-in-confidence", "123.45", "Okafor", "ines@example.com"];
  expect(secrets.filter((text) => collector.received().includes(text))).toEqual([]);
  // Times in nanoseconds may have the digits of a login.
  const shown = JSON.stringify(collector.spans.map(({ name, attributes }) => [name, attributes]));
  expect(shown.includes(login)).toBe(false);
  // Polls of jobs fill no store of traces.
  const kinds = new Set(collector.spans.filter(({ parentSpanId }) => parentSpanId === "").map(({ name }) => name));
  expect([...kinds].filter((name) => !/^(?:POST|GET) \/api|^receive |^platform (?:trade|user)\//.test(name))).toEqual(
    [],
  );
});
