import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { itemsOf, isObject, type JsonObject, parseExact, textOf } from "../../../deploy/demo/exact-json.ts";
import { DAY_MS } from "#kernel/duration.ts";
import type { Client } from "../support/client.ts";
import { deposit, expectDone, newInvestor } from "../support/client-requests.ts";
import { newestEvent } from "../support/follow-events.ts";
import type { RunningSystem } from "../support/system.ts";

const BYTE_ORDER_MARK = "\u{feff}";

/** What an HTTP client would hide: bytes, and a sending side that is closed after them. */
export function rawRequests(system: () => RunningSystem, client: () => Client): void {
  const send = async (request: string, body = ""): Promise<{ status: string; text: string; body: JsonObject }> => {
    const { url, apiKey } = system().info();
    const { hostname, port } = new URL(url);
    const bytes = Buffer.from(body);
    const headers = [
      `host: ${hostname}`,
      `authorization: Bearer ${apiKey}`,
      `content-length: ${bytes.length}`,
      "connection: close",
    ];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.end(Buffer.concat([Buffer.from(`${[request, ...headers].join("\r\n")}\r\n\r\n`), bytes]));
    const answer = await text(socket);
    const [head = "", content = ""] = answer.split("\r\n\r\n");
    const json = parseExact(content);
    return { status: head.split("\r\n")[0] ?? "", text: answer, body: isObject(json) ? json : {} };
  };

  test("a caller that closes its sending side gets the answer of its deposit, which keeps its label after a byte order mark", async () => {
    const login = await newInvestor(client());
    const label = `dep-${login}`;
    const path = `POST /api/v1/investor/deposit?login=${login}&amount=100 HTTP/1.1`;

    const torn = await send(path, `${BYTE_ORDER_MARK}{"external_id":"${label}`);
    expect([torn.status, torn.body]).toMatchObject(["HTTP/1.1 400 Bad Request", { code: "malformed_json" }]);
    const done = await send(path, `${BYTE_ORDER_MARK}{"external_id":"${label}"}`);
    expect(done.status, done.text).toBe("HTTP/1.1 200 OK");

    const { body } = await client().get(`/api/v1/operations?external_id=${label}`);
    const operations = itemsOf(body["items"]);
    expect(operations.map((one) => [one["outcome"], one["deal_id"]])).toEqual([["executed", done.body["deal_id"]]]);
    expect((await client().get(`/api/v1/operations?login=${login}`)).body["items"]).toHaveLength(1);
  });

  test("a caller that closes its sending side gets the event that it waits for, and a whole file", async () => {
    const login = await newInvestor(client(), "25");
    const after = await newestEvent(client());
    const waiting = send(`GET /api/v1/events?after=${after}&types=deposit.executed&wait=30 HTTP/1.1`);
    await expectDone(deposit(client(), login, "75", "second"));
    const { body, text: all } = await waiting;
    expect(
      itemsOf(body["items"]).map((event) => textOf(event, "type")),
      all,
    ).toContain("deposit.executed");

    const [from, to] = [-DAY_MS, DAY_MS].map((ms) => new Date(Date.now() + ms).toISOString());
    const period = `from=${from}&to=${to}`;
    const file = await send(`GET /api/v1/info/investor/${login}/statement?${period}&format=csv HTTP/1.1`);
    expect(file.status, file.text).toBe("HTTP/1.1 200 OK");
    expect(file.text).toMatch(/,closing_balance,,100,USD,.*\r\n\r\n0\r\n\r\n$/);
  });

  test("an expectation that is not known is refused with a problem", async () => {
    const { status, body } = await send("GET /api/v1/master/directory?engine=PAMM HTTP/1.1\r\nexpect: something");
    expect([status, body]).toMatchObject(["HTTP/1.1 417 Expectation Failed", { code: "expectation_failed" }]);
  });
}
