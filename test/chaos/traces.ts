import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReceivedSpan } from "../support/trace-collector.ts";
import { waitFor } from "../support/wait-for.ts";
import { deposit, expectDone, newInvestor } from "../journey/support/client-requests.ts";
import type { TestSystem } from "../journey/support/system.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

const SERVER = 2;
const CLIENT = 3;

/** Before other faults, because it looks at all traces of the system. */
export function traces(tested: () => SystemUnderTest): void {
  test("a deposit is one trace, from the HTTP request through the services to the command of the platform, without values of the customer", async () => {
    const { client, collector } = tested();
    const login = await newInvestor(client);

    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const path = `/api/v1/investor/deposit?login=${login}&amount=123.45&comment=in-confidence`;
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

    const { apiKey } = tested().system.info();
    const secrets = [apiKey, "in-confidence", "123.45", "Okafor", "ines@example.com"];
    expect(secrets.filter((text) => collector.received().includes(text))).toEqual([]);
    // Times in nanoseconds may have the digits of a login.
    const shown = JSON.stringify(collector.spans.map(({ name, attributes }) => [name, attributes]));
    expect(shown.includes(login)).toBe(false);
    // Polls of jobs fill no store of traces: the reader of deals has found the two that were made.
    const kinds = new Set(collector.spans.filter(({ parentSpanId }) => parentSpanId === "").map(({ name }) => name));
    const work = /^(?:POST|GET) \/api|^receive |^platform (?:trade|user)\/|^job read deals$/;
    expect([...kinds].filter((name) => !work.test(name))).toEqual([]);
  });

  test("a deposit is one info line in the log of each service that executes it, with its ids, trace, time and outcome", async () => {
    const { client, system } = tested();
    const login = await newInvestor(client);
    const path = `/api/v1/investor/deposit?login=${login}&amount=5.00&comment=in-confidence`;
    const answer = await client.send(path, { method: "POST", headers: { "x-request-id": "logged-deposit" } });
    expect(answer.status, answer.text).toBe(200);

    const operationId = answer.headers.get("x-operation-id");
    const seconds = expect.any(Number) as number;
    const traceId = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    const ids = {
      level: "info",
      request_id: "logged-deposit",
      operation_id: operationId,
      trace_id: traceId,
      duration_ms: seconds,
    };
    const expected = {
      edge: [{ ...ids, msg: "request", method: "POST", route: "/api/v1/investor/deposit", status: 200 }],
      funding: [{ ...ids, msg: "command answered", method: "/pamm.funding.v1.FundingService/Deposit", outcome: "ok" }],
      platform: [
        { ...ids, msg: "command answered", method: "/pamm.platform.v1.PlatformService/Transfer", outcome: "ok" },
      ],
      account: [],
      subscription: [],
      fee: [],
    };
    await waitFor(() => {
      for (const [service, lines] of Object.entries(expected)) {
        expect([service, linesOf(system, service, "logged-deposit")]).toMatchObject([service, lines]);
      }
    });
    const traceIds = new Set(
      Object.keys(expected).flatMap((service) =>
        linesOf(system, service, "logged-deposit").map((line) => line["trace_id"]),
      ),
    );
    expect(traceIds.size).toBe(1);
    const text = Object.keys(expected)
      .map((service) => logOf(system, service))
      .join("");
    expect(text).not.toContain("in-confidence");
    // Jobs poll several times a second, and log nothing of it.
    expect(text).not.toContain("query answered");
  });
}

function logOf(system: TestSystem, service: string): string {
  return readFileSync(join(system.stateDir, "log", `${service}.log`), "utf8");
}

function linesOf(system: TestSystem, service: string, requestId: string): Record<string, unknown>[] {
  return logOf(system, service)
    .split("\n")
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
